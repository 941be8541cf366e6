//! Fits a mesh to the surface of a shape.

use std::collections::BTreeMap;

use meniscus_core::shape::Shape;
use meniscus_core::vector::{add_scaled, dot, sub};

use crate::complex::{Across, BuildError, Complex, EDGES, NoValues, Sheet, StarStrata};
use crate::container::{Container, Wall, distance, gradient};
use crate::motion::{MotionParams, advance};
use crate::repair::Editor;

/// Vertices nearer to the surface than this share of their shortest edge are moved onto it.
const NEAR: f64 = 0.3;

/// Vertices nearer than this share of their shortest edge are taken to be on it.
const ON: f64 = 0.02;

/// Rounds of moving vertices onto surfaces.
const ROUNDS: usize = 3;

/// Motion as it comes, without repairs.
const PLAIN: MotionParams = MotionParams { quality: f64::NEG_INFINITY, passes: 0 };

/// Gives the inside of a shape to a label, where it has none yet.
pub(super) fn cut_out(complex: &mut Complex, container: &Container, shape: &Shape<3>, label: u8) {
    for _ in 0..ROUNDS {
        let mut ways = vec![[0.0; 3]; complex.vertex_slots()];
        for vertex in complex.vertices() {
            let x = complex.position(vertex);
            if shape.signed_distance(x).abs() < NEAR * shortest_edge(complex, vertex) {
                let strata = complex.strata(vertex);
                if !strata.is_on_interface() {
                    ways[vertex as usize] = way_to_surface(container, &strata, shape, x);
                }
            }
        }
        advance(complex, container, &mut NoValues, &mut ways, &PLAIN);
    }
    let mut sides: Vec<i8> = (0..complex.vertex_slots() as u32).map(|v| side(complex, shape, v)).collect();
    split_crossings(complex, container, shape, &mut sides);
    for tet in complex.tets().collect::<Vec<_>>() {
        let corners = complex.corners(tet).map(|v| sides[v as usize]);
        let sum: i8 = corners.iter().sum();
        let centre = || complex.points(tet).iter().fold([0.0; 3], |c, &p| add_scaled(c, 0.25, p));
        let inside = sum < 0 || sum == 0 && shape.signed_distance(centre()) < 0.0;
        if inside && complex.label(tet) == 0 {
            complex.set_label(tet, label);
        }
    }
}

/// Cuts away what is outside of a vessel, whose surface becomes another wall.
pub(super) fn keep_inside(
    mut complex: Complex,
    container: &mut Container,
    vessel: &Shape<3>,
) -> Result<Complex, BuildError> {
    const INSIDE: u8 = 1;
    cut_out(&mut complex, container, vessel, INSIDE);
    let mut sides: BTreeMap<[u32; 3], u8> = BTreeMap::new();
    let mut new_of_old = vec![None; complex.vertex_slots()];
    let mut positions = Vec::new();
    let mut tets = Vec::new();
    for tet in complex.tets().filter(|&t| complex.label(t) == INSIDE) {
        let corners = complex.corners(tet).map(|v| {
            *new_of_old[v as usize].get_or_insert_with(|| {
                positions.push(complex.position(v));
                positions.len() as u32 - 1
            })
        });
        tets.push((corners, 0));
        for corner in 0..4 {
            if let Across::Wall(id) = complex.across(tet, corner) {
                let mut face = corners.to_vec();
                face.remove(corner);
                face.sort_unstable();
                sides.insert([face[0], face[1], face[2]], id);
            }
        }
    }
    container.walls.push(Wall::Curved(vessel.clone()));
    let curved = container.walls.len() as u8 - 1;
    Complex::new(positions, &tets, |face| sides.get(&face).copied().unwrap_or(curved))
}

