// Particles go along with the flow, are pushed out of bodies, and begin anew elsewhere after a while.
uniform sampler2D flow;
uniform sampler2D solid;
uniform vec2 size;
uniform float dt;
uniform float time;
in vec4 particle; // x, y in m, age in s, a number of its own
out vec4 after;

float random(vec2 seed) {
  return fract(sin(dot(seed, vec2(12.9898, 78.233))) * 43758.5453);
}

float outside(vec2 x) {
  return texture(solid, x / size).r;
}

void main() {
  vec2 x = particle.xy;
  vec2 half_way = x + 0.5 * dt * texture(flow, x / size).xy;
  x += dt * texture(flow, half_way / size).xy;
  for (int k = 0; k < 2; k++) {
    float depth = outside(x);
    if (depth < 0.0) {
      vec2 e = vec2(0.006, 0.0);
      vec2 away = vec2(outside(x + e.xy) - outside(x - e.xy), outside(x + e.yx) - outside(x - e.yx));
      float steep = length(away);
      if (steep > 1e-6) x += (0.001 + 0.012 * particle.w - depth) * away / steep;
    }
  }
  float age = particle.z + dt;
  float life = 5.0 + 9.0 * particle.w;
  bool is_stuck = outside(x) < -0.002;
  if (age > life || is_stuck) {
    x = size * vec2(random(vec2(time, particle.w)), random(vec2(particle.w * 3.7, time + 1.0)));
    age = 0.0;
    // Not into a body.
    if (outside(x) < 0.0) x = size * vec2(random(vec2(time + 2.0, particle.w)), random(vec2(particle.w, time + 3.0)));
  }
  after = vec4(clamp(x, vec2(0.001), size - 0.001), age, particle.w);
}
