//! Walls that let go of the liquid.

use meniscus_core::grid::{Slot, block_len};
use meniscus_linalg::{BoundedInfo, Operator, SolveError, SolveParams, solve_bounded};
use rayon::prelude::*;

use super::Stored;
use super::faces::{Between, Faces};

/// Whether what closes the lower face of a cell along an axis lets go of the liquid. It is asked for only where a face of a liquid
/// cell is not wholly open.
pub type SeparatingFace<'a, const D: usize> = &'a (dyn Fn(usize, [usize; D]) -> bool + Sync);

/// The tolerance to which the pressure must be known to tell where air can get in.
const ROUGH: f64 = 1e-3;

/// How the cells at walls that let go were solved for.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Separation<const D: usize> {
    /// The cells at such walls whose pressure is that of the air, each with the rate at which the liquid in it leaves the wall, in 1/s:
    /// its divergence.
    pub cells: Vec<(Slot, f64)>,
    /// The largest |min(q, flux)| of a cell at such a wall, as a part of the largest |q|: see the [module](super).
    pub complementarity: f64,
    /// Linear systems that were solved.
    pub rounds: usize,
}

/// The liquid cells at walls that let go, in order.
pub(super) fn wall_cells<T: Stored, const D: usize>(faces: &Faces<T, D>) -> Vec<usize> {
    let Some(separates) = faces.liquid().separates else { return Vec::new() };
    let of_block = |block: usize| -> Vec<usize> {
        let slots = (0..block_len::<D>()).map(|local| Slot { block, local });
        let is_at_wall = |slot: &Slot| faces.is_liquid(*slot) && faces.touches_closed(*slot, separates);
        slots.filter(is_at_wall).map(Slot::flat::<D>).collect()
    };
    (0..faces.blocks().len()).into_par_iter().map(of_block).collect::<Vec<_>>().concat()
}

/// Solves for pressures that are not negative in `walls`, of which with bubbles only those count that air can reach.
pub(super) fn solve_with_walls<T: Stored, const D: usize>(
    faces: &Faces<T, D>,
    operator: &Operator<D>,
    walls: Vec<usize>,
    rhs: &[f64],
    solution: &mut [f64],
    params: &SolveParams,
    memory: &mut meniscus_linalg::Workspace,
) -> Result<BoundedInfo, SolveError> {
    if faces.liquid().bubbles.is_none() {
        return solve_bounded(operator, &walls, rhs, solution, params, memory);
    }
    let mut reached: Vec<usize> =
        walls.iter().copied().filter(|&i| faces.touches_open_air(slot_of::<D>(i))).collect();
    let mut rough = SolveParams { tolerance: params.tolerance.max(ROUGH), ..*params };
    let mut before = (0, 0);
    loop {
        let mut info = solve_bounded(operator, &reached, rhs, solution, &rough, memory)?;
        info.rounds += before.0;
        info.solve.iterations += before.1;
        let more = reach_on(faces, &walls, &reached, &info.active, solution);
        if more.is_empty() && rough.tolerance <= params.tolerance {
            return Ok(info);
        }
        before = (info.rounds, info.solve.iterations);
        if more.is_empty() {
            rough = *params;
        }
        reached.extend(more);
        reached.sort_unstable();
    }
}

/// The cells of the walls that suction would open to the air: of negative pressure, and next to a cell that leaves its wall or to another such
/// cell.
fn reach_on<T: Stored, const D: usize>(
    faces: &Faces<T, D>,
    walls: &[usize],
    reached: &[usize],
    leaving: &[usize],
    pressure: &[f64],
) -> Vec<usize> {
    let mut is_sucked = vec![false; faces.blocks().slots()];
    walls.iter().filter(|&&i| pressure[i] < 0.0).for_each(|&i| is_sucked[i] = true);
    reached.iter().for_each(|&i| is_sucked[i] = false);
    let (mut waiting, mut more) = (leaving.to_vec(), Vec::new());
    while let Some(cell) = waiting.pop() {
        let Slot { block, local } = slot_of::<D>(cell);
        faces.for_each_of_cell(block, local, |axis, side, face| {
            let other = faces.blocks().step(Slot { block, local }, axis, side).map(Slot::flat::<D>);
            if let (Between::Liquid, Some(other)) = (face.between, other)
                && std::mem::take(&mut is_sucked[other])
            {
                waiting.push(other);
                more.push(other);
            }
        });
    }
    more
}

pub(super) fn slot_of<const D: usize>(flat: usize) -> Slot {
    Slot { block: flat / block_len::<D>(), local: flat % block_len::<D>() }
}
