//! A frame as it is stored.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use meniscus_core::grid::{Blocks, Field, Grid};
use meniscus_core::shape::RigidTransform;
use serde::{Deserialize, Serialize};

use super::bubbles::FrameBubble;
use super::distance::{PackedDistance, near_liquid};
use super::faces::PackedFaces;
use super::labels::{NO_AIR, OPEN_AIR, PackedLabels};
use super::mesh::PackedMesh;
use super::points::PackedPoints;
use super::{Channel, Frame, names};

#[derive(Serialize, Deserialize)]
pub(super) struct Packed<const D: usize> {
    frame: u32,
    time: f64,
    pub(super) grid: Grid<D>,
    /// Of the fields, if there are any.
    pub(super) blocks: Option<Blocks<D>>,
    pub(super) channels: BTreeMap<String, PackedChannel<D>>,
}

#[derive(Serialize, Deserialize)]
pub(super) enum PackedChannel<const D: usize> {
    Distance(PackedDistance),
    Faces(PackedFaces),
    Labels(PackedLabels),
    Points(PackedPoints<D>),
    Mesh(PackedMesh<D>),
    Poses(Vec<RigidTransform<D>>),
    Bubbles(Vec<FrameBubble<D>>),
    Numbers(BTreeMap<String, Vec<f64>>),
}

impl<const D: usize> Packed<D> {
    pub(super) fn new(frame: &Frame<D>) -> Self {
        let level_set = frame.distance(names::LEVEL_SET);
        let mut all = frame.channels.values().filter_map(blocks_of);
        let blocks = all.next().cloned();
        assert!(all.all(|other| Some(other) == blocks.as_ref()), "all fields have the same blocks");
        if let Some(blocks) = &blocks {
            assert_eq!(blocks.cells(), frame.grid.cells, "the blocks are those of the grid");
        }
        let stored = blocks.as_ref().map(|blocks| stored_blocks(blocks, level_set)).unwrap_or_default();
        let pack = |channel: &Channel<D>| match channel {
            Channel::Distance(field) => PackedChannel::Distance(PackedDistance::new(field)),
            Channel::Faces(field) => PackedChannel::Faces(PackedFaces::new(field, &stored)),
            Channel::Labels(field) => PackedChannel::Labels(PackedLabels::new(field, level_set)),
            Channel::Points(points) => PackedChannel::Points(PackedPoints::new(points)),
            Channel::Mesh(mesh) => PackedChannel::Mesh(PackedMesh::new(mesh)),
            Channel::Poses(poses) => PackedChannel::Poses(poses.to_vec()),
            Channel::Bubbles(bubbles) => PackedChannel::Bubbles(bubbles.to_vec()),
            Channel::Numbers(numbers) => PackedChannel::Numbers(BTreeMap::clone(numbers)),
        };
        Self {
            frame: frame.frame,
            time: frame.time,
            grid: frame.grid,
            channels: frame.channels.iter().map(|(name, channel)| (name.clone(), pack(channel))).collect(),
            blocks: blocks.map(|blocks| Blocks::clone(&blocks)),
        }
    }

    pub(super) fn unpack(mut self) -> Result<Frame<'static, D>, String> {
        self.check_bubbles()?;
        let cells = self.blocks.as_ref().map(Blocks::cells);
        if cells.is_some_and(|cells| cells != self.grid.cells) {
            return Err("its blocks are not those of its grid".into());
        }
        let blocks = Arc::new(self.blocks.take().unwrap_or_else(|| Blocks::new(self.grid.cells, |_| false)));
        let level_set = match self.channels.get(names::LEVEL_SET) {
            Some(PackedChannel::Distance(packed)) => Some(packed.unpack(blocks.clone())?),
            _ => None,
        };
        let stored = stored_blocks(&blocks, level_set.as_ref());
        let mut frame = Frame::new(self.frame, self.time, self.grid);
        for (name, packed) in self.channels {
            let channel = match packed {
                PackedChannel::Distance(_) if name == names::LEVEL_SET => continue,
                PackedChannel::Distance(packed) => {
                    Channel::Distance(Cow::Owned(packed.unpack(blocks.clone())?))
                }
                PackedChannel::Faces(packed) => {
                    Channel::Faces(Cow::Owned(packed.unpack(blocks.clone(), &stored)?))
                }
                PackedChannel::Labels(packed) => {
                    Channel::Labels(Cow::Owned(packed.unpack(blocks.clone(), level_set.as_ref())?))
                }
                PackedChannel::Points(packed) => Channel::Points(packed.unpack()?),
                PackedChannel::Mesh(packed) => Channel::Mesh(packed.unpack()?),
                PackedChannel::Poses(poses) => Channel::Poses(Cow::Owned(poses)),
                PackedChannel::Bubbles(bubbles) => Channel::Bubbles(Cow::Owned(bubbles)),
                PackedChannel::Numbers(numbers) => Channel::Numbers(Cow::Owned(numbers)),
            };
            frame.channels.insert(name, channel);
        }
        Ok(match level_set {
            Some(level_set) => frame.with(names::LEVEL_SET, Channel::Distance(Cow::Owned(level_set))),
            None => frame,
        })
    }

    /// The bubbles of a list differ, and cells belong to those that there are.
    fn check_bubbles(&self) -> Result<(), String> {
        let Some(PackedChannel::Bubbles(bubbles)) = self.channels.get(names::BUBBLES) else { return Ok(()) };
        let known: BTreeSet<u32> = bubbles.iter().map(|bubble| bubble.id).chain([OPEN_AIR, NO_AIR]).collect();
        if known.len() != bubbles.len() + 2 {
            return Err("two of its bubbles have the same number".into());
        }
        let Some(PackedChannel::Labels(labels)) = self.channels.get(names::BUBBLE) else { return Ok(()) };
        match labels.known().difference(&known).next() {
            Some(id) => Err(format!("its cells hold a bubble {id} that its list does not")),
            None => Ok(()),
        }
    }
}

fn blocks_of<'a, const D: usize>(channel: &'a Channel<D>) -> Option<&'a Arc<Blocks<D>>> {
    match channel {
        Channel::Distance(field) => Some(field.blocks()),
        Channel::Faces(field) => Some(field.blocks()),
        Channel::Labels(field) => Some(field.blocks()),
        _ => None,
    }
}

/// Which blocks have faces of their own: those near the liquid, if there is a level set.
fn stored_blocks<const D: usize>(blocks: &Blocks<D>, level_set: Option<&Field<f32, D>>) -> Vec<bool> {
    level_set.map_or_else(|| vec![true; blocks.len()], near_liquid)
}
