//! Values on the cells and faces of active blocks.

use std::sync::Arc;

use bytemuck::Pod;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::{Blocks, Slot, block_len};
use crate::parallel;
use crate::serde_array::{array, bulk};

/// One value for each cell of the active blocks; everywhere else the `background`.
#[derive(Clone, Debug, PartialEq)]
pub struct Field<T, const D: usize> {
    blocks: Arc<Blocks<D>>,
    background: T,
    values: Vec<T>,
}

impl<T: Copy, const D: usize> Field<T, D> {
    /// A field that is `background` everywhere.
    pub fn new(blocks: Arc<Blocks<D>>, background: T) -> Self {
        let values = vec![background; blocks.slots()];
        Self { blocks, background, values }
    }

    /// The active blocks.
    pub fn blocks(&self) -> &Arc<Blocks<D>> {
        &self.blocks
    }

    /// The value outside the active blocks.
    pub fn background(&self) -> T {
        self.background
    }

    /// The value of a cell.
    #[inline]
    pub fn get(&self, cell: [i64; D]) -> T {
        self.blocks.locate(cell).map_or(self.background, |slot| self[slot])
    }

    /// Sets the value of a cell; says whether its block is active.
    #[inline]
    pub fn set(&mut self, cell: [i64; D], value: T) -> bool {
        let slot = self.blocks.locate(cell);
        if let Some(slot) = slot {
            self.values[slot.flat::<D>()] = value;
        }
        slot.is_some()
    }

    /// All values, block after block, in storage order.
    pub fn values(&self) -> &[T] {
        &self.values
    }

    /// All values, block after block, in storage order.
    pub fn values_mut(&mut self) -> &mut [T] {
        &mut self.values
    }

    /// The values of one block.
    #[inline]
    pub fn block(&self, block: usize) -> &[T] {
        let n = block_len::<D>();
        &self.values[block * n..(block + 1) * n]
    }
}

impl<T: Copy + Send + Sync, const D: usize> Field<T, D> {
    /// A field with the value `f(cell)` in the cells of the active blocks. The blocks at the end of an
    /// axis hold cells past the end of the domain too: `f` is asked for them as for the others.
    pub fn from_fn(blocks: Arc<Blocks<D>>, background: T, f: impl Fn([usize; D]) -> T + Sync) -> Self {
        let mut field = Self::new(blocks.clone(), background);
        parallel::for_chunks(&mut field.values, block_len::<D>(), |block, values| {
            for (local, value) in values.iter_mut().enumerate() {
                *value = f(blocks.cell(Slot { block, local }));
            }
        });
        field
    }

    /// The field on other blocks: the same where both have the block.
    pub fn moved_to(&self, blocks: &Arc<Blocks<D>>) -> Self {
        let mut moved = Self::new(blocks.clone(), self.background);
        parallel::for_chunks(&mut moved.values, block_len::<D>(), |block, values| {
            if let Some(before) = self.blocks.find(blocks.coord(block)) {
                values.copy_from_slice(self.block(before));
            }
        });
        moved
    }
}

impl<T, const D: usize> std::ops::Index<Slot> for Field<T, D> {
    type Output = T;
    #[inline]
    fn index(&self, slot: Slot) -> &T {
        &self.values[slot.flat::<D>()]
    }
}

/// One value for each face of the active blocks: component `a` of cell `c` is the lower face of `c`
/// along axis `a`.
#[derive(Clone, Debug, PartialEq)]
pub struct FaceField<T, const D: usize> {
    /// One field an axis, all over the same blocks.
    pub axes: [Field<T, D>; D],
}

impl<T: Copy, const D: usize> FaceField<T, D> {
    /// A face field that is `background` everywhere.
    pub fn new(blocks: Arc<Blocks<D>>, background: T) -> Self {
        Self { axes: std::array::from_fn(|_| Field::new(blocks.clone(), background)) }
    }

    /// The active blocks.
    pub fn blocks(&self) -> &Arc<Blocks<D>> {
        self.axes[0].blocks()
    }

