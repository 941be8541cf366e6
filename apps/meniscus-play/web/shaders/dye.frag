// Dye goes along with the flow (backwards in time, by the midpoint rule), fades, and fades fast under bodies.
uniform sampler2D dye;
uniform sampler2D flow;
uniform sampler2D solid;
uniform vec2 size;
uniform float dt;
uniform float fade;
in vec2 at;
out vec4 moved;

vec2 velocity(vec2 x) {
  return texture(flow, x).xy / size;
}

void main() {
  vec2 half_way = at - 0.5 * dt * velocity(at);
  vec2 from = at - dt * velocity(half_way);
  float outside = smoothstep(-0.004, 0.002, texture(solid, at).r);
  moved = max(texture(dye, from) * fade * mix(exp(-6.0 * dt), 1.0, outside), 0.0);
}
