//! The one primitive that edits connectivity: the tets of a cavity are replaced by others that fill it.

use thiserror::Error;

use super::{Across, Complex, FACES, NONE, encode, sorted_face};
use crate::predicates::is_positive;

/// A tet that is to be: vertices in positive order, and its label.
pub type CavityTet = ([u32; 4], u8);

/// A face on a wall, its vertices in any order, and the wall's id.
pub type WallFace = ([u32; 3], u8);

/// A proposal: what is removed, and what takes its place.
///
/// Vertices that no new tet has vanish. There may be one new vertex, which is referred to as
/// [`Complex::next_vertex`].
#[derive(Clone, Copy, Debug, Default)]
pub struct Cavity<'a> {
    /// The tets to be removed.
    pub old: &'a [u32],
    /// The tets to be made.
    pub new: &'a [CavityTet],
    /// Faces of the new tets that lie on walls where no removed tet had the same face. All others must lie
    /// between two new tets or at the cavity's boundary.
    pub walls: &'a [WallFace],
    /// Where the new vertex is, if there is one.
    pub vertex: Option<[f64; 3]>,
}

/// Why a cavity was refused. The complex is as it was, bit for bit.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum CavityError {
    /// A tet to be removed does not exist, or is named twice.
    #[error("tet {0} does not exist or is named twice")]
    Old(u32),
    /// A new tet is flat or turned over.
    #[error("new tet {0} is not positive")]
    NotPositive(usize),
    /// A face of a new tet fits no other tet and no wall, or several, or from the wrong side.
    #[error("the face of vertices {0:?} fits nothing")]
    Face([u32; 3]),
    /// A face of the cavity's boundary has no new tet.
    #[error("the face of vertices {0:?} is left open")]
    Open([u32; 3]),
}

/// Whose a face is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Owner {
    /// A wall behind a removed tet.
    Wall(u8),
    /// A tet outside of the cavity, and its corner opposite to the face.
    Outside(u32, usize),
    /// A new tet by its place in the list, and its corner opposite to the face.
    New(usize, usize),
}

/// A face by its sorted vertices, whether its outward order is even, and whose it is.
type OwnedFace = ([u32; 3], bool, Owner);

/// Which face meets which, ready to be wired.
struct Fit {
    pairs: Vec<(Owner, Owner)>,
    walls: Vec<(Owner, u8)>,
}

impl Complex {
    /// The index that the next new vertex will have.
    pub fn next_vertex(&self) -> u32 {
        self.free_vertices.last().copied().unwrap_or(self.positions.len() as u32)
    }

    /// Replaces the tets of a cavity, if the new ones are exactly positive and fit: together with the tets
    /// around the cavity and the walls every face must have exactly two sides. (Positive tets with the
    /// boundary of the cavity cover each of its points once.) Returns the new tets' indices.
    pub fn replace_cavity(&mut self, cavity: Cavity<'_>) -> Result<Vec<u32>, CavityError> {
        self.check_old(cavity.old)?;
        self.check_positive(cavity)?;
        let fit = self.fit(cavity)?;
        Ok(self.rewire(cavity, &fit))
    }

    fn check_old(&self, old: &[u32]) -> Result<(), CavityError> {
        let twice = |i: usize| old[..i].contains(&old[i]);
        match (0..old.len()).find(|&i| !self.has_tet(old[i]) || twice(i)) {
            Some(i) => Err(CavityError::Old(old[i])),
            None => Ok(()),
        }
    }

    fn check_positive(&self, cavity: Cavity<'_>) -> Result<(), CavityError> {
        let next = self.next_vertex();
        let position = |v: u32| match cavity.vertex {
            Some(position) if v == next => position,
            _ => self.positions[v as usize],
        };
        match cavity.new.iter().position(|(corners, _)| !is_positive(corners.map(position))) {
            Some(index) => Err(CavityError::NotPositive(index)),
            None => Ok(()),
        }
    }

    /// Finds for each face of the new tets and of the cavity's boundary the one that it meets.
    fn fit(&self, cavity: Cavity<'_>) -> Result<Fit, CavityError> {
        let mut faces = self.owned_faces(cavity);
        faces.sort_unstable_by_key(|&(key, _, owner)| (key, owner));
        let mut fit = Fit { pairs: Vec::with_capacity(faces.len() / 2), walls: Vec::new() };
        for group in faces.chunk_by(|a, b| a.0 == b.0) {
            match *group {
                [(_, even, Owner::Wall(id)), (_, other, owner @ Owner::New(..))] if even != other => {
                    fit.walls.push((owner, id));
                }
                [(_, _, Owner::Wall(_))] => {}
                [(_, even, a), (_, other, b @ Owner::New(..))] if even != other => fit.pairs.push((a, b)),
                [(key, _, owner @ Owner::New(..))] => {
                    let on_wall = |&&(face, _): &&WallFace| sorted_face(face).0 == key;
                    let Some(&(_, id)) = cavity.walls.iter().find(on_wall) else {
                        return Err(CavityError::Face(key));
                    };
                    fit.walls.push((owner, id));
                }
                [(key, _, Owner::Outside(..))] => return Err(CavityError::Open(key)),
                _ => return Err(CavityError::Face(group[0].0)),
            }
        }
        Ok(fit)
    }

