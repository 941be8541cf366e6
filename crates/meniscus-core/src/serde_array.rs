//! Serde for what the simulation's state is made of: arrays whose length is a const generic, which
//! serde does not know, and bulk data, which element by element would take seconds.
//!
//! The modules are for `#[serde(with = "...")]`. Bulk data is stored as the bytes it has in memory,
//! little-endian on every machine that compiles this.

use std::marker::PhantomData;

use bytemuck::Pod;
use serde::de::{Error, SeqAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

#[cfg(target_endian = "big")]
compile_error!("bulk data is stored as it lies in memory, which must be little-endian");

/// Arrays `[T; N]`, as tuples.
pub mod array {
    use serde::ser::SerializeTuple;

    use super::*;

    /// Writes the array element by element.
    pub fn serialize<T: Serialize, S: Serializer, const N: usize>(
        array: &[T; N],
        serializer: S,
    ) -> Result<S::Ok, S::Error> {
        let mut tuple = serializer.serialize_tuple(N)?;
        for element in array {
            tuple.serialize_element(element)?;
        }
        tuple.end()
    }

    /// Reads exactly `N` elements.
    pub fn deserialize<'de, T: Deserialize<'de>, D: Deserializer<'de>, const N: usize>(
        deserializer: D,
    ) -> Result<[T; N], D::Error> {
        deserializer.deserialize_tuple(N, ArrayVisitor(PhantomData))
    }

    struct ArrayVisitor<T, const N: usize>(PhantomData<T>);

    impl<'de, T: Deserialize<'de>, const N: usize> Visitor<'de> for ArrayVisitor<T, N> {
        type Value = [T; N];

        fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
            write!(f, "an array of {N}")
        }

        fn visit_seq<A: SeqAccess<'de>>(self, mut elements: A) -> Result<[T; N], A::Error> {
            let mut array = Vec::with_capacity(N);
            while array.len() < N {
                let element = elements.next_element()?;
                array.push(element.ok_or_else(|| Error::invalid_length(array.len(), &self))?);
            }
            array.try_into().map_err(|array: Vec<T>| Error::invalid_length(array.len(), &"an array"))
        }
    }
}

/// Slices and vectors of plain values, as one string of bytes.
pub mod bulk {
    use super::*;

    /// Writes the bytes of the values, at the speed of a copy.
    pub fn serialize<T: Pod, S: Serializer>(values: &[T], serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_bytes(bytemuck::cast_slice(values))
    }

    /// Reads values that fill all the bytes.
    pub fn deserialize<'de, T: Pod, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<T>, D::Error> {
        deserializer.deserialize_bytes(BulkVisitor(PhantomData))
    }

    struct BulkVisitor<T>(PhantomData<T>);

    impl<T: Pod> Visitor<'_> for BulkVisitor<T> {
        type Value = Vec<T>;

        fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
            write!(f, "bytes, {} a value", size_of::<T>())
        }

        /// Allocates as much as the input holds, never what it merely claims.
        fn visit_bytes<E: Error>(self, bytes: &[u8]) -> Result<Vec<T>, E> {
            if !bytes.len().is_multiple_of(size_of::<T>()) {
                return Err(E::invalid_length(bytes.len(), &self));
            }
            let mut values = vec![T::zeroed(); bytes.len() / size_of::<T>()];
            bytemuck::cast_slice_mut(&mut values).copy_from_slice(bytes);
            Ok(values)
        }
    }
}

/// Optional vectors of plain values, like [`bulk`].
pub mod bulk_option {
    use super::*;

    /// Writes the bytes of the values where there are any.
    pub fn serialize<T: Pod, S: Serializer>(
        values: &Option<Vec<T>>,
        serializer: S,
    ) -> Result<S::Ok, S::Error> {
        values.as_deref().map(Stored).serialize(serializer)
    }

    /// Reads what [`serialize`] wrote.
    pub fn deserialize<'de, T: Pod, D: Deserializer<'de>>(
        deserializer: D,
    ) -> Result<Option<Vec<T>>, D::Error> {
        Ok(Option::<Loaded<T>>::deserialize(deserializer)?.map(|loaded| loaded.0))
    }

