// How far outside of the nearest body a place is, in m: targets keep the least.
uniform sampler2DArray shapes;
in vec2 local;
in vec2 world;
flat in vec4 body;
flat in float reach;
out vec4 distance_;

void main() {
  distance_ = vec4(texture(shapes, vec3(0.5 + 0.5 * local / reach, body.x)).r);
}
