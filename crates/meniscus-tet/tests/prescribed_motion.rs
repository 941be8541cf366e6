//! Shapes in prescribed flows: what motion, repair and sizing do to volumes and surfaces (TET-VALIDATION B).
#![allow(clippy::print_stdout, reason = "the figures are for whoever runs the tests by hand")]

use std::f64::consts::PI;
use std::time::Instant;

use meniscus_core::shape::Shape;
use meniscus_core::vector::{add_scaled, cross, norm, sub};
use meniscus_tet::complex::{Complex, NoValues, Sheet, StarStrata, Stratum};
use meniscus_tet::container::Container;
use meniscus_tet::motion::{MotionParams, advance};
use meniscus_tet::quality::{quality, volume};
use meniscus_tet::repair::{Books, Editor};
use meniscus_tet::seed::seed_box;
use meniscus_tet::sizing::Sizing;

/// A mesh that flows.
struct Run {
    complex: Complex,
    container: Container,
    sizing: Sizing,
    books: Books,
    stuck: usize,
    spent: [f64; 3],
}

impl Run {
    fn new(lower: [f64; 3], upper: [f64; 3], liquids: &[Shape<3>], sizing: Sizing) -> Self {
        let (complex, container) = seed_box(lower, upper, liquids, &sizing).unwrap();
        Self { complex, container, sizing, books: Books::default(), stuck: 0, spent: [0.0; 3] }
    }

    /// A step along the flow's paths, then repairs.
    fn step(&mut self, path: impl Fn([f64; 3]) -> [f64; 3]) {
        let start = Instant::now();
        let mut ways: Vec<[f64; 3]> = self.complex.positions().iter().map(|&x| sub(path(x), x)).collect();
        let params = MotionParams::default();
        let report = advance(&mut self.complex, &self.container, &mut NoValues, &mut ways, &params);
        self.stuck += report.stuck;
        self.books.add(&report.books);
        self.spent[0] += start.elapsed().as_secs_f64();
        let mut nothing = NoValues;
        let mut editor = Editor::new(&mut self.complex, &self.container, &mut nothing);
        let start = Instant::now();
        editor.resize(&self.sizing);
        self.spent[1] += start.elapsed().as_secs_f64();
        let start = Instant::now();
        editor.improve(0.3, 3);
        self.spent[2] += start.elapsed().as_secs_f64();
        self.books.add(&editor.books);
    }

    fn volume(&self, label: u8) -> f64 {
        let tets = self.complex.tets().filter(|&t| self.complex.label(t) == label);
        tets.map(|t| volume(self.complex.points(t))).sum()
    }

    /// The faces of interfaces.
    fn faces(&self) -> Vec<[[f64; 3]; 3]> {
        let mut faces = Vec::new();
        for tet in self.complex.tets() {
            for corner in 0..4 {
                if matches!(self.complex.sheet(tet, corner), Some(Sheet::Interface(l, _)) if l == self.complex.label(tet))
                {
                    faces.push(self.complex.face(tet, corner).map(|v| self.complex.position(v)));
                }
            }
        }
        faces
    }

    fn area(&self) -> f64 {
        self.faces().iter().map(|&f| area(f)).sum()
    }

    /// The volume between interfaces and a surface, roughly: distances of the faces' corners times their
    /// areas.
    fn distance_to(&self, shape: &Shape<3>) -> f64 {
        let part = |f: &[[f64; 3]; 3]| {
            area(*f) / 3.0 * f.iter().map(|&x| shape.signed_distance(x).abs()).sum::<f64>()
        };
        self.faces().iter().map(part).sum()
    }

    fn worst(&self) -> f64 {
        self.complex.tets().map(|t| quality(self.complex.points(t))).fold(1.0, f64::min)
    }

    fn bad(&self) -> usize {
        self.complex.tets().filter(|&t| quality(self.complex.points(t)) < 0.2).count()
    }

    fn tell(&self, what: &str) {
        println!(
            "{what}: {} tets, {} vertices, worst {:.4}, {} below .2, stuck {}, {:?}, s {:.1?}",
            self.complex.tet_count(),
            self.complex.vertex_count(),
            self.worst(),
            self.bad(),
            self.stuck,
            self.books,
            self.spent
        );
    }
}

fn area([a, b, c]: [[f64; 3]; 3]) -> f64 {
    0.5 * norm(cross(sub(b, a), sub(c, a)))
}

