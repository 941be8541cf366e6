// What particles leave behind fades.
uniform sampler2D trails;
uniform float keep;
in vec2 at;
out vec4 left;

void main() {
  left = max(texture(trails, at) * keep - 0.0006, 0.0);
}
