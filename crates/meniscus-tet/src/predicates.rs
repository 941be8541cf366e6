//! Exact signs of volumes (Shewchuk 1997): the one judge of whether a tet is turned over.

use robust::{Coord3D, orient3d};

/// Whether `det(b - a, c - a, d - a) > 0`, exactly.
pub fn is_positive([a, b, c, d]: [[f64; 3]; 4]) -> bool {
    let coord = |[x, y, z]: [f64; 3]| Coord3D { x, y, z };
    orient3d(coord(a), coord(c), coord(b), coord(d)) > 0.0
}

#[cfg(test)]
mod tests {
    use super::*;

    const UNIT: [[f64; 3]; 4] = [[0.0, 0.0, 0.0], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]];

    #[test]
    fn the_sign_is_that_of_the_determinant() {
        let [a, b, c, d] = UNIT;
        assert!(is_positive([a, b, c, d]));
        assert!(!is_positive([b, a, c, d]));
    }

    #[test]
    fn the_sign_is_right_where_floating_point_fails() {
        let tilted = |x: f64, y: f64| [x, y, x + y];
        let above = tilted(0.3, 0.9)[2];
        let apex = |z: f64| [tilted(0.1, 0.1), tilted(0.7, 0.1), tilted(0.1, 0.8), [0.3, 0.9, z]];
        assert!(is_positive(apex(above.next_up().next_up())));
        assert!(!is_positive(apex(above.next_down().next_down())));
    }
}
