//! A fluid that fills the domain, and smoke.

use meniscus_core::stroke::Stroke;
use meniscus_core::vector::{cross, norm};
use meniscus_core::whirls::Whirls;

use super::Builder;
use crate::content::{self, AirModel, Content, Method};
use crate::document::Node;
use crate::setup::{FluidSetup, SmokeSetup, WaveSetup};

impl<const D: usize> Builder<'_, D> {
    /// The fluid that fills the domain, if there is one.
    pub(super) fn fluid(&mut self, content: &Content, root: &Node) -> Option<Option<FluidSetup<D>>> {
        let Some(fluid) = &content.fluid else { return Some(None) };
        let node = root.at("fluid");
        // Modes refuse them by themselves.
        let is_grid = content.method == Method::Grid;
        let has_bubbles = is_grid && content.air.model != AirModel::default();
        for (is_there, key, what) in
            [(is_grid && !content.liquid.is_empty(), "liquid", "[[liquid]]"), (has_bubbles, "air", "[air]")]
        {
            if let Some(other) = root.key(key).filter(|_| is_there) {
                let message =
                    format!("a scene with [fluid] has no {what}: the fluid fills all of the domain");
                let help = format!("remove {what}, or remove [fluid] to have a surface and air");
                self.problems.error(&other.place, message, "no room for it", help);
                self.problems.also_at(&node.place, "fills the domain");
            }
        }
        let velocity = self.optional_vector(node, "velocity", fluid.velocity.as_deref(), [0.0; D])?;
        let in_space = D == 3 && content.method == Method::Modes;
        let list = node.at("wave");
        let whirls = if in_space { Some(Vec::new()) } else { self.whirls(content, &fluid.wave, list) };
        let waves = if in_space { self.waves(content, &fluid.wave, list) } else { Some(Vec::new()) };
        let strokes = self.strokes(&fluid.stroke, node.at("stroke"));
        Some(Some(FluidSetup { velocity, whirls: whirls?, strokes: strokes?, waves: waves? }))
    }

    fn whirls(&mut self, content: &Content, waves: &[content::Wave], list: &Node) -> Option<Vec<Whirls>> {
        if D != 2 && !waves.is_empty() {
            let help = "remove the waves, or give domain.size two entries";
            self.problems.error(&list.place, "a 3D scene has no waves", "only in 2D", help);
            return None;
        }
        // A half wave of a grid has two cells at least.
        let finest = [0, 1].map(|axis| match content.method {
            Method::Grid => (self.grid.cells[axis] / 2).max(1),
            Method::Modes => MOST_HALF_WAVES,
        });
        let extent = self.domain.extent();
        let size = [extent[0], extent[1]];
        let mut found = Vec::new();
        for (index, wave) in waves.iter().enumerate() {
            let node = list.entry(index).at("half_waves");
            let [k, l] =
                self.entries::<2>(node, &wave.half_waves.iter().map(|k| *k as f64).collect::<Vec<_>>())?;
            let half_waves = [k, l].map(|k| k as usize);
            if (0..2).any(|axis| !(1..=finest[axis]).contains(&half_waves[axis])) {
                let node = list.entry(index).at("half_waves");
                let message =
                    format!("there are no waves of {} by {} halves here", half_waves[0], half_waves[1]);
                let help =
                    format!("give from 1 to {} along x and from 1 to {} along y", finest[0], finest[1]);
                self.problems.error(&node.place, message, "too few or too many", help);
                return None;
            }
            if wave.axis.is_some() {
                let place = &list.entry(index).at("axis").place;
                let help = "remove it, or give domain.size three entries";
                self.problems.error(place, "waves in the plane turn about no axis in it", "only in 3D", help);
                return None;
            }
            let count = content.modes.as_ref().map_or(100, |modes| modes.count as usize);
            let needed = number_among_modes(size, half_waves);
            // Between solids waves are not modes, and what flows is what is nearest to them.
            let is_box = content.modes.as_ref().is_none_or(|modes| modes.domain.is_box());
            if content.method == Method::Modes && is_box && needed > count {
                let place = &list.entry(index).at("half_waves").place;
                let message = format!("these waves are not among the {count} eigenmodes");
                let help = format!("give fewer half waves, or set modes.count to {needed} at least");
                self.problems.error(place, message, "a higher mode", help);
                return None;
            }
            found.push(Whirls { size, half_waves, vorticity: wave.vorticity });
        }
        Some(found)
    }

    /// Waves of a box in space.
    fn waves(&mut self, content: &Content, waves: &[content::Wave], list: &Node) -> Option<Vec<WaveSetup>> {
        let extent = self.domain.extent();
        let size = [extent[0], extent[1], extent[2]];
        let mut found = Vec::new();
        for (index, wave) in waves.iter().enumerate() {
            let node = list.entry(index);
            let given: Vec<f64> = wave.half_waves.iter().map(|k| *k as f64).collect();
            let half_waves = self.entries::<3>(node.at("half_waves"), &given)?.map(|k| k as usize);
            let axis = match &wave.axis {
                Some(axis) => self.entries::<3>(node.at("axis"), axis)?,
                None => [0.0, 0.0, 1.0],
            };
            let place = &node.at("half_waves").place;
            let zeros = half_waves.iter().filter(|k| **k == 0).count();
            if zeros > 1 || half_waves.iter().any(|&k| k > MOST_HALF_WAVES) {
                let help = "give whole numbers from 1 on, of which one may be 0";
                self.problems.error(place, "there are no such waves", "too few or too many", help);
                return None;
            }
            if !turns(size, half_waves, axis) {
                let message = "these waves do not turn about this axis";
                let help = "give another axis: where a number of half waves is 0, it is that axis which they turn about";
                self.problems.error(place, message, "nothing flows", help);
                return None;
            }
            let count = content.modes.as_ref().map_or(100, |modes| modes.count as usize);
            let needed = number_among_modes_in_space(size, half_waves);
            if needed > count {
                let message = format!("these waves are not among the {count} eigenmodes");
                let help = format!("give fewer half waves, or set modes.count to {needed} at least");
                self.problems.error(place, message, "a higher mode", help);
                return None;
            }
            found.push(WaveSetup { half_waves, axis, vorticity: wave.vorticity });
        }
        Some(found)
    }

    fn strokes(&mut self, strokes: &[content::Stroke], list: &Node) -> Option<Vec<Stroke>> {
        if D != 2 && !strokes.is_empty() {
            let help = "remove the strokes, or give domain.size two entries";
            self.problems.error(&list.place, "a 3D scene has no strokes", "only in 2D", help);
            return None;
        }
        let strokes = strokes.iter().enumerate();
        strokes.map(|(index, stroke)| self.stroke(list.entry(index), stroke)).collect()
    }

    pub(super) fn smoke(&mut self, node: &Node, smoke: &content::Smoke) -> Option<SmokeSetup<D>> {
        let shape = self.shape_in_domain(node, &smoke.shape)?;
        let content::Smoke { start, stop, buoyancy, .. } = *smoke;
        self.ordered_times(node, start, stop);
        Some(SmokeSetup { shape, start, stop, buoyancy })
    }
}

