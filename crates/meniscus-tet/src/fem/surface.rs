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
    /// The patches: velocities inside of an interface, not on a triple or contact line, that hang together by faces.
    pub patches: Vec<Vec<u32>>,
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
        let mut surface = Self { facets, nodes, facets_at_node, patches: Vec::new() };
        surface.patches = surface.find_patches();
        surface
    }

    fn find_patches(&self) -> Vec<Vec<u32>> {
        let mut is_left: Vec<_> =
            (0..self.facets_at_node.rows()).map(|node| self.is_inside_interface(node)).collect();
        let mut patches = Vec::new();
        for first in 0..is_left.len() {
            if !std::mem::take(&mut is_left[first]) {
                continue;
            }
            let mut patch = vec![first as u32];
            let mut done = 0;
            while let Some(&node) = patch.get(done) {
                done += 1;
                let around = self.facets_at_node.at(node as usize).flat_map(|(facet, _)| self.nodes[facet]);
                patch.extend(around.filter(|&n| n != NONE && std::mem::take(&mut is_left[n as usize])));
            }
            patches.push(patch);
        }
        patches
    }

    /// Whether a velocity lies inside of one interface: the faces at it all part the same two sides and close around it.
    fn is_inside_interface(&self, node: usize) -> bool {
        let facets = || self.facets_at_node.at(node);
        let same = facets().all(|(facet, _)| {
            let (first, _) = facets().next().expect("a face");
            self.facets[facet].sides == self.facets[first].sides
        });
        let mut ring: Vec<u32> = facets()
            .flat_map(|(facet, a)| [1, 2].map(|k| self.facets[facet].vertices[(a + k) % 3]))
            .collect();
        ring.sort_unstable();
        let closed = ring.len().is_multiple_of(2)
            && ring.chunks(2).all(|pair| pair[0] == pair[1])
            && ring.chunks(2).zip(ring.chunks(2).skip(1)).all(|(a, b)| a[0] != b[0]);
        !ring.is_empty() && same && closed
    }
}
