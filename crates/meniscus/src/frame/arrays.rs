//! Points and fields of a frame as arrays.

use std::ops::Range;

use meniscus_core::grid::{BLOCK_EDGE, FaceField, Field, block_len, cell_in_block, ravel};
use meniscus_core::interpolate::{interpolate, interpolate_faces};
use meniscus_core::parallel;
use meniscus_io::{Channel, names};

use super::{FrameError, Moment};

/// Values in an array of any number of indices, of which the last one changes fastest, as in C and numpy.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Array<T> {
    /// How many values there are of each index.
    pub shape: Vec<usize>,
    /// The values.
    pub values: Vec<T>,
}

impl<T: Copy> Array<T> {
    fn new(shape: Vec<usize>, values: Vec<T>) -> Self {
        debug_assert_eq!(shape.iter().product::<usize>(), values.len());
        Self { shape, values }
    }

    /// The value at some indices.
    ///
    /// # Panics
    /// If there is none.
    pub fn at(&self, indices: &[usize]) -> T {
        assert_eq!(indices.len(), self.shape.len(), "an index for each of {:?}", self.shape);
        let index = indices.iter().zip(&self.shape).fold(0, |index, (&i, &count)| {
            assert!(i < count, "the indices {indices:?} are not in {:?}", self.shape);
            index * count + i
        });
        self.values[index]
    }
}

/// The particles of a frame.
#[derive(Clone, Debug, PartialEq)]
pub struct Particles {
    /// Where they are, in m: an index for the particle, one for the axis.
    pub position: Array<f32>,
    /// Their velocities, in m/s, likewise.
    pub velocity: Array<f32>,
    /// Which fluid each is of: 0 is the liquid, 1 the second liquid.
    pub fluid: Vec<u8>,
}

/// A field as it is stored.
#[derive(Clone, Debug, PartialEq)]
pub struct FieldBlocks {
    /// The first cell of each block: an index for the block, one for the axis.
    pub first_cell: Array<u32>,
    /// The values: an index for the block, one for each axis, and, of vectors, one for the component.
    pub values: Array<f32>,
}

