uniform sampler2D flow;
uniform sampler2D dye;
uniform vec2 size;
uniform float pixels; // the size of a point
uniform float strength;
in vec4 particle;
out vec3 light;

void main() {
  vec2 at = particle.xy / size;
  float speed = length(texture(flow, at).xy);
  float fast = 1.0 - exp(-4.0 * speed);
  vec3 tint = texture(dye, at).rgb;
  vec3 cold = mix(vec3(0.10, 0.32, 0.36), vec3(0.55, 1.0, 0.92), fast);
  vec3 colour = mix(cold, vec3(1.0, 0.93, 0.74), smoothstep(0.35, 1.1, speed)) + 0.8 * tint;
  float born = smoothstep(0.0, 0.8, particle.z);
  light = colour * strength * born * (0.14 + 1.6 * fast) * (0.5 + particle.w);
  gl_Position = vec4(2.0 * at - 1.0, 0.0, 1.0);
  gl_PointSize = pixels;
}