/// The end of a path after a time (Runge-Kutta of fourth order).
fn path(x: [f64; 3], time: f64, step: f64, flow: impl Fn([f64; 3], f64) -> [f64; 3]) -> [f64; 3] {
    let k1 = flow(x, time);
    let k2 = flow(add_scaled(x, 0.5 * step, k1), time + 0.5 * step);
    let k3 = flow(add_scaled(x, 0.5 * step, k2), time + 0.5 * step);
    let k4 = flow(add_scaled(x, step, k3), time + step);
    std::array::from_fn(|i| x[i] + step / 6.0 * (k1[i] + 2.0 * k2[i] + 2.0 * k3[i] + k4[i]))
}

/// One up to `from`, zero beyond `to`, smooth between; and its slope.
fn plateau(x: f64, from: f64, to: f64) -> (f64, f64) {
    let t = ((x.abs() - from) / (to - from)).clamp(0.0, 1.0);
    let value = 1.0 - t * t * t * (10.0 - 15.0 * t + 6.0 * t * t);
    let slope = -30.0 * t * t * (1.0 - t) * (1.0 - t) / (to - from);
    (value, slope * x.signum())
}

/// Rotation about the vertical axis, rigid near it and at rest far away, by an angle.
fn rotated([x, y, z]: [f64; 3], angle: f64) -> [f64; 3] {
    let (sin, cos) = (angle * plateau(x.hypot(y), 0.6, 0.95).0).sin_cos();
    [cos * x - sin * y, sin * x + cos * y, z]
}

#[test]
fn a_ball_that_is_rotated_rigidly_keeps_volume_and_area() {
    let ball = Shape::sphere([0.25, 0.0, 0.0], 0.2).unwrap();
    let sizing = Sizing { surface: 0.07, interior: 0.4, growth: 1.4 };
    let mut run = Run::new([-1.0, -1.0, -0.5], [1.0, 1.0, 0.5], &[ball], sizing);
    for _ in 0..3 {
        run.step(|x| x);
    }
    let (volume, area) = (run.volume(1), run.area());
    for _ in 0..100 {
        run.step(|x| rotated(x, 2.0 * PI / 100.0));
    }
    run.tell("rotation");
    run.complex.check().unwrap();
    println!("volume {:.3e}, area {:.3e}", run.volume(1) / volume - 1.0, run.area() / area - 1.0);
    assert_eq!(run.stuck, 0);
    assert!((run.volume(1) / volume - 1.0).abs() < 1e-12);
    assert!((run.area() / area - 1.0).abs() < 1e-10);
}

/// Shear `u = (y, 0, 0)` around the middle, at rest at the sides: the curl of a stream function.
fn shear([x, y, _]: [f64; 3]) -> [f64; 3] {
    let (c, c_slope) = plateau(x, 0.85, 1.4);
    let (w, w_slope) = plateau(y, 0.25, 0.8);
    [(y * w + 0.5 * y * y * w_slope) * c, -0.5 * y * y * w * c_slope, 0.0]
}

/// What became of shapes that were sheared and sheared back.
struct Sheared {
    run: Run,
    /// The largest change of a label's volume.
    volume_change: f64,
}

fn shear_and_back(edges_a_radius: f64, liquids: &[Shape<3>], steps: usize) -> Sheared {
    let surface = 0.2 / edges_a_radius;
    let sizing = Sizing { surface, interior: 16.0 * surface, growth: 1.4 };
    let mut run = Run::new([-1.4, -0.8, -0.5], [1.4, 0.8, 0.5], liquids, sizing);
    let labels = 1..=liquids.len() as u8;
    let volumes: Vec<f64> = labels.clone().map(|l| run.volume(l)).collect();
    for sign in [1.0, -1.0] {
        for _ in 0..steps {
            run.step(|x| path(x, 0.0, sign * 3.0 / steps as f64, |x, _| shear(x)));
        }
        run.tell("shear");
    }
    run.complex.check().unwrap();
    assert_eq!(run.stuck, 0);
    let changes = labels.zip(volumes).map(|(label, volume)| (run.volume(label) - volume).abs());
    let volume_change = changes.fold(0.0, f64::max);
    println!("volumes changed by {volume_change:.3e}, {:.3e} is booked", run.books.volume_moved);
    assert!(volume_change <= run.books.volume_moved + 1e-12);
    Sheared { run, volume_change }
}

fn shear_a_ball(edges_a_radius: f64, steps: usize) {
    let ball = Shape::sphere([0.0; 3], 0.2).unwrap();
    let Sheared { run, volume_change } = shear_and_back(edges_a_radius, std::slice::from_ref(&ball), steps);
    let difference = run.distance_to(&ball) / run.volume(1);
    println!("difference {difference:.3e}");
    assert!(volume_change < 1e-3 * run.volume(1));
    assert!(difference < 0.05);
}

