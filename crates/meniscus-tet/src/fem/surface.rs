//! The faces that carry surface energy.

use super::incidence::Incidence;
use super::materials::{Materials, Side};
use super::mesh::{FACES, Mesh, NONE};
use super::unknowns::Unknowns;

/// A face between two materials, or between a material and the wall.
#[derive(Clone, Copy, Debug)]
pub struct Facet {
    /// Its vertices, counter-clockwise seen from `sides[1]`.
    pub vertices: [u32; 3],
    /// The sides that it parts, the lesser behind it.
    pub sides: [Side; 2],
    /// Its energy, J/m².
    pub tension: f64,
}

/// All faces with a tension.
#[derive(Clone, Debug)]
pub struct Surface {
    /// The faces, in the order of the tets behind them.
    pub facets: Vec<Facet>,
    /// The velocities at each face's vertices.
    pub nodes: Vec<[u32; 3]>,
    /// The faces at each velocity.
    pub facets_at_node: Incidence,
}

impl Surface {
    /// Finds the faces between labels and at the wall whose tension is not zero.
    pub fn new(mesh: &Mesh<'_>, neighbours: &[[u32; 4]], materials: &Materials, unknowns: &Unknowns) -> Self {
        let mut facets = Vec::new();
        let mut nodes = Vec::new();
        for (t, tet) in mesh.tets.iter().enumerate() {
            for (face, &across) in FACES.iter().zip(&neighbours[t]) {
                let behind = Side::Label(mesh.labels[t]);
                let front =
                    if across == NONE { Side::Wall } else { Side::Label(mesh.labels[across as usize]) };
                let tension = materials.tension(behind, front);
                if behind < front && tension != 0.0 {
                    facets.push(Facet { vertices: face.map(|a| tet[a]), sides: [behind, front], tension });
                    nodes.push(face.map(|a| unknowns.nodes[t][a]));
                }
            }
        }
        let facets_at_node = Incidence::new(unknowns.vertices.len(), &nodes);
        Self { facets, nodes, facets_at_node }
    }

    /// Whether the faces at a velocity all part the same two sides: whether it lies inside of one interface, not on a
    /// triple or contact line.
    pub fn is_inside_interface(&self, node: usize) -> bool {
        let mut facets = self.facets_at_node.at(node).map(|(facet, _)| self.facets[facet].sides);
        facets.next().is_some_and(|first| facets.all(|sides| sides == first))
    }
}
