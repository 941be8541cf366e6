// Bodies: lanterns, mines, things that were dropped, and rock.
uniform sampler2DArray shapes;
uniform float time;
uniform float pixel; // in m
in vec2 local;
in vec2 world;
flat in vec4 body; // layer, kind, density, age in s
flat in float reach;
out vec4 picture; // times its opacity

const float MARGIN = 2.2; // of the square, in layers
const float SOLID = 0.0, BODY = 1.0, FLOAT = 2.0, MINE = 3.0;

float shape(vec2 x) {
  return texture(shapes, vec3(0.5 + 0.5 * clamp(x / reach, -0.98, 0.98), body.x)).r;
}

float noise(vec2 p) {
  return fract(sin(dot(floor(p), vec2(127.1, 311.7))) * 43758.5453);
}

float smooth_noise(vec2 p) {
  vec2 f = fract(p);
  f = f * f * (3.0 - 2.0 * f);
  return mix(mix(noise(p), noise(p + vec2(1, 0)), f.x), mix(noise(p + vec2(0, 1)), noise(p + vec2(1, 1)), f.x), f.y);
}

// The outward normal of a rounded body in the frame of the world, lit from above left.
float light_on(vec2 x, float depth, float round_) {
  vec2 e = vec2(0.04 * reach, 0.0);
  vec2 out_ = vec2(shape(x + e.xy) - shape(x - e.xy), shape(x + e.yx) - shape(x - e.yx));
  float steep = 1.0 - clamp(depth / round_, 0.0, 1.0);
  vec2 turned = normalize(out_ + 1e-6);
  // Back into the frame of the world.
  vec2 dx = vec2(dFdx(local.x), dFdx(local.y)), dy = vec2(dFdy(local.x), dFdy(local.y));
  vec2 normal = normalize(vec2(dot(turned, dx), dot(turned, dy)) + 1e-9);
  return steep * steep * dot(normal, normalize(vec2(-0.5, 0.85)));
}

// Halos end before the square does that they are drawn in.
float within() {
  return smoothstep(MARGIN, 0.8, length(local) / reach);
}

vec4 lantern(float d, float size) {
  float inside = smoothstep(pixel, -pixel, d);
  float depth = clamp(-d / size, 0.0, 1.0);
  float flicker = 0.94 + 0.06 * sin(7.0 * time + 3.0 * body.x) * sin(4.3 * time);
  vec3 paper = mix(vec3(0.86, 0.30, 0.07), vec3(1.0, 0.66, 0.22), smoothstep(0.0, 0.55, depth));
  paper = mix(paper, vec3(1.0, 0.95, 0.78), smoothstep(0.25, 0.95, depth) * flicker);
  float ribs = 0.5 + 0.5 * cos(local.y / size * 14.0);
  paper *= 0.88 + 0.12 * smoothstep(0.15, 0.5, ribs);
  float cap = smoothstep(0.80, 0.86, abs(local.y) / size);
  paper = mix(paper, vec3(0.30, 0.10, 0.05), cap * 0.85);
  paper += 0.22 * light_on(local, -d, size);
  float halo = 0.55 * exp(-max(d, 0.0) / (0.55 * size)) * flicker * (1.0 - inside) * within();
  return vec4(paper * inside + vec3(1.0, 0.55, 0.18) * halo, inside);
}

vec4 mine(float size) {
  float far = length(local) / size, angle = atan(local.y, local.x);
  float spikes = pow(0.5 + 0.5 * cos(9.0 * angle), 7.0);
  float edge = 0.90 + 0.36 * spikes;
  float inside = smoothstep(pixel / size, -pixel / size, far - edge);
  float pulse = 0.5 + 0.5 * sin(3.4 * time + body.x);
  vec3 shell = mix(vec3(0.16, 0.05, 0.09), vec3(0.05, 0.015, 0.04), smoothstep(0.2, 0.9, far));
  shell += 0.55 * vec3(0.9, 0.35, 0.38) * max(0.0, light_on(local, size * (1.0 - far), size));
  shell += vec3(0.9, 0.10, 0.16) * smoothstep(edge - 0.13, edge, far) * 0.75;
  float eye = smoothstep(0.36, 0.22, far);
  shell = mix(shell, mix(vec3(0.75, 0.05, 0.10), vec3(1.0, 0.42, 0.34), pulse), eye);
  shell += vec3(1.0, 0.7, 0.6) * smoothstep(0.14, 0.04, length(local / size - vec2(-0.08, 0.09))) * eye;
  float halo = (0.16 + 0.20 * pulse) * exp(-max(far - 0.9, 0.0) * 2.6) * (1.0 - inside) * within();
  return vec4(shell * inside + vec3(1.0, 0.10, 0.16) * halo, inside);
}

vec4 thing(float d, float size) {
  float inside = smoothstep(pixel, -pixel, d);
  float heavy = log2(max(body.z, 1.0) / 1000.0);
  vec3 cork = vec3(0.85, 0.62, 0.36), jade = vec3(0.25, 0.72, 0.58), steel = vec3(0.42, 0.47, 0.60);
  vec3 colour = heavy < 0.0 ? mix(jade, cork, clamp(-heavy / 1.5, 0.0, 1.0)) : mix(jade, steel, clamp(heavy / 1.2, 0.0, 1.0));
  float grain = smooth_noise(local / size * 7.0 + body.x * 11.0);
  colour *= 0.86 + 0.22 * grain;
  float round_ = 0.30 * size;
  colour *= 0.62 + 0.38 * smoothstep(0.0, round_, -d);
  float lit = light_on(local, -d, round_);
  colour += lit * (lit > 0.0 ? 0.55 : 0.25) * vec3(0.9, 1.0, 0.98);
  // A stripe shows how it turns.
  float stripe = smoothstep(0.10 * size + pixel, 0.10 * size - pixel, abs(local.x)) * step(0.0, local.y) * smoothstep(0.0, 0.2 * size, -d);
  colour = mix(colour, vec3(0.98, 0.99, 0.95), 0.45 * stripe);
  return vec4(colour * inside, inside);
}

vec4 rock(float d) {
  float inside = smoothstep(pixel, -pixel, d);
  float grain = 0.6 * smooth_noise(world * 38.0) + 0.4 * smooth_noise(world * 95.0);
  vec3 colour = mix(vec3(0.060, 0.105, 0.125), vec3(0.115, 0.175, 0.19), grain);
  float lit = light_on(local, -d, 0.022);
  colour += lit * (lit > 0.0 ? vec3(0.30, 0.55, 0.55) : vec3(0.06));
  colour += vec3(0.10, 0.42, 0.40) * smoothstep(0.006, 0.0, -d) * 0.7;
  return vec4(colour * inside, inside);
}

void main() {
  float d = shape(local);
  vec2 beyond = max(abs(local) - 0.97 * reach, 0.0);
  d += length(beyond);
  float size = reach / 1.35;
  if (body.y == FLOAT) picture = lantern(d, size);
  else if (body.y == MINE) picture = mine(size);
  else if (body.y == SOLID) picture = rock(d);
  else picture = thing(d, size);
  // What has just come fades in.
  picture *= smoothstep(0.0, 0.35, body.w);
}