/// A field of either kind.
enum Values<'a, const D: usize> {
    /// Numbers in cells, times a factor.
    Cells(&'a Field<f32, D>, f32),
    Faces(&'a FaceField<f32, D>),
}

impl<const D: usize> Moment<'_, D> {
    pub(super) fn particles(&self) -> Option<Particles> {
        let all: Vec<_> = [names::PARTICLES, names::SECOND_PARTICLES]
            .iter()
            .zip(0..)
            .filter_map(|(name, fluid)| Some((self.frame.points(name)?, fluid)))
            .collect();
        if all.is_empty() {
            return None;
        }
        let (mut position, mut velocity, mut fluid) = (Vec::new(), Vec::new(), Vec::new());
        let grid = &self.frame.grid;
        for (points, number) in all {
            let metres = |x: &[f32; D]| grid.point(x.map(f64::from)).map(|x| x as f32);
            position.extend(points.position.iter().map(metres));
            velocity.extend_from_slice(points.velocity().unwrap_or_default());
            fluid.extend(points.position.iter().map(|_| number));
        }
        let array =
            |vectors: Vec<[f32; D]>| Array::new(vec![vectors.len(), D], vectors.as_flattened().to_vec());
        Some(Particles { position: array(position), velocity: array(velocity), fluid })
    }

    pub(super) fn field(
        &self,
        name: &str,
        within: Option<&[Range<usize>]>,
    ) -> Result<Array<f32>, FrameError> {
        let within = self.within(within)?;
        match self.values(name)? {
            Values::Cells(field, factor) => {
                Ok(dense(&within, &[], |cell, to| to[0] = factor * field.get(cell)))
            }
            Values::Faces(field) => Ok(dense(&within, &[D], |cell, to: &mut [f32]| {
                for (axis, to) in to.iter_mut().enumerate() {
                    let mut next = cell;
                    next[axis] += 1;
                    *to = 0.5 * (field.get(axis, cell) + field.get(axis, next));
                }
            })),
        }
    }

    pub(super) fn labels(
        &self,
        name: &str,
        within: Option<&[Range<usize>]>,
    ) -> Result<Array<u32>, FrameError> {
        let within = self.within(within)?;
        match self.channel(name)? {
            Channel::Labels(field) => Ok(dense(&within, &[], |cell, to| to[0] = field.get(cell))),
            other => Err(other_kind(name, other, "labels")),
        }
    }

    pub(super) fn blocks(&self, name: &str) -> Result<FieldBlocks, FrameError> {
        let values = self.values(name)?;
        let blocks = match &values {
            Values::Cells(field, _) => field.blocks(),
            Values::Faces(field) => field.blocks(),
        };
        let corners =
            (0..blocks.len()).flat_map(|block| blocks.coord(block).map(|c| (c * BLOCK_EDGE) as u32));
        let first_cell = Array::new(vec![blocks.len(), D], corners.collect());
        let mut shape = vec![BLOCK_EDGE; D + 1];
        shape[0] = blocks.len();
        // Blocks are stored with x fastest.
        let place = |local: usize| {
            let mut cell = cell_in_block::<D>(local);
            cell.reverse();
            ravel(cell, [BLOCK_EDGE; D])
        };
        let (n, parts) = match &values {
            Values::Cells(..) => (block_len::<D>(), 1),
            Values::Faces(_) => (block_len::<D>(), D),
        };
        let mut stored = vec![0.0; blocks.len() * n * parts];
        parallel::for_chunks(&mut stored, n * parts, |block, to| {
            for local in 0..n {
                let to = &mut to[parts * place(local)..][..parts];
                match &values {
                    Values::Cells(field, factor) => to[0] = factor * field.block(block)[local],
                    Values::Faces(field) => {
                        for (to, axis) in to.iter_mut().zip(&field.axes) {
                            *to = axis.block(block)[local];
                        }
                    }
                }
            }
        });
        if parts > 1 {
            shape.push(parts);
        }
        Ok(FieldBlocks { first_cell, values: Array::new(shape, stored) })
    }

    pub(super) fn sample(&self, points: &[f64], name: &str) -> Result<Array<f32>, FrameError> {
        let (points, rest) = points.as_chunks::<D>();
        if !rest.is_empty() {
            let count = D * points.len() + rest.len();
            return Err(FrameError::NoPoints { count, dimension: D });
        }
        let grid = &self.frame.grid;
        let in_cells = |point: &[f64; D]| grid.to_cells(*point).map(|x| x as f32);
        Ok(match self.values(name)? {
            Values::Cells(field, factor) => {
                let values = points.iter().map(|point| factor * interpolate(field, in_cells(point)));
                Array::new(vec![points.len()], values.collect())
            }
            Values::Faces(field) => {
                let values = points.iter().flat_map(|point| interpolate_faces(field, in_cells(point)));
                Array::new(vec![points.len(), D], values.collect())
            }
        })
    }

    fn channel(&self, name: &str) -> Result<&Channel<'_, D>, FrameError> {
        self.frame.channels.get(name).ok_or_else(|| FrameError::NoChannel {
            name: name.into(),
            known: self.frame.channels.keys().cloned().collect(),
        })
    }

    fn values(&self, name: &str) -> Result<Values<'_, D>, FrameError> {
        match self.channel(name)? {
            Channel::Distance(field) => Ok(Values::Cells(field, self.frame.grid.dx as f32)),
            Channel::Faces(field) => Ok(Values::Faces(field)),
            other => Err(other_kind(name, other, "a field")),
        }
    }

    /// The ranges of cells of a box, or of the domain.
    fn within(&self, within: Option<&[Range<usize>]>) -> Result<[Range<usize>; D], FrameError> {
        let cells = self.frame.grid.cells;
        let Some(within) = within else { return Ok(cells.map(|count| 0..count)) };
        let is_inside =
            |(range, &count): (&Range<usize>, &usize)| range.start <= range.end && range.end <= count;
        match <[Range<usize>; D]>::try_from(within.to_vec()) {
            Ok(ranges) if ranges.iter().zip(&cells).all(is_inside) => Ok(ranges),
            _ => Err(FrameError::Outside { within: within.to_vec(), cells: cells.to_vec() }),
        }
    }
}

fn other_kind<const D: usize>(name: &str, channel: &Channel<D>, wanted: &'static str) -> FrameError {
    FrameError::OtherKind { name: name.into(), found: channel.kind(), wanted }
}

/// An array of what `f` gives for each cell of a box: values of a shape of their own.
fn dense<T: Copy + Default + Send, const D: usize>(
    within: &[Range<usize>; D],
    each: &[usize],
    f: impl Fn([i64; D], &mut [T]) + Sync,
) -> Array<T> {
    let counts = within.each_ref().map(ExactSizeIterator::len);
    let parts: usize = each.iter().product();
    let shape: Vec<usize> = counts.iter().chain(each).copied().collect();
    let mut values = vec![T::default(); shape.iter().product()];
    // All cells of one x and, in space, one y.
    let row = counts[D - 1] * parts;
    parallel::for_chunks(&mut values, row.max(1), |number, row| {
        let mut cell = [0; D];
        let mut rest = number;
        for axis in (0..D - 1).rev() {
            cell[axis] = (within[axis].start + rest % counts[axis]) as i64;
            rest /= counts[axis];
        }
        for (last, to) in within[D - 1].clone().zip(row.chunks_exact_mut(parts)) {
            cell[D - 1] = last as i64;
            f(cell, to);
        }
    });
    Array { shape, values }
}
