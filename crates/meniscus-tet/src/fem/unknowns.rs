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
        let is_fluid = |tet: usize| !materials.is_void(mesh.labels[tet]);

        let mut vertices = Vec::new();
        let mut node_of = vec![NONE; mesh.positions.len()];
        for (vertex, node) in node_of.iter_mut().enumerate() {
            if tets_at_vertex.at(vertex).any(|(tet, _)| is_fluid(tet)) {
                *node = vertices.len() as u32;
                vertices.push(vertex as u32);
            }
        }
        let nodes: Vec<_> = mesh.tets.iter().map(|tet| tet.map(|v| node_of[v as usize])).collect();

        let mut corners = vec![[NONE; 4]; mesh.tets.len()];
        let mut component_of = Vec::new();
        match space {
            PressureSpace::Corners => {
                for vertex in 0..mesh.positions.len() {
                    let first = component_of.len();
                    for (tet, corner) in tets_at_vertex.at(vertex).filter(|&(tet, _)| is_fluid(tet)) {
                        let component = components.of_tet[tet];
                        let known = component_of[first..].iter().position(|&c| c == component);
                        corners[tet][corner] = (first + known.unwrap_or(component_of.len() - first)) as u32;
                        if known.is_none() {
                            component_of.push(component);
                        }
                    }
                }
            }
            PressureSpace::Tets => {
                for tet in (0..mesh.tets.len()).filter(|&tet| is_fluid(tet)) {
                    corners[tet] = [component_of.len() as u32; 4];
                    component_of.push(components.of_tet[tet]);
                }
            }
        }
        for component in
            (0..components.len()).filter(|&c| sealed[c] && materials.is_void(components.labels[c]))
        {
            for tet in (0..mesh.tets.len()).filter(|&tet| components.of_tet[tet] == component as u32) {
                corners[tet] = [component_of.len() as u32; 4];
            }
            component_of.push(component as u32);
        }

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
