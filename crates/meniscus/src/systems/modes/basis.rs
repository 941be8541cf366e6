//! The modes of a scene.

use meniscus_core::stroke::Stroke;
use meniscus_modal::flow::{Basis, Dynamics, Sines, drawn};
use meniscus_scene::{EnrichSetup, EnrichSource, Setup};

use super::of;
use super::things::plane;
use crate::warning::Warning;
use crate::world::World;

/// The modes of a scene, and what is to be told of them.
pub fn basis_of<const D: usize>(world: &World<D>) -> (Basis, Vec<Warning>) {
    let setup = &world.setup;
    let mut basis = eigenmodes_of(setup);
    let mut warnings = Vec::new();
    for (entry, enrich) in of(setup).enrich.iter().enumerate() {
        let EnrichSetup { name, source, .. } = enrich;
        let before = basis.len();
        let wanted = match source {
            EnrichSource::Stroke(stroke) => {
                let stroke = Stroke { speed: 1.0, ..stroke.clone() };
                basis.add_mode(name, &drawn(&stroke, &basis.fine_sines()));
                1
            }
            EnrichSource::Waves(waves) => {
                basis.add_mode(name, &sum_of_waves(waves, &basis.fine_sines()));
                1
            }
            EnrichSource::Run { most, .. } => {
                basis.learn_modes(name, &world.learnt[&entry], *most);
                *most
            }
        };
        match basis.len() - before {
            0 => warnings.push(Warning::ModeHoldsNothing { mode: name.clone() }),
            found if found < wanted => {
                warnings.push(Warning::FewModesLearnt { mode: name.clone(), wanted, found });
            }
            _ => {}
        }
    }
    if let Some(most) = of(setup).fine {
        basis.trim(most);
    }
    (basis, warnings)
}

/// The modes of a scene but for those that enrich them.
pub fn eigenmodes_of<const D: usize>(setup: &Setup<D>) -> Basis {
    let sides = setup.grid.cells.map(|n| n as f64 * setup.grid.dx);
    Basis::new(plane(sides), of(setup).count)
}

/// What modes that enrich others have at the start, as coefficients of all modes: those of some entries of the scene.
pub fn amplitudes_at_start<const D: usize>(
    setup: &Setup<D>,
    basis: &Basis,
    is_meant: impl Fn(&str) -> bool,
) -> Vec<f64> {
    let mut flow = vec![0.0; basis.len()];
    let squares = basis.squares();
    for EnrichSetup { name, source, amplitudes } in of(setup).enrich.iter().filter(|e| is_meant(&e.name)) {
        if let EnrichSource::Stroke(stroke) = source
            && stroke.speed != 0.0
        {
            let by = coefficients_of(&drawn(stroke, &basis.sines), basis);
            flow.iter_mut().zip(by).for_each(|(to, part)| *to += part);
        }
        for (number, amplitude) in amplitudes.iter().enumerate() {
            let learnt = format!("{name}-{}", number + 1);
            let is_it = |mode: &str| match source {
                EnrichSource::Run { .. } => mode == learnt,
                _ => mode == name,
            };
            if let Some(place) = basis.enrichment.iter().position(|mode| is_it(&mode.name)) {
                let mode = basis.eigenmodes.len() + place;
                flow[mode] += amplitude / speed_of_one(squares[mode], basis);
            }
        }
    }
    flow
}

/// The root mean square of the velocity over the box of a mode with a coefficient of one, whose square has this integral.
pub fn speed_of_one(square: f64, basis: &Basis) -> f64 {
    (square / basis.sines.area()).sqrt()
}

/// The flow of the modes nearest to one with a vorticity by their sines.
pub fn coefficients_of(vorticity: &[f64], basis: &Basis) -> Vec<f64> {
    Dynamics::new(basis).coefficients_of(vorticity)
}

/// The vorticity by sines of a sum of waves, as far as there are such sines.
fn sum_of_waves(waves: &[([usize; 2], f64)], sines: &Sines) -> Vec<f64> {
    let mut vorticity = vec![0.0; sines.len()];
    for &(half_waves, w) in waves {
        if (0..2).all(|axis| half_waves[axis] <= sines.counts[axis]) {
            vorticity[sines.place(half_waves)] += w;
        }
    }
    vorticity
}
