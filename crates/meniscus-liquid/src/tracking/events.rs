//! What happens to bubbles.

use super::matching::Family;
use super::{AirRegion, OPEN_AIR};

/// What happened to bubbles in a substep.
#[derive(Clone, Debug, PartialEq)]
pub struct BubbleEvent {
    /// What kind of event it is.
    pub kind: EventKind,
    /// The bubbles before; [`OPEN_AIR`] is the air outside.
    pub from: Vec<u32>,
    /// The bubbles after.
    pub to: Vec<u32>,
    /// The volumes of the bubbles after, in m³ (2D: m²); of those before if there are none.
    pub volumes: Vec<f64>,
}

/// A kind of event.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EventKind {
    /// A bubble came from nowhere.
    Birth,
    /// Several became fewer, or one joined the open air.
    Merge,
    /// One became several, or was cut off from the open air.
    Split,
    /// A bubble vanished.
    Collapse,
}

/// What happened to a family; nothing if one became one.
pub fn of_family<const D: usize>(
    family: &Family,
    old: &[AirRegion<D>],
    new: &[AirRegion<D>],
) -> Option<BubbleEvent> {
    // Air that no liquid touches is no bubble.
    let old_touched: Vec<&AirRegion<D>> =
        family.old.iter().map(|&k| &old[k]).filter(|b| b.area > 0.0).collect();
    let new_touched: Vec<&AirRegion<D>> =
        family.new.iter().map(|&k| &new[k]).filter(|b| b.area > 0.0).collect();
    let before = family.old.len() + usize::from(family.from_open);
    let after = family.new.len() + usize::from(family.to_open);
    let kind = match (before, after) {
        (1, 1) if !family.from_open && !family.to_open => return None,
        (0, _) => EventKind::Birth,
        (_, 0) => EventKind::Collapse,
        _ if before > after || family.to_open => EventKind::Merge,
        _ => EventKind::Split,
    };
    if old_touched.is_empty() && new_touched.is_empty() {
        return None;
    }
    let mut from: Vec<u32> = old_touched.iter().map(|b| b.id).collect();
    let mut to: Vec<u32> = new_touched.iter().map(|b| b.id).collect();
    let told = if new_touched.is_empty() { &old_touched } else { &new_touched };
    let volumes = told.iter().map(|b| b.volume).collect();
    from.extend(family.from_open.then_some(OPEN_AIR));
    to.extend(family.to_open.then_some(OPEN_AIR));
    Some(BubbleEvent { kind, from, to, volumes })
}
