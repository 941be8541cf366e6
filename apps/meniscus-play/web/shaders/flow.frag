// Second half: velocity (m/s), stream function and vorticity at each place.
uniform sampler2D sums;
uniform vec2 size;
uniform vec2 waves;
uniform float columns;
out vec4 flow;

const float PI = 3.14159265358979;

void main() {
  ivec2 pixel = ivec2(gl_FragCoord.xy);
  float angle = PI * (float(pixel.x) + 0.5) / columns;
  vec2 one = vec2(cos(angle), sin(angle)), wave = vec2(1.0, 0.0);
  flow = vec4(0.0);
  int most = int(waves.x);
  for (int k = 0; k < most; k++) {
    wave = vec2(wave.x * one.x - wave.y * one.y, wave.y * one.x + wave.x * one.y);
    float a = PI * float(k + 1) / size.x;
    vec3 of = texelFetch(sums, ivec2(k, pixel.y), 0).xyz;
    flow += vec4(wave.y * of.y, -a * wave.x * of.x, wave.y * of.x, wave.y * of.z);
  }
}
