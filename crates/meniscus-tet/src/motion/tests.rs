use super::*;
use crate::complex::NoValues;
use crate::complex::test_meshes::kuhn;
use crate::quality::{quality, volume};

/// Numbers between -1 and 1 (xorshift).
pub(crate) struct Noise(pub u64);

impl Noise {
    pub fn next(&mut self) -> f64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 11) as f64 / (1_u64 << 52) as f64 - 1.0
    }

    pub fn vector(&mut self) -> [f64; 3] {
        std::array::from_fn(|_| self.next())
    }
}

fn shaken(cells: usize, share: f64, seed: u64) -> (Complex, Container) {
    let mut complex = kuhn([cells; 3], |_| 0);
    let container = Container::box_between([0.0; 3], [cells as f64; 3]);
    let mut noise = Noise(seed);
    let mut ways: Vec<[f64; 3]> =
        (0..complex.vertex_slots()).map(|_| noise.vector().map(|c| share * c)).collect();
    let params = MotionParams { passes: 0, ..MotionParams::default() };
    advance(&mut complex, &container, &mut NoValues, &mut ways, &params);
    (complex, container)
}

fn total_volume(complex: &Complex) -> f64 {
    complex.tets().map(|t| volume(complex.points(t))).sum()
}

fn worst(complex: &Complex) -> f64 {
    complex.tets().map(|t| quality(complex.points(t))).fold(1.0, f64::min)
}

#[test]
fn random_moves_one_by_one_turn_nothing_over() {
    let (complex, _) = shaken(8, 0.4, 7);
    complex.check().unwrap();
    assert!((total_volume(&complex) / 512.0 - 1.0).abs() < 1e-12);
}

#[test]
fn a_shaken_mesh_is_repaired() {
    let (mut complex, container) = shaken(8, 0.4, 88_172_645_463_325_252);
    let before = complex.tets().filter(|&t| quality(complex.points(t)) < 0.3).count();
    let mut nothing = NoValues;
    let mut editor = Editor::new(&mut complex, &container, &mut nothing);
    editor.improve(0.3, 10);
    let books = editor.books;
    complex.check().unwrap();
    let after = complex.tets().filter(|&t| quality(complex.points(t)) < 0.3).count();
    assert!(before > 400 && after == 0, "{before} bad of 3072, then {after}, {books:?}");
    assert!((total_volume(&complex) / 512.0 - 1.0).abs() < 1e-12);
    assert!(worst(&complex) > 0.2);
}

#[test]
fn everything_arrives_where_it_is_asked_to() {
    let mut complex = kuhn([6, 6, 6], |x| u8::from(x[0] > 3.0));
    let container = Container::box_between([0.0; 3], [6.0; 3]);
    // A vortex in the box: vertices inside go around by up to a cell and a half, those on walls slide.
    for _ in 0..20 {
        let mut ways: Vec<[f64; 3]> = complex
            .positions()
            .iter()
            .map(|&[x, y, _]| {
                let (s, t) = (x * std::f64::consts::PI / 6.0, y * std::f64::consts::PI / 6.0);
                [0.5 * s.sin() * t.cos(), -0.5 * s.cos() * t.sin(), 0.0]
            })
            .collect();
        let report = advance(&mut complex, &container, &mut NoValues, &mut ways, &MotionParams::default());
        assert_eq!(report.stuck, 0);
        complex.check().unwrap();
    }
    assert!((total_volume(&complex) / 216.0 - 1.0).abs() < 1e-12);
}

/// Rounds of random moves of all vertices and of repairs.
fn shake(
    complex: &mut Complex,
    container: &Container,
    velocities: &mut Vec<[f64; 3]>,
    noise: &mut Noise,
    rounds: usize,
) {
    for _ in 0..rounds {
        let mut ways: Vec<[f64; 3]> =
            (0..complex.vertex_slots()).map(|_| noise.vector().map(|c| 0.3 * c)).collect();
        advance(
            complex,
            container,
            velocities,
            &mut ways,
            &MotionParams { passes: 2, ..MotionParams::default() },
        );
        Editor::new(complex, container, velocities).improve(0.3, 2);
        complex.check().unwrap();
    }
}

#[test]
fn rounds_of_random_moves_and_repairs_turn_nothing_over() {
    let mut complex = kuhn([3, 3, 3], |x| if x[0] > 1.5 { 2 } else { u8::from(x[1] > 1.5) });
    let container = Container::box_between([0.0; 3], [3.0; 3]);
    let mut velocities = vec![[0.0; 3]; complex.vertex_slots()];
    shake(&mut complex, &container, &mut velocities, &mut Noise(99), 60);
    assert!((total_volume(&complex) / 27.0 - 1.0).abs() < 1e-12);
}

#[test]
#[ignore = "takes a minute: ./check --long"]
fn long_a_thousand_rounds_of_random_moves_and_repairs_turn_nothing_over() {
    let mut complex = kuhn([4, 4, 4], |x| if x[0] > 2.0 { 2 } else { u8::from(x[1] > 2.0) });
    let container = Container::box_between([0.0; 3], [4.0; 3]);
    let mut velocities = vec![[0.0; 3]; complex.vertex_slots()];
    shake(&mut complex, &container, &mut velocities, &mut Noise(7), 1000);
    assert!((total_volume(&complex) / 64.0 - 1.0).abs() < 1e-12);
}

#[test]
fn a_complex_that_was_stored_goes_on_as_it_would_have() {
    let mut complex = kuhn([3, 3, 3], |x| u8::from(x[2] > 1.5));
    let container = Container::box_between([0.0; 3], [3.0; 3]);
    let mut velocities = complex.positions().to_vec();
    shake(&mut complex, &container, &mut velocities, &mut Noise(5), 5);
    let stored = postcard::to_stdvec(&complex).unwrap();
    let mut resumed: Complex = postcard::from_bytes(&stored).unwrap();
    assert!(resumed == complex);
    let mut resumed_velocities = velocities.clone();
    shake(&mut complex, &container, &mut velocities, &mut Noise(6), 5);
    shake(&mut resumed, &container, &mut resumed_velocities, &mut Noise(6), 5);
    assert!(resumed == complex);
    assert!(resumed_velocities == velocities);
}
