//! What points, vertices and triangles have.

use std::borrow::Cow;
use std::collections::BTreeMap;

use meniscus_core::parallel;
use meniscus_core::serde_array::bulk;
use serde::{Deserialize, Serialize};

use super::faces::{from_planes_by_axis, largest, quantise, restore};
use super::planes::{differences, sums, to_planes};

/// Attributes by name.
pub type Attributes<'a, const D: usize> = BTreeMap<String, Attribute<'a, D>>;

/// A value for each of what a channel holds.
#[derive(Clone, Debug, PartialEq)]
pub enum Attribute<'a, const D: usize> {
    /// Numbers, stored as velocities are.
    Scalars(Cow<'a, [f32]>),
    /// Vectors, as velocities.
    Vectors(Cow<'a, [[f32; D]]>),
    /// Whole numbers, exact.
    Labels(Cow<'a, [u32]>),
}

/// The same, with a copy of what they borrowed.
pub(super) fn into_owned<const D: usize>(attributes: Attributes<D>) -> Attributes<'static, D> {
    attributes.into_iter().map(|(name, attribute)| (name, attribute.into_owned())).collect()
}

impl<const D: usize> Attribute<'_, D> {
    fn into_owned(self) -> Attribute<'static, D> {
        match self {
            Self::Scalars(values) => Attribute::Scalars(Cow::Owned(values.into_owned())),
            Self::Vectors(values) => Attribute::Vectors(Cow::Owned(values.into_owned())),
            Self::Labels(values) => Attribute::Labels(Cow::Owned(values.into_owned())),
        }
    }

    /// For how many there is a value.
    fn count(&self) -> usize {
        match self {
            Self::Scalars(values) => values.len(),
            Self::Vectors(values) => values.len(),
            Self::Labels(values) => values.len(),
        }
    }
}

/// Attributes by name, as they are stored.
#[derive(Serialize, Deserialize)]
pub(super) struct PackedAttributes(Vec<(String, PackedAttribute)>);

impl PackedAttributes {
    /// The attributes of what comes in groups of so many, near each other.
    pub(super) fn new<const D: usize>(attributes: &Attributes<D>, groups: &[u32]) -> Self {
        let total: usize = groups.iter().map(|&count| count as usize).sum();
        let pack = |(name, attribute): (&String, &Attribute<D>)| {
            assert_eq!(attribute.count(), total, "everything has its {name}");
            (name.clone(), PackedAttribute::new(attribute, groups))
        };
        Self(attributes.iter().map(pack).collect())
    }

    pub(super) fn unpack<const D: usize>(&self, groups: &[u32]) -> Result<Attributes<'static, D>, String> {
        let mut attributes = Attributes::new();
        for (name, packed) in &self.0 {
            if attributes.insert(name.clone(), packed.unpack(name, groups)?).is_some() {
                return Err(format!("it has two attributes {name}"));
            }
        }
        Ok(attributes)
    }
}

#[derive(Serialize, Deserialize)]
enum PackedAttribute {
    Scalars(PackedNumbers),
    Vectors(PackedNumbers),
    Labels(#[serde(with = "bulk")] Vec<u32>),
}

impl PackedAttribute {
    fn new<const D: usize>(attribute: &Attribute<D>, groups: &[u32]) -> Self {
        match attribute {
            Attribute::Scalars(values) => {
                Self::Scalars(PackedNumbers::new::<1>(bytemuck::cast_slice(values), groups))
            }
            Attribute::Vectors(values) => Self::Vectors(PackedNumbers::new(values, groups)),
            Attribute::Labels(values) => Self::Labels(values.to_vec()),
        }
    }

    fn unpack<const D: usize>(&self, name: &str, groups: &[u32]) -> Result<Attribute<'static, D>, String> {
        match self {
            Self::Scalars(packed) => {
                let values = packed.unpack::<1>(name, groups)?;
                Ok(Attribute::Scalars(Cow::Owned(values.into_iter().flatten().collect())))
            }
            Self::Vectors(packed) => Ok(Attribute::Vectors(Cow::Owned(packed.unpack(name, groups)?))),
            Self::Labels(values) => {
                let count: usize = groups.iter().map(|&count| count as usize).sum();
                match values.len() == count {
                    true => Ok(Attribute::Labels(Cow::Owned(values.clone()))),
                    false => Err(format!("its {name} is not that of {count}")),
                }
            }
        }
    }
}

/// Vectors relative to the largest component of their group.
#[derive(Serialize, Deserialize)]
struct PackedNumbers {
    /// The largest component of each group.
    #[serde(with = "bulk")]
    largest: Vec<f32>,
    /// Components, axis by axis, less that of the vector before.
    #[serde(with = "bulk")]
    planes: Vec<u8>,
}

impl PackedNumbers {
    fn new<const N: usize>(vectors: &[[f32; N]], groups: &[u32]) -> Self {
        let mut fastest = Vec::with_capacity(groups.len());
        let mut packed = vec![Vec::with_capacity(vectors.len()); N];
        let mut rest = vectors;
        for &count in groups {
            let group = rest.split_off(..count as usize).expect("groups hold every vector");
            let most = largest(group.as_flattened().iter().copied());
            for (axis, packed) in packed.iter_mut().enumerate() {
                packed.extend(group.iter().map(|v| quantise(v[axis], most)));
            }
            fastest.push(most);
        }
        let planes = parallel::map_parts_with(packed, || (), |_, _, v| to_planes(&differences(v)));
        Self { largest: fastest, planes: planes.concat() }
    }

    fn unpack<const N: usize>(&self, name: &str, groups: &[u32]) -> Result<Vec<[f32; N]>, String> {
        if self.largest.len() != groups.len() {
            return Err(format!("its {name} is not in {} groups", groups.len()));
        }
        let count = groups.iter().map(|&count| count as usize).sum();
        let mut packed = from_planes_by_axis(&self.planes, N, count, &format!("its {name}"))?;
        packed.iter_mut().for_each(|values| sums(values));
        let mut vectors = Vec::with_capacity(count);
        for (&count, &largest) in groups.iter().zip(&self.largest) {
            for _ in 0..count {
                let k = vectors.len();
                vectors.push(std::array::from_fn(|a| restore(packed[a][k], largest)));
            }
        }
        Ok(vectors)
    }
}
