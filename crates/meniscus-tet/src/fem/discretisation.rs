//! All that depends on how a mesh hangs together, not on where its vertices are: made once after each change of it.

use super::components::Components;
use super::element::Mass;
use super::materials::Materials;
use super::mesh::{Mesh, NONE};
use super::paper;
use super::rows::Pattern;
use super::surface::Surface;
use super::tension::{SurfaceEnergy, TensionForce};
use super::unknowns::{PressureSpace, Unknowns};

/// Which finite elements.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Scheme {
    /// The mass matrix.
    pub mass: Mass,
    /// Where pressures live; `Tets` brings the paper's stabiliser with it.
    pub pressures: PressureSpace,
    /// Which part of the energy's gradient pulls.
    pub tension_force: TensionForce,
    /// How the surface's energy is foreseen.
    pub surface_energy: SurfaceEnergy,
}

impl Default for Scheme {
    fn default() -> Self {
        Self {
            mass: Mass::Lumped,
            pressures: PressureSpace::Corners,
            tension_force: TensionForce::Projected,
            surface_energy: SurfaceEnergy::SecondOrder,
        }
    }
}

/// Unknowns, surfaces and the patterns of the matrices on one mesh.
#[derive(Clone, Debug)]
pub struct Discretisation {
    /// The choices made.
    pub scheme: Scheme,
    /// The tet across each face.
    pub neighbours: Vec<[u32; 4]>,
    /// The phase components.
    pub components: Components,
    /// The numbering.
    pub unknowns: Unknowns,
    /// The faces with tension.
    pub surface: Surface,
    /// The part of each pressure: parts are components that hang together by faces, open voids left out. A part that
    /// touches none knows its pressures up to a constant.
    pub part_of: Vec<u32>,
    /// Velocities that share a fluid tet or a face with tension.
    pub velocities: Pattern,
    /// The pressures that push each velocity.
    pub gradient: Pattern,
    /// The velocities that change each pressure's volume.
    pub divergence: Pattern,
    /// Pressures that share a tet.
    pub corners: Pattern,
    /// Pressures that the stabiliser couples.
    pub leak: Pattern,
}

impl Discretisation {
    /// Sets up the unknowns and patterns; `sealed` tells of each component whether it is a void that keeps its volume.
    pub fn new(
        mesh: &Mesh<'_>,
        materials: &Materials,
        neighbours: Vec<[u32; 4]>,
        components: Components,
        sealed: &[bool],
        scheme: Scheme,
    ) -> Self {
        let unknowns = Unknowns::new(mesh, materials, &components, sealed, scheme.pressures);
        let surface = Surface::new(mesh, &neighbours, materials, &unknowns);
        let is_fluid = |tet: usize| !materials.is_void(mesh.labels[tet]);
        let known = |ids: &[u32]| ids.iter().copied().filter(|&i| i != NONE).collect::<Vec<_>>();

        let velocities = Pattern::new(unknowns.vertices.len(), |node, row| {
            for (tet, _) in unknowns.tets_at_node.at(node).filter(|&(tet, _)| is_fluid(tet)) {
                row.extend(unknowns.nodes[tet]);
            }
            for (facet, _) in surface.facets_at_node.at(node) {
                row.extend(known(&surface.nodes[facet]));
            }
        });
        let gradient = Pattern::new(unknowns.vertices.len(), |node, row| {
            for (tet, _) in unknowns.tets_at_node.at(node) {
                row.extend(known(&unknowns.corners[tet]));
            }
        });
        let count = unknowns.component_of.len();
        let divergence = Pattern::new(count, |pressure, row| {
            for (tet, _) in unknowns.tets_at_corner.at(pressure) {
                row.extend(known(&unknowns.nodes[tet]));
            }
        });
        let corners = Pattern::new(count, |pressure, row| {
            row.extend(unknowns.tets_at_corner.at(pressure).flat_map(|(tet, _)| unknowns.corners[tet]));
        });
        let leak = match scheme.pressures {
            PressureSpace::Corners => corners.squared(),
            PressureSpace::Tets => paper::pattern(&unknowns.corners, count, &neighbours),
        };
        let part_of = parts(&neighbours, &components, &unknowns);
        Self {
            scheme,
            neighbours,
            components,
            unknowns,
            surface,
            part_of,
            velocities,
            gradient,
            divergence,
            corners,
            leak,
        }
    }

    /// The number of velocities, each of three components.
    pub fn velocity_count(&self) -> usize {
        self.unknowns.vertices.len()
    }

    /// The number of pressures.
    pub fn pressure_count(&self) -> usize {
        self.unknowns.component_of.len()
    }
}

/// Numbers the sets of components that hang together by faces; gives each pressure the number of its component's.
fn parts(neighbours: &[[u32; 4]], components: &Components, unknowns: &Unknowns) -> Vec<u32> {
    let mut part: Vec<u32> = (0..components.len() as u32).collect();
    let root = |part: &[u32], mut c: u32| {
        while part[c as usize] != c {
            c = part[c as usize];
        }
        c
    };
    let has_pressure = |tet: usize| unknowns.corners[tet][0] != NONE;
    for (tet, across) in neighbours.iter().enumerate().filter(|&(tet, _)| has_pressure(tet)) {
        for &next in across.iter().filter(|&&t| t != NONE && has_pressure(t as usize)) {
            let [a, b] = [tet, next as usize].map(|t| root(&part, components.of_tet[t]));
            part[a.max(b) as usize] = a.min(b);
        }
    }
    unknowns.component_of.iter().map(|&c| root(&part, c)).collect()
}