/// No mode has more.
const MOST_HALF_WAVES: usize = 4096;

/// The number of a mode among the eigenmodes of a box, from 1: how many have no larger eigenvalue.
fn number_among_modes(size: [f64; 2], half_waves: [usize; 2]) -> usize {
    let eigenvalue = |k: f64, l: f64| (k / size[0]).powi(2) + (l / size[1]).powi(2);
    // A little more, so that modes that share an eigenvalue count.
    let own = (1.0 + 1e-12) * eigenvalue(half_waves[0] as f64, half_waves[1] as f64);
    let most = (own.sqrt() * size[0]) as usize;
    let of_column = |k: usize| {
        let left = own - (k as f64 / size[0]).powi(2);
        if left > 0.0 { (left.sqrt() * size[1]) as usize } else { 0 }
    };
    (1..=most).map(of_column).sum()
}

/// Whether waves turn about an axis: whether their velocity, which is across to both, has a part along an axis that they are not the same along.
fn turns(size: [f64; 3], half_waves: [usize; 3], axis: [f64; 3]) -> bool {
    let k: [f64; 3] = std::array::from_fn(|a| half_waves[a] as f64 / size[a]);
    let across = cross(k, axis);
    let most = norm(k) * norm(axis);
    (0..3).any(|a| half_waves[a] > 0 && across[a].abs() > 1e-9 * most)
}

/// The same in space, where there are two modes for each wave, and one if one of its numbers is 0.
fn number_among_modes_in_space(size: [f64; 3], half_waves: [usize; 3]) -> usize {
    let eigenvalue = |k: usize, axis: usize| (k as f64 / size[axis]).powi(2);
    let own = (1.0 + 1e-12) * (0..3).map(|axis| eigenvalue(half_waves[axis], axis)).sum::<f64>();
    let most =
        |left: f64, axis: usize| if left < 0.0 { None } else { Some((left.sqrt() * size[axis]) as usize) };
    let mut count = 0;
    for k in 0..=most(own, 0).unwrap_or(0) {
        let left = own - eigenvalue(k, 0);
        for l in usize::from(k == 0)..=most(left, 1).unwrap_or(0) {
            let Some(last) = most(left - eigenvalue(l, 1), 2) else { continue };
            // One with no half wave along z, if there are some along both others; and of the rest one or two each.
            let each = if k == 0 || l == 0 { 1 } else { 2 };
            count += usize::from(each == 2) + each * last;
        }
    }
    count
}
