//! What modes look like, from what frames hold of them.

use std::collections::BTreeMap;

use meniscus_io::{Frame, names};
use meniscus_modal::flow::{Basis, EnrichedMode, Sines, streams_at_nodes};
use meniscus_scene::Setup;

use super::basis::{eigenmodes_of, speed_of_one};

/// Modes that are shown, at most.
const MOST: usize = 100;
/// Half waves along a side that frames hold of what is drawn or learnt.
const WAVES: usize = 24;
/// Cells along a side that a mode is shown on, for each half wave of it, and at least.
const CELLS_A_WAVE: usize = 6;
const LEAST_CELLS: usize = 24;

/// A mode at a moment.
pub struct Portrait {
    /// Its name, or its half waves along both sides.
    pub name: String,
    /// The root mean square of its velocity over the box, in m/s, with a sign.
    pub speed: f64,
    /// How many points there are along each side.
    pub points: [usize; 2],
    /// Its stream function at these, from -1 to 1: by x, and in these by y.
    pub values: Vec<f32>,
}

/// What frames hold of modes that are drawn or learnt: see [`names::MODES`].
pub fn shown(basis: &Basis) -> BTreeMap<String, Vec<f64>> {
    let shown = Sines { counts: basis.sines.counts.map(|count| count.min(WAVES)), ..basis.sines.clone() };
    let entry = |(number, mode): (usize, &EnrichedMode)| {
        let vorticity = basis.sines.moved(&mode.vorticity, &shown);
        let stream = vorticity.iter().enumerate().map(|(place, w)| w / shown.eigenvalue(place));
        let counts = shown.counts.map(|count| count as f64);
        let key = format!("{:04} {}", basis.eigenmodes.len() + number, mode.name);
        (key, counts.into_iter().chain(stream).collect())
    };
    basis.enrichment.iter().enumerate().map(entry).collect()
}

/// The modes of a frame of a scene: drawn and learnt ones first.
pub fn portraits(frame: &Frame<2>, setup: &Setup<2>) -> Vec<Portrait> {
    let Some(numbers) = frame.numbers(names::MODES) else { return Vec::new() };
    let flow = &numbers["flow"];
    let basis = eigenmodes_of(setup);
    let of_others = numbers.iter().filter_map(|(key, list)| {
        let (place, name) = key.split_once(' ')?;
        let (place, counts) = (place.parse::<usize>().ok()?, [list[0] as usize, list[1] as usize]);
        let sines = Sines { size: basis.sines.size, counts };
        // A coefficient of one is one of the sum of w² / λ.
        let speed = 0.5 * flow[place];
        Some(portrait(name.to_owned(), speed, &sines, &list[2..]))
    });
    let squares = basis.squares();
    let of_eigenmodes = basis.eigenmodes.iter().enumerate().map(|(place, &[k, l])| {
        let sines = Sines { size: basis.sines.size, counts: [k, l] };
        let mut stream = vec![0.0; sines.len()];
        stream[sines.place([k, l])] = 1.0;
        portrait(format!("{k}x{l}"), flow[place] * speed_of_one(squares[place], &basis), &sines, &stream)
    });
    of_others.chain(of_eigenmodes).take(MOST).collect()
}

/// Of a sum of sines.
fn portrait(name: String, speed: f64, sines: &Sines, stream: &[f64]) -> Portrait {
    let cells = sines.counts.map(|count| (CELLS_A_WAVE * count).max(LEAST_CELLS));
    let vorticity: Vec<f64> =
        stream.iter().enumerate().map(|(place, s)| s * sines.eigenvalue(place)).collect();
    let streams = streams_at_nodes(sines, &vorticity, cells);
    let most = streams.iter().fold(f64::MIN_POSITIVE, |most: f64, s| most.max(s.abs()));
    let values = streams.iter().map(|s| (s / most) as f32).collect();
    Portrait { name, speed, points: cells.map(|count| count + 1), values }
}