    /// The value on the lower face of `cell` along `axis`.
    #[inline]
    pub fn get(&self, axis: usize, cell: [i64; D]) -> T {
        self.axes[axis].get(cell)
    }
}

impl<T: Copy + Send + Sync, const D: usize> FaceField<T, D> {
    /// A face field with the value `f(axis, cell)` on the lower faces of the cells of the active blocks;
    /// see [`Field::from_fn`].
    pub fn from_fn(blocks: Arc<Blocks<D>>, background: T, f: impl Fn(usize, [usize; D]) -> T + Sync) -> Self {
        let axis = |axis| Field::from_fn(blocks.clone(), background, |cell| f(axis, cell));
        Self { axes: std::array::from_fn(axis) }
    }

    /// The field on other blocks: the same where both have the block.
    pub fn moved_to(&self, blocks: &Arc<Blocks<D>>) -> Self {
        Self { axes: std::array::from_fn(|axis| self.axes[axis].moved_to(blocks)) }
    }
}

/// What is stored of a [`Field`] besides its blocks.
#[derive(Serialize)]
#[serde(bound = "T: Pod")]
struct StoredValues<'a, T> {
    #[serde(with = "bulk")]
    background: &'a [T],
    #[serde(with = "bulk")]
    values: &'a [T],
}

impl<'a, T: Pod> StoredValues<'a, T> {
    fn of<const D: usize>(field: &'a Field<T, D>) -> Self {
        Self { background: std::slice::from_ref(&field.background), values: &field.values }
    }
}

#[derive(Deserialize)]
#[serde(bound = "T: Pod")]
struct UncheckedValues<T> {
    #[serde(with = "bulk")]
    background: Vec<T>,
    #[serde(with = "bulk")]
    values: Vec<T>,
}

impl<T: Pod> UncheckedValues<T> {
    fn check<const D: usize>(self, blocks: Arc<Blocks<D>>) -> Result<Field<T, D>, String> {
        match self.background[..] {
            [background] if self.values.len() == blocks.slots() => {
                Ok(Field { blocks, background, values: self.values })
            }
            _ => Err(format!("{} values in a field of {} cells", self.values.len(), blocks.slots())),
        }
    }
}

impl<T: Pod, const D: usize> Serialize for Field<T, D> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        (&*self.blocks, StoredValues::of(self)).serialize(serializer)
    }
}

impl<'de, T: Pod, const D: usize> Deserialize<'de> for Field<T, D> {
    fn deserialize<De: Deserializer<'de>>(deserializer: De) -> Result<Self, De::Error> {
        let (blocks, values): (Blocks<D>, UncheckedValues<T>) = Deserialize::deserialize(deserializer)?;
        values.check(Arc::new(blocks)).map_err(serde::de::Error::custom)
    }
}

#[derive(Serialize)]
#[serde(bound = "T: Pod")]
struct StoredFaces<'a, T, const D: usize> {
    blocks: &'a Blocks<D>,
    #[serde(with = "array")]
    axes: [StoredValues<'a, T>; D],
}

impl<T: Pod, const D: usize> Serialize for FaceField<T, D> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        StoredFaces { blocks: &*self.axes[0].blocks, axes: self.axes.each_ref().map(StoredValues::of) }
            .serialize(serializer)
    }
}

#[derive(Deserialize)]
#[serde(bound = "T: Pod")]
struct UncheckedFaces<T, const D: usize> {
    blocks: Blocks<D>,
    #[serde(with = "array")]
    axes: [UncheckedValues<T>; D],
}

impl<'de, T: Pod, const D: usize> Deserialize<'de> for FaceField<T, D> {
    fn deserialize<De: Deserializer<'de>>(deserializer: De) -> Result<Self, De::Error> {
        let UncheckedFaces { blocks, axes } = UncheckedFaces::deserialize(deserializer)?;
        let blocks = Arc::new(blocks);
        let fields: Result<Vec<_>, String> =
            axes.into_iter().map(|axis| axis.check(blocks.clone())).collect();
        let fields = fields.map_err(serde::de::Error::custom)?;
        let Ok(axes) = fields.try_into() else { unreachable!("one field for each axis") };
        Ok(Self { axes })
    }
}