    #[derive(Serialize)]
    #[serde(bound = "T: Pod")]
    struct Stored<'a, T>(#[serde(with = "bulk")] &'a [T]);

    #[derive(Deserialize)]
    #[serde(bound = "T: Pod")]
    struct Loaded<T>(#[serde(with = "bulk")] Vec<T>);
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use proptest::prelude::*;
    use serde::de::DeserializeOwned;

    use crate::grid::{Blocks, FaceField, Field, Grid};
    use crate::particles::Particles;
    use crate::shape::{RigidTransform, Rotation};

    fn there_and_back<T: serde::Serialize + DeserializeOwned>(value: &T) -> T {
        postcard::from_bytes(&postcard::to_stdvec(value).unwrap()).unwrap()
    }

    /// Damage gives an error or another valid value, and never panics.
    fn survives_damage<T: serde::Serialize + DeserializeOwned>(value: &T, at: usize, xor: u8) {
        let mut bytes = postcard::to_stdvec(value).unwrap();
        let at = at % bytes.len();
        bytes[at] ^= xor;
        let _ = postcard::from_bytes::<T>(&bytes);
        bytes.truncate(at);
        assert!(postcard::from_bytes::<T>(&bytes).is_err(), "cut at {at}");
    }

    fn check_fields<const D: usize>(cells: [usize; D], mask: u64, at: usize, xor: u8) {
        let active = |c: [usize; D]| mask >> (c.iter().fold(0, |h, &c| h * 5 + c) % 64) & 1 == 1;
        let blocks = Arc::new(Blocks::new(cells, active));
        let name = |cell: [usize; D]| cell.iter().fold(0.0, |h, &c| 100.0 * h + c as f32);
        let field = Field::from_fn(blocks.clone(), -1.0f32, name);
        let faces = FaceField::from_fn(blocks.clone(), 0.5f64, |axis, c| f64::from(name(c)) + axis as f64);
        assert_eq!(there_and_back(&*blocks), *blocks);
        assert_eq!(there_and_back(&field), field);
        assert_eq!(there_and_back(&faces), faces);
        survives_damage(&*blocks, at, xor);
        survives_damage(&field, at, xor);
        survives_damage(&faces, at, xor);
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]
        #[test]
        fn grids_and_fields_come_back(mask: u64, at: usize, xor in 1u8..) {
            check_fields([20, 33], mask, at, xor);
            check_fields([9, 16, 23], mask, at, xor);
        }

        #[test]
        fn particles_and_poses_come_back(
            points in prop::collection::vec(prop::array::uniform3(-1e3f32..1e3), 0..40),
            affine: bool,
            angle in -4.0f64..4.0,
            at: usize,
            xor in 1u8..,
        ) {
            let mut particles = Particles::at(points.clone());
            particles.velocity = points.iter().rev().copied().collect();
            particles.affine = affine.then(|| points.iter().map(|&p| [p; 3]).collect());
            prop_assert_eq!(&there_and_back(&particles), &particles);
            survives_damage(&particles, at, xor);
            let rotation = Rotation::from_axis_angle([1.0, 2.0, -0.5], angle).unwrap();
            let pose = RigidTransform { rotation, translation: [1.0, -2.0, angle] };
            prop_assert_eq!(there_and_back(&pose), pose);
            let grid = Grid { origin: [angle, 0.0], dx: 0.25, cells: [300, 7] };
            prop_assert_eq!(there_and_back(&grid), grid);
            survives_damage(&grid, at, xor);
        }
    }

    #[test]
    fn what_cannot_be_is_refused() {
        let blocks = |cells: (usize, usize), coords: &[[u32; 2]]| {
            let coords: &[u8] = bytemuck::cast_slice(coords);
            let bytes = postcard::to_stdvec(&(cells, coords.len(), ())).unwrap();
            let bytes = [bytes, coords.to_vec()].concat();
            postcard::from_bytes::<Blocks<2>>(&bytes)
        };
        assert!(blocks((20, 20), &[[0, 0], [1, 1], [1, 0]]).is_ok());
        assert!(blocks((20, 20), &[[1, 1], [0, 0], [1, 0]]).is_err(), "out of order");
        assert!(blocks((20, 20), &[[0, 0], [1, 0], [1, 1]]).is_err(), "red after black");
        assert!(blocks((20, 20), &[[0, 0], [0, 0]]).is_err(), "repeated");
        assert!(blocks((20, 20), &[[0, 4]]).is_err(), "outside");
        assert!(blocks((usize::MAX, usize::MAX), &[]).is_err(), "absurd");
        assert!(blocks((1 << 40, 8), &[]).is_err(), "absurd");

        let short = (Blocks::<2>::all([8, 8]), (4usize, 0.0f32), (8usize, [0.0f32; 2]));
        let bytes = postcard::to_stdvec(&short).unwrap();
        assert!(postcard::from_bytes::<Field<f32, 2>>(&bytes).is_err(), "too few values");

        let sheared = postcard::to_stdvec(&([1.0, 0.5], [0.0, 1.0])).unwrap();
        assert!(postcard::from_bytes::<Rotation<2>>(&sheared).is_err());
        let grid = postcard::to_stdvec(&((0.0, 0.0), -1.0, (8usize, 8usize))).unwrap();
        assert!(postcard::from_bytes::<Grid<2>>(&grid).is_err());
    }
}
