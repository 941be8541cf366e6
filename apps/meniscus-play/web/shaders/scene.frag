// The water as a picture without anything in it: depth, light from above, and dye. It is smooth, and drawn at the size of the dye.
uniform sampler2D dye;
uniform sampler2D flow;
uniform sampler2D solid;
uniform vec2 size;
uniform float time;
in vec2 at;
out vec4 picture;

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

void main() {
  vec3 colour = water(at * size, texture(flow, at));
  vec2 e = 1.5 / vec2(textureSize(dye, 0));
  vec3 ink = texture(dye, at).rgb;
  // Light from above left on the dye, as if it had a height.
  vec3 right = texture(dye, at + vec2(e.x, 0.0)).rgb - texture(dye, at - vec2(e.x, 0.0)).rgb;
  vec3 up = texture(dye, at + vec2(0.0, e.y)).rgb - texture(dye, at - vec2(0.0, e.y)).rgb;
  float lit = clamp(dot(0.6 * right - 0.8 * up, vec3(0.73)), -0.35, 0.6);
  float thick = dot(ink, vec3(0.33));
  colour = colour * exp(-0.35 * thick) + ink * (0.85 + lit) + vec3(0.9, 1.0, 0.95) * max(0.0, lit) * min(thick, 1.0) * 0.3;
  // Shade around bodies.
  colour *= 1.0 - 0.45 * exp(-max(texture(solid, at).r, 0.0) / 0.012);
  picture = vec4(colour, 1.0);
}
