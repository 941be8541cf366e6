//! What touches what: lists of small things by index, and neighbours across faces.

use super::mesh::{FACES, Mesh, NONE};

/// A list of pairs (item, its corner) for each of a number of rows, in ascending order of the items, so that a sum
/// gathered over a row does not depend on who gathers it.
#[derive(Clone, Debug, Default)]
pub struct Incidence {
    starts: Vec<usize>,
    entries: Vec<(u32, u8)>,
}

impl Incidence {
    /// Inverts `items`, which name a row for each of their corners, or none.
    pub fn new<const N: usize>(rows: usize, items: &[[u32; N]]) -> Self {
        let named = || items.iter().flatten().filter(|&&row| row != NONE);
        let mut starts = vec![0; rows + 1];
        for &row in named() {
            starts[row as usize + 1] += 1;
        }
        for row in 0..rows {
            starts[row + 1] += starts[row];
        }
        let mut next = starts.clone();
        let mut entries = vec![(0, 0); starts[rows]];
        for (item, corners) in items.iter().enumerate() {
            for (corner, &row) in corners.iter().enumerate() {
                if row != NONE {
                    entries[next[row as usize]] = (item as u32, corner as u8);
                    next[row as usize] += 1;
                }
            }
        }
        Self { starts, entries }
    }

    /// The number of rows.
    pub fn rows(&self) -> usize {
        self.starts.len().saturating_sub(1)
    }

    /// The items at `row`, and which of their corners it is.
    pub fn at(&self, row: usize) -> impl ExactSizeIterator<Item = (usize, usize)> + '_ {
        let entries = &self.entries[self.starts[row]..self.starts[row + 1]];
        entries.iter().map(|&(item, corner)| (item as usize, corner as usize))
    }
}

/// The tet across each face, or none at the mesh's boundary.
pub fn neighbours(mesh: &Mesh<'_>) -> Vec<[u32; 4]> {
    let mut faces: Vec<([u32; 3], u32, u8)> = Vec::with_capacity(4 * mesh.tets.len());
    for (t, tet) in mesh.tets.iter().enumerate() {
        for (k, face) in FACES.iter().enumerate() {
            let mut key = face.map(|a| tet[a]);
            key.sort_unstable();
            faces.push((key, t as u32, k as u8));
        }
    }
    faces.sort_unstable();
    let mut across = vec![[NONE; 4]; mesh.tets.len()];
    for pair in faces.windows(2) {
        let [(a, t, k), (b, s, l)] = [pair[0], pair[1]];
        if a == b {
            across[t as usize][k as usize] = s;
            across[s as usize][l as usize] = t;
        }
    }
    across
}
