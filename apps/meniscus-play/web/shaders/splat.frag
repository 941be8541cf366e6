// Dye along a line.
uniform vec2 size;
uniform vec4 line; // from, to, in m
uniform float radius;
uniform vec4 colour;
in vec2 at;
out vec4 added;

void main() {
  vec2 x = at * size, along = line.zw - line.xy;
  float part = clamp(dot(x - line.xy, along) / max(dot(along, along), 1e-9), 0.0, 1.0);
  float off = length(x - line.xy - part * along) / radius;
  added = colour * exp(-off * off);
}
