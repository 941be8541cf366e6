// A square around each body.
uniform vec2 size;
uniform float margin; // how much larger than its layer it is
in vec4 pose; // centre, angle, half a side of its layer
in vec4 look; // layer, kind, density, age
out vec2 local; // in the frame of the body, in m
out vec2 world;
flat out vec4 body; // layer, kind, density, age
flat out float reach;

void main() {
  vec2 corner = vec2(gl_VertexID & 1, gl_VertexID >> 1) * 2.0 - 1.0;
  local = corner * pose.w * margin;
  float c = cos(pose.z), s = sin(pose.z);
  world = pose.xy + vec2(c * local.x - s * local.y, s * local.x + c * local.y);
  body = look;
  reach = pose.w;
  gl_Position = vec4(2.0 * world / size - 1.0, 0.0, 1.0);
}
