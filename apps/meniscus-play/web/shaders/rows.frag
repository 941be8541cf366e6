// First half of the sum over waves: for each number of half waves along x (a column here) and each height the sums over those along y.
uniform sampler2D coefficients; // vorticity, column l along y, row k along x
uniform vec2 size;
uniform vec2 waves;
uniform float rows;
out vec4 sums; // of stream function, of its slope along y, of vorticity

const float PI = 3.14159265358979;

void main() {
  ivec2 pixel = ivec2(gl_FragCoord.xy);
  float a = PI * float(pixel.x + 1) / size.x;
  float angle = PI * (float(pixel.y) + 0.5) / rows;
  vec2 one = vec2(cos(angle), sin(angle)), wave = vec2(1.0, 0.0);
  vec3 sum = vec3(0.0);
  int most = int(waves.y);
  for (int l = 0; l < most; l++) {
    wave = vec2(wave.x * one.x - wave.y * one.y, wave.y * one.x + wave.x * one.y);
    float b = PI * float(l + 1) / size.y;
    float w = texelFetch(coefficients, ivec2(l, pixel.x), 0).r;
    float stream = w / (a * a + b * b);
    sum += vec3(stream * wave.y, stream * b * wave.x, w * wave.y);
  }
  sums = vec4(sum, 0.0);
}
