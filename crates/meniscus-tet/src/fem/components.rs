//! Phase components: tets of one label that hang together by faces.

use super::mesh::{Mesh, NONE};

/// The components of a mesh, numbered by their first tets.
#[derive(Clone, Debug)]
pub struct Components {
    /// The component of each tet.
    pub of_tet: Vec<u32>,
    /// The label of each component.
    pub labels: Vec<u8>,
}

impl Components {
    /// Floods tets of one label across faces; `neighbours` names the tet across each face.
    pub fn new(mesh: &Mesh<'_>, neighbours: &[[u32; 4]]) -> Self {
        let mut of_tet = vec![NONE; mesh.tets.len()];
        let mut labels = Vec::new();
        let mut front = Vec::new();
        for first in 0..mesh.tets.len() {
            if of_tet[first] != NONE {
                continue;
            }
            let (component, label) = (labels.len() as u32, mesh.labels[first]);
            labels.push(label);
            of_tet[first] = component;
            front.push(first);
            while let Some(tet) = front.pop() {
                for &next in neighbours[tet].iter().filter(|&&t| t != NONE) {
                    let next = next as usize;
                    if of_tet[next] == NONE && mesh.labels[next] == label {
                        of_tet[next] = component;
                        front.push(next);
                    }
                }
            }
        }
        Self { of_tet, labels }
    }

    /// The number of components.
    pub fn len(&self) -> usize {
        self.labels.len()
    }

    /// Whether there is none: no tets.
    pub fn is_empty(&self) -> bool {
        self.labels.is_empty()
    }

    /// The volume of each component, m³.
    pub fn volumes(&self, mesh: &Mesh<'_>) -> Vec<f64> {
        let mut volumes = vec![0.0; self.len()];
        for (tet, &component) in self.of_tet.iter().enumerate() {
            volumes[component as usize] += mesh.element(tet).volume;
        }
        volumes
    }
}
