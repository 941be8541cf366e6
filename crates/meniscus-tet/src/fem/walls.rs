//! Walls: what a vertex may not do.

use meniscus_core::vector::{add_scaled, dot};

use super::element::Block;

/// A vertex on a wall. Its velocity is solved for in a frame of its own, in which the directions that the wall holds are
/// coordinates and drop out: a plane holds one, an edge of two planes two, a corner or a wall without slip all three.
#[derive(Clone, Copy, Debug)]
pub struct WallVertex {
    /// The vertex.
    pub vertex: u32,
    /// An orthonormal frame, those directions first that are held.
    pub frame: [[f64; 3]; 3],
    /// How many directions are held.
    pub held: usize,
    /// The wall's velocity, m/s, which the held directions take.
    pub velocity: [f64; 3],
}

impl WallVertex {
    /// A vertex that takes the wall's velocity.
    pub fn without_slip(vertex: u32, velocity: [f64; 3]) -> Self {
        Self { vertex, frame: Frame::FREE.axes, held: 3, velocity }
    }
}

/// The coordinates in which a vertex's velocity is solved for.
#[derive(Clone, Copy, Debug)]
pub struct Frame {
    /// Orthonormal axes; those of the world where nothing is held.
    pub axes: [[f64; 3]; 3],
    /// How many of the first axes are held.
    pub held: usize,
    /// The velocity along the held axes, m/s.
    pub velocity: [f64; 3],
}

impl Frame {
    /// Nothing is held.
    pub const FREE: Self =
        Self { axes: [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]], held: 0, velocity: [0.0; 3] };

    /// A vector's coordinates.
    pub fn enter(&self, v: [f64; 3]) -> [f64; 3] {
        self.axes.map(|axis| dot(axis, v))
    }

    /// The vector with these coordinates.
    pub fn leave(&self, w: [f64; 3]) -> [f64; 3] {
        std::array::from_fn(|x| (0..3).map(|k| self.axes[k][x] * w[k]).sum())
    }

    /// The coordinates that are held, at their values; the free ones are zero.
    pub fn held_part(&self) -> [f64; 3] {
        let w = self.enter(self.velocity);
        std::array::from_fn(|k| if k < self.held { w[k] } else { 0.0 })
    }

    /// A vector without its part along the held axes.
    pub fn free_part(&self, v: [f64; 3]) -> [f64; 3] {
        self.axes[..self.held].iter().fold(v, |rest, &axis| add_scaled(rest, -dot(axis, v), axis))
    }

    /// The rows of a block in these coordinates.
    pub fn enter_rows<const C: usize>(&self, block: [[f64; C]; 3]) -> [[f64; C]; 3] {
        if self.held == 0 {
            return block;
        }
        self.axes.map(|axis| std::array::from_fn(|c| (0..3).map(|x| axis[x] * block[x][c]).sum()))
    }

    /// The columns of a block in these coordinates.
    pub fn enter_columns<const R: usize>(&self, block: [[f64; 3]; R]) -> [[f64; 3]; R] {
        if self.held == 0 { block } else { block.map(|row| self.enter(row)) }
    }

    /// A block without the rows of what is held.
    pub fn without_held_rows<const C: usize>(&self, mut block: [[f64; C]; 3]) -> [[f64; C]; 3] {
        block[..self.held].fill([0.0; C]);
        block
    }

    /// A block without the columns of what is held.
    pub fn without_held_columns<const R: usize>(&self, mut block: [[f64; 3]; R]) -> [[f64; 3]; R] {
        for row in &mut block {
            row[..self.held].fill(0.0);
        }
        block
    }

    /// A diagonal block whose held rows are those of `s` times the identity.
    pub fn with_held_diagonal(&self, mut block: Block, s: f64) -> Block {
        for (k, row) in block.iter_mut().enumerate().take(self.held) {
            row[k] = s;
        }
        block
    }
}

/// The frame of each velocity; `vertices` names their vertices.
pub fn frames(walls: &[WallVertex], vertices: &[u32], positions: usize) -> Vec<Frame> {
    let mut frame_of = vec![Frame::FREE; positions];
    for wall in walls {
        if wall.held > 0 {
            frame_of[wall.vertex as usize] =
                Frame { axes: wall.frame, held: wall.held, velocity: wall.velocity };
        }
    }
    vertices.iter().map(|&v| frame_of[v as usize]).collect()
}
