// The picture of the water: depth, light from above, dye, what particles left, the ring, and waves of light where something happened.
uniform sampler2D dye;
uniform sampler2D trails;
uniform sampler2D flow;
uniform sampler2D solid;
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

// A web of light: where waves of different directions meet.
float web(vec2 p, float t) {
  vec2 q = p;
  float sum = 0.0;
  for (int k = 0; k < 3; k++) {
    float f = float(k);
    q = p + 0.55 * vec2(sin(1.7 * q.y + t * (0.31 + 0.07 * f) + f), cos(1.5 * q.x - t * 0.27 + 2.0 * f));
    sum += 1.0 / (0.22 + abs(sin(2.3 * q.x + f) + cos(2.1 * q.y - f)));
  }
  return pow(sum / 3.0, 1.6);
}

vec3 water(vec2 x, vec4 here) {
  float height = x.y / size.y;
  vec3 low = vec3(0.006, 0.030, 0.062), middle = vec3(0.010, 0.085, 0.125), high = vec3(0.030, 0.205, 0.235);
  vec3 colour = mix(low, middle, smoothstep(0.0, 0.6, height));
  colour = mix(colour, high, smoothstep(0.45, 1.1, height));
  // The flow bends the light, and turning water has a colour of its own.
  vec2 bent = x + 0.05 * here.xy;
  float light = web(bent * 5.2, time);
  colour += vec3(0.05, 0.15, 0.16) * min(light, 4.0) * 0.10 * mix(0.35, 1.5, height * height);
  float shafts = 0.5 + 0.5 * sin(bent.x * 7.0 + 1.8 * height + 0.5 * sin(time * 0.23)) * sin(bent.x * 17.0 - time * 0.11 + 2.0 * height);
  colour += vec3(0.03, 0.10, 0.10) * shafts * smoothstep(0.25, 1.0, height) * 0.55;
  float turning = here.w / (3.0 + abs(here.w));
  colour += turning > 0.0 ? turning * vec3(0.050, 0.012, 0.085) : -turning * vec3(0.000, 0.055, 0.070);
  return colour;
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
  float halo = exp(-2.6 * max(0.0, far - 1.0)) * 0.16 * (0.7 + 0.5 * pulse) * smoothstep(0.2, 1.0, far);
  vec3 gold = vec3(1.0, 0.76, 0.36), aqua = vec3(0.32, 0.95, 0.86);
  // How much of it is gold tells how much is home.
  float done = step(fract(angle / 6.2831853 + 0.75), ring.w);
  vec3 colour = mix(aqua, gold, done);
  return colour * (edge * dashes * (0.8 + 0.5 * pulse) + 0.6 * inner + halo) + swirl * aqua * 0.5;
}

void main() {
  vec2 x = at * size;
  vec4 here = texture(flow, at);
  vec3 colour = water(x, here);
  vec2 e = 1.5 / vec2(textureSize(dye, 0));
  vec3 ink = texture(dye, at).rgb;
  // Light from above left on the dye, as if it had a height.
  float thick = dot(ink, vec3(0.33));
  vec2 slope = vec2(
    dot(texture(dye, at + vec2(e.x, 0.0)).rgb - texture(dye, at - vec2(e.x, 0.0)).rgb, vec3(0.33)),
    dot(texture(dye, at + vec2(0.0, e.y)).rgb - texture(dye, at - vec2(0.0, e.y)).rgb, vec3(0.33)));
  float lit = clamp(dot(slope, vec2(0.6, -0.8)) * 2.2, -0.35, 0.6);
  colour = colour * exp(-0.35 * thick) + ink * (0.75 + lit) + vec3(0.9, 1.0, 0.95) * max(0.0, lit) * min(thick, 1.0) * 0.25;
  colour += texture(trails, at).rgb;
  // Shade around bodies.
  float outside = texture(solid, at).r;
  colour *= 1.0 - 0.45 * exp(-max(outside, 0.0) / 0.012);
  if (ring.z > 0.0) colour += portal(x);
  for (int k = 0; k < 4; k++) {
    vec4 flash = flashes[k];
    if (flash.w == 0.0 || flash.z > 1.6) continue;
    float away = length(x - flash.xy);
    float wave = exp(-pow((away - 0.55 * flash.z) / (0.02 + 0.03 * flash.z), 2.0)) * exp(-2.6 * flash.z);
    float core = exp(-pow(away / 0.16, 2.0)) * exp(-5.0 * flash.z);
    colour += (flash.w > 0.0 ? vec3(1.0, 0.82, 0.48) : vec3(1.0, 0.22, 0.26)) * (wave + 1.6 * core);
    colour = flash.w > 0.0 ? colour : mix(colour, vec3(0.35, 0.0, 0.03), 0.35 * exp(-4.0 * flash.z));
  }
  colour = 1.0 - exp(-1.25 * colour);
  vec2 corner = (at - 0.5) * vec2(1.0, 0.92);
  colour *= 1.0 - 0.85 * smoothstep(0.28, 0.86, length(corner));
  colour = pow(colour, vec3(0.86));
  // Less than a step of brightness, so that slow changes have no bands.
  colour += (hash(gl_FragCoord.xy) - 0.5) / 255.0;
  picture = vec4(colour, 1.0);
}
