//! Why a shape or a mesh is refused.

use crate::vector::norm;

/// Why a shape cannot be made.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum ShapeError {
    /// A size that is zero, negative or not a number.
    #[error("{shape}: {quantity} is {value}; give a finite number greater than zero")]
    NotPositive {
        /// The kind of shape.
        shape: &'static str,
        /// What has the wrong value.
        quantity: &'static str,
        /// The value.
        value: f64,
    },
    /// A coordinate that is infinite or not a number.
    #[error("{shape}: {quantity} holds {value}; give finite numbers")]
    NotFinite {
        /// The kind of shape.
        shape: &'static str,
        /// What has the wrong value.
        quantity: &'static str,
        /// The value.
        value: f64,
    },
    /// A vector that should give a direction but has none.
    #[error(
        "{shape}: {quantity} has no direction (its length is {length}); give a vector of non-zero, finite length"
    )]
    NoDirection {
        /// The kind of shape.
        shape: &'static str,
        /// What has no direction.
        quantity: &'static str,
        /// Its length.
        length: f64,
    },
    /// A box whose corners are in the wrong order, or that has no thickness.
    #[error(
        "box: along axis {axis} the lower corner ({lower}) must lie below the upper one ({upper}); swap them or \
         give the box a thickness"
    )]
    InvertedBox {
        /// The axis, from 0.
        axis: usize,
        /// The lower corner along the axis.
        lower: f64,
        /// The upper corner along the axis.
        upper: f64,
    },
    /// A union or intersection of nothing.
    #[error("{0} of no shapes; list at least one")]
    NoShapes(&'static str),
    /// A scale along the axes that would leave none of the kinds of shapes.
    #[error("{shape}: factors that differ from axis to axis would leave no {shape}; {fix}")]
    UnevenScale {
        /// The kind of shape.
        shape: &'static str,
        /// What to do instead.
        fix: &'static str,
    },
    /// A mesh that is no solid any more once it has been scaled.
    #[error("the scaled mesh is no solid: {0}")]
    ScaledMesh(#[from] MeshError),
    /// A line that bounds no polygon.
    #[error("polygon: {0}")]
    Polygon(#[from] PolygonError),
}

/// Why a line does not bound a polygon.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum PolygonError {
    /// Too few corners that differ from those before them.
    #[error("it has {count} different corners; give three at least")]
    TooFew {
        /// How many there are.
        count: usize,
    },
    /// More corners than anyone needs.
    #[error("it has {count} corners; give {most} at most")]
    TooMany {
        /// How many there are.
        count: usize,
        /// How many there may be.
        most: usize,
    },
    /// A coordinate that is infinite or not a number.
    #[error("corner {corner} is {position:?}; give finite numbers")]
    NotFinite {
        /// The corner, from 0.
        corner: usize,
        /// Where it is.
        position: [f64; 2],
    },
    /// All corners lie on a line.
    #[error("its corners enclose nothing; give corners that do not lie on a line")]
    Empty,
    /// Edges that meet.
    #[error("its edges {} and {} cross or touch; list the corners in their order along the outline", edges[0], edges[1])]
    Crossing {
        /// The corners that they begin at, from 0.
        edges: [usize; 2],
    },
    /// A mesh that is not flat.
    #[error("the mesh is {height} m high; give one that is flat, with the same z everywhere")]
    NotFlat {
        /// The difference between its largest and its least z, in m.
        height: f64,
    },
    /// A mesh with holes or in several pieces.
    #[error(
        "the mesh has several outlines; give one in one piece and without holes, with all triangles seen from the same side"
    )]
    SeveralOutlines,
}

/// Why a triangle mesh does not bound a solid.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum MeshError {
    /// No triangle, or none with three different corners.
    #[error("the mesh has no triangles with three different corners; give a closed surface")]
    Empty,
    /// A coordinate that is infinite or not a number.
    #[error("vertex {vertex} of the mesh is {position:?}; give finite coordinates")]
    NotFinite {
        /// The vertex, from 0.
        vertex: usize,
        /// Its position.
        position: [f64; 3],
    },
    /// A triangle that refers to a vertex that does not exist.
    #[error("triangle {triangle} of the mesh uses vertex {vertex}, but the vertices are 0 to {}", vertices.wrapping_sub(1))]
    NoSuchVertex {
        /// The triangle, from 0.
        triangle: usize,
        /// The vertex it asks for.
        vertex: u32,
        /// How many vertices there are.
        vertices: usize,
    },
    /// Edges with a triangle on one side only.
    #[error(
        "the mesh is not closed: {count} of its edges belong to only one triangle, one of them near {near:?}; fill \
         the holes, and join vertices that should be one"
    )]
    OpenEdges {
        /// How many there are.
        count: usize,
        /// The middle of one of them.
        near: [f64; 3],
    },
    /// Edges with more than two triangles.
    #[error(
        "the mesh is not a manifold: {count} of its edges belong to more than two triangles, one of them near \
         {near:?}; remove duplicate and inner triangles, and separate parts that touch along an edge"
    )]
    NonManifoldEdges {
        /// How many there are.
        count: usize,
        /// The middle of one of them.
        near: [f64; 3],
    },
    /// Neighbouring triangles that disagree about which side is out.
    #[error(
        "the mesh is not consistently oriented: across {count} of its edges the triangles face opposite sides, for \
         example triangles {} and {} near {near:?}; reverse one of them, or recompute the normals outwards",
        triangles[0],
        triangles[1]
    )]
    InconsistentOrientation {
        /// How many such edges there are.
        count: usize,
        /// The two triangles of one of them, from 0.
        triangles: [usize; 2],
        /// The middle of that edge.
        near: [f64; 3],
    },
    /// A flat surface, or parts whose volumes cancel.
    #[error(
        "the mesh encloses no volume ({volume:e}); give it a thickness, and orient all of its separate parts outwards"
    )]
    NoVolume {
        /// The signed volume.
        volume: f64,
    },
}

pub(super) fn require_finite(
    shape: &'static str,
    quantity: &'static str,
    values: &[f64],
) -> Result<(), ShapeError> {
    match values.iter().find(|v| !v.is_finite()) {
        Some(&value) => Err(ShapeError::NotFinite { shape, quantity, value }),
        None => Ok(()),
    }
}

pub(super) fn require_positive(
    shape: &'static str,
    quantity: &'static str,
    value: f64,
) -> Result<(), ShapeError> {
    if value > 0.0 && value.is_finite() {
        Ok(())
    } else {
        Err(ShapeError::NotPositive { shape, quantity, value })
    }
}

/// The unit vector along `vector` and the length of `vector`.
pub(super) fn unit<const N: usize>(
    shape: &'static str,
    quantity: &'static str,
    vector: [f64; N],
) -> Result<([f64; N], f64), ShapeError> {
    let length = norm(vector);
    if length > 0.0 && length.is_finite() {
        Ok((vector.map(|x| x / length), length))
    } else {
        Err(ShapeError::NoDirection { shape, quantity, length })
    }
}
