// The picture: the water, what particles left, the ring, and waves of light where something happened.
uniform sampler2D scene;
uniform sampler2D trails;
uniform vec2 size;
uniform float time;
uniform vec4 ring; // centre, radius, what is home of what is needed
uniform vec4 flashes[4]; // place, age in s, 1 home or -1 lost
in vec2 at;
out vec4 picture;

float hash(vec2 p) {
  p = fract(p * vec2(123.34, 456.21));
  p += dot(p, p + 45.32);
  return fract(p.x * p.y);
}

vec3 portal(vec2 x) {
  vec2 off = x - ring.xy;
  float far = length(off) / ring.z;
  float angle = atan(off.y, off.x);
  float pulse = 0.5 + 0.5 * sin(2.2 * time);
  float edge = exp(-pow((far - 1.0) * 11.0, 2.0));
  float dashes = 0.55 + 0.45 * smoothstep(-0.2, 0.5, sin(9.0 * angle - 1.1 * time));
  float inner = exp(-pow((far - 0.80 - 0.03 * pulse) * 22.0, 2.0)) * smoothstep(0.1, 0.6, sin(5.0 * angle + 0.8 * time));
  float swirl = smoothstep(1.0, 0.0, far) * (0.5 + 0.5 * sin(3.0 * angle + 9.0 * far - 1.6 * time)) * 0.22;
  float halo = exp(-2.6 * max(0.0, far - 1.0)) * smoothstep(2.6, 1.6, far) * 0.16 * (0.7 + 0.5 * pulse) * smoothstep(0.2, 1.0, far);
  vec3 gold = vec3(1.0, 0.76, 0.36), aqua = vec3(0.32, 0.95, 0.86);
  // How much of it is gold tells how much is home.
  float done = step(fract(0.25 - angle / 6.2831853), ring.w);
  vec3 colour = mix(aqua, gold, done);
  return colour * (edge * dashes * (0.8 + 0.5 * pulse) + 0.6 * inner) + (halo + 0.5 * swirl) * aqua;
}

vec3 flashed(vec3 colour, vec2 x) {
  for (int k = 0; k < 4; k++) {
    vec4 flash = flashes[k];
    if (flash.w == 0.0) continue;
    float away = length(x - flash.xy);
    float wave = exp(-pow((away - 0.55 * flash.z) / (0.02 + 0.03 * flash.z), 2.0)) * exp(-2.6 * flash.z);
    float core = exp(-pow(away / 0.16, 2.0)) * exp(-5.0 * flash.z);
    colour += (flash.w > 0.0 ? vec3(1.0, 0.82, 0.48) : vec3(1.0, 0.22, 0.26)) * (wave + 1.6 * core);
    if (flash.w < 0.0) colour = mix(colour, vec3(0.35, 0.0, 0.03), 0.35 * exp(-4.0 * flash.z));
  }
  return colour;
}

void main() {
  vec2 x = at * size;
  vec3 colour = texture(scene, at).rgb + texture(trails, at).rgb;
  if (ring.z > 0.0 && distance(x, ring.xy) < 2.6 * ring.z) colour += portal(x);
  if (flashes[0].w != 0.0) colour = flashed(colour, x);
  // Bright light saturates.
  colour *= 1.22 / (0.62 + colour);
  vec2 corner = (at - 0.5) * vec2(1.0, 0.92);
  colour *= 1.0 - 0.85 * smoothstep(0.28, 0.86, length(corner));
  // Less than a step of brightness, so that slow changes have no bands.
  colour += (hash(gl_FragCoord.xy) - 0.5) / 255.0;
  picture = vec4(colour, 1.0);
}
