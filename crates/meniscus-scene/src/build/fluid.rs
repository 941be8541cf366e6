//! A fluid that fills the domain, and smoke.

use meniscus_core::stroke::Stroke;
use meniscus_core::whirls::Whirls;

use super::Builder;
use crate::content::{self, AirModel, Content, Method};
use crate::document::Node;
use crate::setup::{FluidSetup, SmokeSetup};

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
        let whirls = self.whirls(content, &fluid.wave, node.at("wave"));
        let strokes = self.strokes(&fluid.stroke, node.at("stroke"));
        Some(Some(FluidSetup { velocity, whirls: whirls?, strokes: strokes? }))
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
            let count = content.modes.as_ref().map_or(100, |modes| modes.count as usize);
            let needed = number_among_modes(size, half_waves);
            if content.method == Method::Modes && needed > count {
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