#[test]
fn a_ball_that_is_sheared_and_sheared_back() {
    shear_a_ball(3.5, 16);
}

#[test]
#[ignore = "takes minutes: ./check --long"]
fn long_a_ball_of_10_edges_a_radius_that_is_sheared_and_sheared_back() {
    shear_a_ball(10.0, 60);
}

fn shear_a_triple_line(edges_a_radius: f64, steps: usize) -> Sheared {
    let ball = Shape::sphere([0.0; 3], 0.2).unwrap();
    let behind = Shape::half_space([0.0; 3], [0.0, 0.6, 0.8]).unwrap();
    let half = Shape::intersection(vec![ball.clone(), behind]).unwrap();
    let sheared = shear_and_back(edges_a_radius, &[half, ball], steps);
    let complex = &sheared.run.complex;
    let strata: Vec<_> = complex.vertices().map(|v| (v, complex.strata(v))).collect();
    let points = strata.iter().filter(|(_, s)| s.vertex() == Stratum::Point).count();
    assert_eq!(points, 8, "only the corners of the box are points");
    let on_line = |s: &StarStrata| s.vertex() == Stratum::Line && s.is_on_interface();
    let line: Vec<u32> = strata.iter().filter(|(_, s)| on_line(s)).map(|s| s.0).collect();
    let mut reached = vec![line[0]];
    let mut next = 0;
    while next < reached.len() {
        for v in complex.strata(reached[next]).line_neighbours() {
            if !reached.contains(&v) {
                reached.push(v);
            }
        }
        next += 1;
    }
    assert_eq!(reached.len(), line.len(), "one line");
    sheared
}

#[test]
fn a_triple_line_is_sheared_and_stays_one() {
    shear_a_triple_line(3.5, 16);
}

#[test]
#[ignore = "takes minutes: ./check --long"]
fn long_a_triple_line_of_6_edges_a_radius_is_sheared_and_keeps_volumes() {
    let sheared = shear_a_triple_line(6.0, 40);
    assert!(sheared.volume_change < 1e-6 * sheared.run.volume(1));
}

fn deformation([x, y, z]: [f64; 3], time: f64) -> [f64; 3] {
    let [a, b, c] = [x, y, z].map(|s| (PI * s).sin().powi(2));
    let [p, q, r] = [x, y, z].map(|s| (2.0 * PI * s).sin());
    let turn = (PI * time / 3.0).cos();
    [2.0 * a * q * r * turn, -p * b * r * turn, -p * q * c * turn]
}

/// What became of a ball that was deformed and came back.
struct Deformed {
    volume_change: f64,
    /// The mean distance of the interface from the sphere, in edges.
    distance: f64,
}

fn deform(edges_a_radius: f64, steps: usize) -> Deformed {
    let ball = Shape::sphere([0.35; 3], 0.15).unwrap();
    let surface = 0.15 / edges_a_radius;
    let sizing = Sizing { surface, interior: 16.0 * surface, growth: 1.4 };
    let mut run = Run::new([0.0; 3], [1.0; 3], std::slice::from_ref(&ball), sizing);
    let volume = run.volume(1);
    let step = 3.0 / steps as f64;
    for k in 0..steps {
        run.step(|x| path(x, k as f64 * step, step, deformation));
        if (k + 1) % (steps / 4) == 0 {
            run.tell("deformation");
            println!("volume {:.3e}, area {:.4}", run.volume(1) / volume - 1.0, run.area());
        }
    }
    run.complex.check().unwrap();
    assert_eq!(run.stuck, 0);
    let distance = run.distance_to(&ball) / run.area() / surface;
    println!("mean distance {distance:.3} h");
    Deformed { volume_change: (run.volume(1) / volume - 1.0).abs(), distance }
}

#[test]
fn a_ball_comes_back_from_a_deformation() {
    let deformed = deform(2.5, 24);
    assert!(deformed.volume_change < 0.04);
    assert!(deformed.distance < 0.5);
}

#[test]
#[ignore = "takes minutes: ./check --long"]
fn long_a_ball_of_8_edges_a_radius_comes_back_from_a_deformation() {
    let deformed = deform(8.0, 100);
    assert!(deformed.volume_change < 0.01);
    assert!(deformed.distance < 0.5);
}

#[test]
#[ignore = "takes an hour: ./check --long"]
fn long_a_ball_of_20_edges_a_radius_comes_back_from_a_deformation() {
    let deformed = deform(20.0, 240);
    assert!(deformed.volume_change < 0.01);
    assert!(deformed.distance < 0.5);
}
