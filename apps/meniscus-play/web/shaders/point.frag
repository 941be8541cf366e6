in vec3 light;
out vec4 added;

void main() {
  vec2 off = 2.0 * gl_PointCoord - 1.0;
  added = vec4(light * max(0.0, 1.0 - 0.6 * dot(off, off)), 0.0);
}