    /// The faces of the new tets, and what lies around the cavity as seen from there.
    fn owned_faces(&self, cavity: Cavity<'_>) -> Vec<OwnedFace> {
        let mut faces = Vec::with_capacity(8 * cavity.new.len());
        for &tet in cavity.old {
            for corner in 0..4 {
                let (key, even) = sorted_face(self.face(tet, corner));
                let owner = match self.across(tet, corner) {
                    Across::Wall(id) => Owner::Wall(id),
                    Across::Tet(outside) if cavity.old.contains(&outside) => continue,
                    Across::Tet(outside) => {
                        let back = self.neighbours[outside as usize].iter().position(|&n| n == tet);
                        Owner::Outside(outside, back.expect("mutual neighbours"))
                    }
                };
                faces.push((key, !even, owner));
            }
        }
        for (index, (corners, _)) in cavity.new.iter().enumerate() {
            for (corner, face) in FACES.iter().enumerate() {
                let (key, even) = sorted_face(face.map(|c| corners[c]));
                faces.push((key, even, Owner::New(index, corner)));
            }
        }
        faces
    }

    /// Does what was found to fit.
    fn rewire(&mut self, cavity: Cavity<'_>, fit: &Fit) -> Vec<u32> {
        let mut lost: Vec<u32> = cavity.old.iter().flat_map(|&t| self.corners(t)).collect();
        lost.sort_unstable();
        lost.dedup();
        lost.retain(|v| cavity.new.iter().all(|(corners, _)| !corners.contains(v)));
        if let Some(position) = cavity.vertex {
            self.put_vertex(position);
        }
        let slots = self.slots_for(cavity.old, cavity.new.len());
        for (&slot, &(corners, label)) in slots.iter().zip(cavity.new) {
            self.tets[slot as usize] = corners;
            self.labels[slot as usize] = label;
            for vertex in corners {
                self.incident[vertex as usize] = slot;
            }
        }
        for &(a, b) in &fit.pairs {
            let (a, b) = (place(a, &slots), place(b, &slots));
            self.neighbours[a.0 as usize][a.1] = b.0;
            self.neighbours[b.0 as usize][b.1] = a.0;
        }
        for &(owner, id) in &fit.walls {
            let (tet, corner) = place(owner, &slots);
            self.neighbours[tet as usize][corner] = encode(Across::Wall(id));
        }
        for vertex in lost {
            self.incident[vertex as usize] = NONE;
            self.positions[vertex as usize] = [0.0; 3];
            self.free_vertices.push(vertex);
        }
        slots
    }

    fn put_vertex(&mut self, position: [f64; 3]) {
        match self.free_vertices.pop() {
            Some(vertex) => self.positions[vertex as usize] = position,
            None => {
                self.positions.push(position);
                self.incident.push(NONE);
            }
        }
    }

    /// Slots for new tets: those of the old ones first, then free ones, then further ones. Old ones that are
    /// left become free.
    fn slots_for(&mut self, old: &[u32], count: usize) -> Vec<u32> {
        let mut slots = old[..old.len().min(count)].to_vec();
        while slots.len() < count {
            let slot = self.free_tets.pop().unwrap_or_else(|| {
                self.tets.push([NONE; 4]);
                self.neighbours.push([NONE; 4]);
                self.labels.push(0);
                self.tets.len() as u32 - 1
            });
            slots.push(slot);
        }
        for &tet in &old[slots.len().min(old.len())..] {
            self.tets[tet as usize] = [NONE; 4];
            self.neighbours[tet as usize] = [NONE; 4];
            self.labels[tet as usize] = 0;
            self.free_tets.push(tet);
        }
        slots
    }
}

fn place(owner: Owner, slots: &[u32]) -> (u32, usize) {
    match owner {
        Owner::Outside(tet, corner) => (tet, corner),
        Owner::New(index, corner) => (slots[index], corner),
        Owner::Wall(_) => unreachable!("walls have no corners"),
    }
}
