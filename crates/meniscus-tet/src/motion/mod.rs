//! Motion of all vertices along straight paths, without a tet ever being turned over.

mod inversion;
#[cfg(test)]
mod tests;

use meniscus_core::vector::{add_scaled, norm, sub};

pub use inversion::share_without_inversion;

use crate::complex::{Complex, VertexValues};
use crate::container::Container;
use crate::predicates::is_positive;
use crate::repair::{Books, Editor};

/// How far a motion goes to reach its end.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct MotionParams {
    /// Repairs act on tets below this quality.
    pub quality: f64,
    /// Times that all vertices are moved together, with repairs between them, before what is left is done
    /// vertex by vertex.
    pub passes: usize,
}

impl Default for MotionParams {
    fn default() -> Self {
        Self { quality: 0.1, passes: 10 }
    }
}

/// How a motion went.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct MotionReport {
    /// How often vertices were moved.
    pub passes: usize,
    /// Vertices that did not arrive; what is left of their ways is in the list that the ways came in.
    pub stuck: usize,
    /// The longest way that is left.
    pub leftover: f64,
    /// Repairs in between.
    pub books: Books,
}

/// The share of a safe way that is gone: what would be flat at its end is left some height.
const CAUTION: f64 = 0.9;

/// Shares of the way smaller than this are no progress.
const SMALLEST_SHARE: f64 = 1e-3;

/// Halvings of the way of one vertex.
const BISECTIONS: usize = 10;

/// Sweeps over vertices that go alone.
const SWEEPS: usize = 4;

/// Moves every vertex by its way, a vector for each slot. Vertices on walls slide along them.
///
/// All vertices go together, by a share of the way that turns no tet over; tets that would be turned over are
/// repaired, judged by their shape at the end of the way too, before the rest is gone. What cannot go with
/// all others goes alone as far as it can; what is left after that stays in `ways`.
pub fn advance(
    complex: &mut Complex,
    container: &Container,
    values: &mut dyn VertexValues,
    ways: &mut Vec<[f64; 3]>,
    params: &MotionParams,
) -> MotionReport {
    let mut report = MotionReport::default();
    ways.resize(complex.vertex_slots(), [0.0; 3]);
    lead_to_walls(complex, container, ways);
    let mut stalled = false;
    while report.passes < params.passes && !stalled {
        let mut share = safe_share(complex, ways);
        if share < 1.0 {
            report.books.add(&repair(complex, container, values, ways, params.quality));
            share = safe_share(complex, ways);
        }
        let share = if share < 1.0 { CAUTION * share } else { 1.0 };
        report.passes += 1;
        stalled = share < SMALLEST_SHARE || !go_together(complex, ways, share);
        if share == 1.0 && !stalled {
            break;
        }
    }
    go_alone(complex, ways);
    let left = complex.vertices().map(|v| norm(ways[v as usize])).filter(|&l| l > 0.0);
    (report.stuck, report.leftover) = left.fold((0, 0.0), |(n, m), l| (n + 1, l.max(m)));
    report
}

/// Makes the ways of vertices on walls end on the walls.
fn lead_to_walls(complex: &Complex, container: &Container, ways: &mut [[f64; 3]]) {
    for (vertex, walls) in complex.vertices_on_walls() {
        let (x, way) = (complex.position(vertex), ways[vertex as usize]);
        if way != [0.0; 3] {
            let end = container.project(&walls, add_scaled(x, 1.0, container.slide(&walls, x, way)));
            ways[vertex as usize] = sub(end, x);
        }
    }
}

/// The share of the ways that turns no tet over.
fn safe_share(complex: &Complex, ways: &[[f64; 3]]) -> f64 {
    let share = |tet: u32| {
        let ways = complex.corners(tet).map(|v| ways[v as usize]);
        share_without_inversion(complex.points(tet), ways)
    };
    complex.tets().map(share).fold(1.0, f64::min)
}

fn repair(
    complex: &mut Complex,
    container: &Container,
    values: &mut dyn VertexValues,
    ways: &mut Vec<[f64; 3]>,
    quality: f64,
) -> Books {
    let mut editor = Editor::moving(complex, container, values, std::mem::take(ways));
    editor.improve(quality, 2);
    let books;
    (books, *ways) = editor.finish();
    books
}

/// Moves all vertices by a share of their ways, if no tet is turned over by rounding.
fn go_together(complex: &mut Complex, ways: &mut [[f64; 3]], share: f64) -> bool {
    let vertices: Vec<u32> = complex.vertices().collect();
    let before: Vec<[f64; 3]> = vertices.iter().map(|&v| complex.position(v)).collect();
    for (&vertex, &x) in vertices.iter().zip(&before) {
        complex.set_position(vertex, add_scaled(x, share, ways[vertex as usize]));
    }
    if complex.tets().any(|t| !is_positive(complex.points(t))) {
        for (&vertex, &x) in vertices.iter().zip(&before) {
            complex.set_position(vertex, x);
        }
        return false;
    }
    for way in ways {
        *way = way.map(|c| (1.0 - share) * c);
    }
    true
}

/// Moves vertices one after the other, each as far as it turns no tet over, in sweeps as long as any arrives.
fn go_alone(complex: &mut Complex, ways: &mut [[f64; 3]]) {
    let mut star = Vec::new();
    for _ in 0..SWEEPS {
        let waiting: Vec<u32> = complex.vertices().filter(|&v| ways[v as usize] != [0.0; 3]).collect();
        let mut moved = false;
        for vertex in waiting {
            complex.star(vertex, &mut star);
            let share = go_far(complex, vertex, ways[vertex as usize], &star);
            ways[vertex as usize] = ways[vertex as usize].map(|c| (1.0 - share) * c);
            moved |= share > 0.0;
        }
        if !moved {
            break;
        }
    }
}

/// Moves a vertex by the largest halved share of its way that turns no tet over, and returns the share.
fn go_far(complex: &mut Complex, vertex: u32, way: [f64; 3], star: &[u32]) -> f64 {
    let start = complex.position(vertex);
    let mut share = 1.0;
    for _ in 0..BISECTIONS {
        complex.set_position(vertex, add_scaled(start, share, way));
        if star.iter().all(|&t| is_positive(complex.points(t))) {
            return share;
        }
        share *= 0.5;
    }
    complex.set_position(vertex, start);
    0.0
}
