//! Which unknowns a mesh carries.

use super::components::Components;
use super::incidence::Incidence;
use super::materials::Materials;
use super::mesh::{Mesh, NONE};

/// Where pressures live.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PressureSpace {
    /// Linear in each tet and continuous in each phase component: a value for each pair of a vertex and a component that
    /// touches it, one inside of a phase, two on interfaces, three on triple lines. Their sum over a component spans
    /// the gradient of its volume, so that jumps at interfaces are exact.
    Corners,
    /// One value for each tet (Misztal and others 2012).
    Tets,
}

/// The numbering of velocities and pressures on one mesh.
///
/// Open voids have no unknowns and p = 0. A sealed void has one pressure, whose constraint keeps its volume.
#[derive(Clone, Debug)]
pub struct Unknowns {
    /// The vertex of each velocity: those of fluid tets.
    pub vertices: Vec<u32>,
    /// The velocities at each tet's vertices.
    pub nodes: Vec<[u32; 4]>,
    /// The pressures at each tet's vertices.
    pub corners: Vec<[u32; 4]>,
    /// The component of each pressure.
    pub component_of: Vec<u32>,
    /// The tets at each velocity.
    pub tets_at_node: Incidence,
    /// The tets at each pressure.
    pub tets_at_corner: Incidence,
}

impl Unknowns {
    /// Numbers the unknowns; `sealed` tells of each component whether it is a void that keeps its volume.
    pub fn new(
        mesh: &Mesh<'_>,
        materials: &Materials,
        components: &Components,
        sealed: &[bool],
        space: PressureSpace,
    ) -> Self {
        let tets_at_vertex = Incidence::new(mesh.positions.len(), mesh.tets);
        let is_fluid: Vec<_> = mesh.labels.iter().map(|&label| !materials.is_void(label)).collect();
        let (vertices, nodes) = number_velocities(mesh, &tets_at_vertex, &is_fluid);

        let mut pressures =
            Pressures { at: vec![[NONE; 4]; mesh.tets.len()], component_of: Vec::new(), components };
        match space {
            PressureSpace::Corners => pressures.number_corners(&tets_at_vertex, &is_fluid),
            PressureSpace::Tets => pressures.number_tets(&is_fluid),
        }
        let keeps_volume = |c: &usize| sealed[*c] && materials.is_void(components.labels[*c]);
        (0..components.len()).filter(keeps_volume).for_each(|c| pressures.number_sealed(c as u32));

        let Pressures { at: corners, component_of, .. } = pressures;
        let tets_at_node = Incidence::new(vertices.len(), &nodes);
        let tets_at_corner = Incidence::new(component_of.len(), &corners);
        Self { vertices, nodes, corners, component_of, tets_at_node, tets_at_corner }
    }

    /// Takes what lives at vertices to the velocities' numbering.
    pub fn gather<T: Copy>(&self, at_vertices: &[T]) -> Vec<T> {
        self.vertices.iter().map(|&v| at_vertices[v as usize]).collect()
    }

    /// Gives velocities back to the vertices; `rest` is for vertices without one.
    pub fn scatter<T: Copy>(&self, at_nodes: &[T], rest: T, vertices: usize) -> Vec<T> {
        let mut values = vec![rest; vertices];
        for (&vertex, &value) in self.vertices.iter().zip(at_nodes) {
            values[vertex as usize] = value;
        }
        values
    }
}

/// The vertices of fluid tets, and their numbers at each tet's vertices.
fn number_velocities(
    mesh: &Mesh<'_>,
    tets_at_vertex: &Incidence,
    is_fluid: &[bool],
) -> (Vec<u32>, Vec<[u32; 4]>) {
    let mut vertices = Vec::new();
    let mut node_of = vec![NONE; mesh.positions.len()];
    for (vertex, node) in node_of.iter_mut().enumerate() {
        if tets_at_vertex.at(vertex).any(|(tet, _)| is_fluid[tet]) {
            *node = vertices.len() as u32;
            vertices.push(vertex as u32);
        }
    }
    let nodes = mesh.tets.iter().map(|tet| tet.map(|v| node_of[v as usize])).collect();
    (vertices, nodes)
}

/// Pressures that are being numbered.
struct Pressures<'a> {
    at: Vec<[u32; 4]>,
    component_of: Vec<u32>,
    components: &'a Components,
}

impl Pressures<'_> {
    /// One for each component of fluid at each vertex; those at a vertex follow each other.
    fn number_corners(&mut self, tets_at_vertex: &Incidence, is_fluid: &[bool]) {
        for vertex in 0..tets_at_vertex.rows() {
            let first = self.component_of.len();
            for (tet, corner) in tets_at_vertex.at(vertex).filter(|&(tet, _)| is_fluid[tet]) {
                let component = self.components.of_tet[tet];
                let known = self.component_of[first..].iter().position(|&c| c == component);
                let number = known.map_or_else(|| self.push(component), |k| (first + k) as u32);
                self.at[tet][corner] = number;
            }
        }
    }

    /// One for each tet of fluid.
    fn number_tets(&mut self, is_fluid: &[bool]) {
        for tet in (0..is_fluid.len()).filter(|&tet| is_fluid[tet]) {
            self.at[tet] = [self.push(self.components.of_tet[tet]); 4];
        }
    }

    /// One for all tets of a component.
    fn number_sealed(&mut self, component: u32) {
        let number = self.push(component);
        for (at, _) in self.at.iter_mut().zip(&self.components.of_tet).filter(|(_, c)| **c == component) {
            *at = [number; 4];
        }
    }

    fn push(&mut self, component: u32) -> u32 {
        self.component_of.push(component);
        self.component_of.len() as u32 - 1
    }
}