/// Moves the vertices of interfaces onto the surfaces that they stand for.
pub(super) fn pull_onto_surfaces(complex: &mut Complex, container: &Container, liquids: &[Shape<3>]) {
    let mut ways = vec![[0.0; 3]; complex.vertex_slots()];
    for vertex in complex.vertices() {
        let strata = complex.strata(vertex);
        let mut way = [0.0; 3];
        let x = complex.position(vertex);
        for shape in shapes_of(&strata).map(|liquid| &liquids[liquid]) {
            way = add_scaled(way, 1.0, way_to_surface(container, &strata, shape, add_scaled(x, 1.0, way)));
        }
        ways[vertex as usize] = way;
    }
    advance(complex, container, &mut NoValues, &mut ways, &MotionParams::default());
}

/// The liquids whose surfaces pass through a vertex: of two liquids that meet, the first made the surface.
fn shapes_of(strata: &StarStrata) -> impl Iterator<Item = usize> {
    let mut liquids: Vec<usize> = strata
        .faces
        .iter()
        .filter_map(|&(_, sheet)| match sheet {
            Sheet::Interface(0, label) | Sheet::Interface(label, _) => Some(usize::from(label) - 1),
            Sheet::Wall(_) => None,
        })
        .collect();
    liquids.sort_unstable();
    liquids.dedup();
    liquids.into_iter()
}

/// A step of Newton's method from a point to the surface of a shape, along walls.
fn way_to_surface(container: &Container, strata: &StarStrata, shape: &Shape<3>, x: [f64; 3]) -> [f64; 3] {
    let slope = container.slide(&strata.walls(), x, gradient(shape, x));
    let square = dot(slope, slope);
    if square < 0.1 { [0.0; 3] } else { slope.map(|c| -shape.signed_distance(x) / square * c) }
}

fn shortest_edge(complex: &Complex, vertex: u32) -> f64 {
    let mut star = Vec::new();
    complex.star(vertex, &mut star);
    let x = complex.position(vertex);
    let others = star.iter().flat_map(|&t| complex.corners(t)).filter(|&v| v != vertex);
    others.map(|v| distance(x, complex.position(v))).fold(f64::INFINITY, f64::min)
}

/// On which side of a surface a vertex is: -1 inside, 0 on it, 1 outside.
fn side(complex: &Complex, shape: &Shape<3>, vertex: u32) -> i8 {
    let distance = shape.signed_distance(complex.position(vertex));
    if distance.abs() < ON * shortest_edge(complex, vertex) { 0 } else { distance.signum() as i8 }
}

/// Splits the edges between sides where they cross the surface, but for those inside of other liquids.
fn split_crossings(complex: &mut Complex, container: &Container, shape: &Shape<3>, sides: &mut Vec<i8>) {
    let mut crossing: Vec<(u32, u32)> = Vec::new();
    for tet in complex.tets().filter(|&t| complex.label(t) == 0) {
        let corners = complex.corners(tet);
        for (i, j) in EDGES {
            let (a, b) = (corners[i].min(corners[j]), corners[i].max(corners[j]));
            if sides[a as usize] * sides[b as usize] < 0 {
                crossing.push((a, b));
            }
        }
    }
    crossing.sort_unstable();
    crossing.dedup();
    let mut nothing = NoValues;
    let mut editor = Editor::new(complex, container, &mut nothing);
    for (a, b) in crossing {
        let complex = editor.complex();
        let share = crossing_share(shape, complex.position(a), complex.position(b));
        let tet = complex.tet_of_edge(a, b).expect("an edge");
        let ring = complex.ring(tet, a, b);
        if let Some(vertex) = editor.split_at(&ring, a, b, share, 0.0) {
            sides.resize(editor.complex().vertex_slots(), 0);
            sides[vertex as usize] = 0;
        }
    }
}

/// Where the surface is between two points on its two sides, by bisection.
fn crossing_share(shape: &Shape<3>, from: [f64; 3], to: [f64; 3]) -> f64 {
    let at = |share: f64| shape.signed_distance(add_scaled(from, share, sub(to, from)));
    let begins_inside = at(0.0) < 0.0;
    let (mut low, mut high) = (0.0, 1.0);
    for _ in 0..40 {
        let middle = 0.5 * (low + high);
        if (at(middle) < 0.0) == begins_inside { low = middle } else { high = middle }
    }
    0.5 * (low + high)
}
