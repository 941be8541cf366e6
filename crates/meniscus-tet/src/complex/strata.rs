//! Strata: what of the complex lies inside of a fluid, on interfaces and walls, on the lines where these
//! meet, and at the ends of such lines.
//!
//! They are found from labels and walls when they are asked for, and stored nowhere.

use super::{Across, Complex};

/// Where a vertex or an edge lies, by the number of directions in which it could slide without changing any
/// interface or wall.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Stratum {
    /// Where lines meet or end, corners of the domain, and wherever a neighbourhood is not one of the kinds
    /// below.
    Point,
    /// On a triple line, a contact line on a wall, or an edge between two walls.
    Line,
    /// On an interface or a wall.
    Surface,
    /// Inside a fluid.
    Inside,
}

/// What a face on an interface or wall belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Sheet {
    /// The interface between two labels, the smaller one first.
    Interface(u8, u8),
    /// A wall by its id.
    Wall(u8),
}

/// The faces on interfaces and walls around a vertex, and the strata that they make there.
#[derive(Clone, Debug, Default)]
pub struct StarStrata {
    /// The two other vertices of each face, and what it belongs to. Seen from the side of the larger label,
    /// or from behind the wall, the vertex and these two are anticlockwise. Sorted.
    pub faces: Vec<([u32; 2], Sheet)>,
    /// The other vertices of edges on these faces with the edge's stratum, sorted.
    edges: Vec<(u32, Stratum)>,
    stratum: Option<Stratum>,
}

impl StarStrata {
    /// The stratum of the vertex.
    pub fn vertex(&self) -> Stratum {
        self.stratum.unwrap_or(Stratum::Inside)
    }

    /// The stratum of the edge from the vertex to `other`.
    pub fn edge(&self, other: u32) -> Stratum {
        self.edges.binary_search_by_key(&other, |e| e.0).map_or(Stratum::Inside, |at| self.edges[at].1)
    }

    /// The vertices joined to this one by edges on lines.
    pub fn line_neighbours(&self) -> impl Iterator<Item = u32> + '_ {
        self.edges.iter().filter(|e| e.1 == Stratum::Line).map(|e| e.0)
    }

    /// The walls that the vertex lies on, in ascending order.
    pub fn walls(&self) -> Vec<u8> {
        let mut walls: Vec<u8> = self
            .faces
            .iter()
            .filter_map(|&(_, sheet)| if let Sheet::Wall(id) = sheet { Some(id) } else { None })
            .collect();
        walls.sort_unstable();
        walls.dedup();
        walls
    }

    /// Whether the vertex lies on an interface.
    pub fn is_on_interface(&self) -> bool {
        self.faces.iter().any(|(_, sheet)| matches!(sheet, Sheet::Interface(..)))
    }

    fn classify(&mut self) {
        let mut ends: Vec<(u32, Sheet)> =
            self.faces.iter().flat_map(|&(others, sheet)| others.map(|v| (v, sheet))).collect();
        ends.sort_unstable();
        let mut lines: Vec<Vec<Sheet>> = Vec::new();
        for group in ends.chunk_by(|a, b| a.0 == b.0) {
            let smooth = matches!(*group, [(_, a), (_, b)] if a == b);
            self.edges.push((group[0].0, if smooth { Stratum::Surface } else { Stratum::Line }));
            if !smooth {
                lines.push(group.iter().map(|end| end.1).collect());
            }
        }
        self.stratum = match lines.as_slice() {
            _ if self.faces.is_empty() => None,
            _ if !self.is_connected() => Some(Stratum::Point),
            [] => Some(Stratum::Surface),
            [a, b] if a == b => Some(Stratum::Line),
            _ => Some(Stratum::Point),
        };
    }

    /// Whether the faces hang together by edges at the vertex.
    fn is_connected(&self) -> bool {
        let mut reached = vec![false; self.faces.len()];
        reached[0] = true;
        let mut open = vec![0];
        while let Some(face) = open.pop() {
            for (next, &(others, _)) in self.faces.iter().enumerate() {
                if !reached[next] && others.iter().any(|v| self.faces[face].0.contains(v)) {
                    reached[next] = true;
                    open.push(next);
                }
            }
        }
        reached.into_iter().all(|r| r)
    }
}

impl Complex {
    /// What a face of a tet belongs to, if it lies on an interface or a wall.
    pub fn sheet(&self, tet: u32, corner: usize) -> Option<Sheet> {
        let label = self.label(tet);
        match self.across(tet, corner) {
            Across::Wall(id) => Some(Sheet::Wall(id)),
            Across::Tet(other) if self.label(other) != label => {
                Some(Sheet::Interface(label.min(self.label(other)), label.max(self.label(other))))
            }
            Across::Tet(_) => None,
        }
    }

    /// The vertices on walls in ascending order, each with its walls in ascending order.
    pub fn vertices_on_walls(&self) -> Vec<(u32, Vec<u8>)> {
        let mut pairs: Vec<(u32, u8)> = Vec::new();
        for tet in self.tets() {
            for corner in 0..4 {
                if let Across::Wall(id) = self.across(tet, corner) {
                    pairs.extend(self.face(tet, corner).map(|v| (v, id)));
                }
            }
        }
        pairs.sort_unstable();
        pairs.dedup();
        let walls_of = |group: &[(u32, u8)]| (group[0].0, group.iter().map(|pair| pair.1).collect());
        pairs.chunk_by(|a, b| a.0 == b.0).map(walls_of).collect()
    }

    /// The vertices of a tet on its faces at other labels; some may be named twice.
    pub fn interface_corners(&self, tet: u32) -> impl Iterator<Item = u32> + '_ {
        let at_interface =
            move |&corner: &usize| matches!(self.sheet(tet, corner), Some(Sheet::Interface(..)));
        (0..4).filter(at_interface).flat_map(move |corner| self.face(tet, corner))
    }

    /// The strata around a vertex, given its star.
    pub fn star_strata(&self, vertex: u32, star: &[u32]) -> StarStrata {
        let mut strata = StarStrata::default();
        for &tet in star {
            for corner in 0..4 {
                if self.corners(tet)[corner] == vertex {
                    continue;
                }
                let Some(sheet) = self.sheet(tet, corner) else { continue };
                // An interface is seen from two tets: the one of the smaller label speaks for it.
                if matches!(sheet, Sheet::Interface(smaller, _) if smaller != self.label(tet)) {
                    continue;
                }
                let face = self.face(tet, corner);
                let at = face.iter().position(|&v| v == vertex).expect("a vertex of the face");
                strata.faces.push(([face[(at + 1) % 3], face[(at + 2) % 3]], sheet));
            }
        }
        strata.faces.sort_unstable();
        strata.classify();
        strata
    }

    /// The strata around a vertex.
    pub fn strata(&self, vertex: u32) -> StarStrata {
        let mut star = Vec::new();
        self.star(vertex, &mut star);
        self.star_strata(vertex, &star)
    }
}
