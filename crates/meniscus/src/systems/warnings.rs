//! What to warn of in a substep of a liquid.

use meniscus_liquid::{Squeeze, Squeezed, State, StepInfo};
use meniscus_scene::Setup;

use crate::stats::{GROSS_DRIFT, drift};
use crate::warning::Warning;

/// What to say of a substep in which these sources poured.
pub fn step_warnings<const D: usize>(setup: &Setup<D>, sources: &[&str], info: &StepInfo) -> Vec<Warning> {
    let mut warnings = Vec::new();
    if info.collide.lost > 0 {
        warnings.push(Warning::LostParticles { count: info.collide.lost });
    }
    if !info.contact.is_settled {
        let (touches, rounds) = (info.contact.touches, info.contact.rounds);
        warnings.push(Warning::UnsettledContacts { touches, rounds });
    }
    warnings.extend(info.squeezes.iter().flat_map(|squeeze| squeeze_warnings(setup, sources, squeeze)));
    warnings
}

fn squeeze_warnings<const D: usize>(setup: &Setup<D>, sources: &[&str], squeeze: &Squeeze) -> Vec<Warning> {
    // Bodies come after the solids.
    let name = |k: usize| match setup.solids.get(k) {
        Some(solid) => solid.name.clone(),
        None => setup.bodies[k - setup.solids.len()].name.clone(),
    };
    let of_source = |source: &&str| match squeeze.what {
        Squeezed::Liquid => Warning::SourceBlocked { source: (*source).to_owned(), refused: squeeze.refused },
        Squeezed::Air => Warning::SourceCompressesAir { source: (*source).to_owned() },
    };
    let mut warnings: Vec<Warning> =
        squeeze.sources.iter().filter_map(|&k| sources.get(k)).map(of_source).collect();
    if !squeeze.solids.is_empty() || squeeze.sources.is_empty() {
        let by = squeeze.solids.iter().map(|&k| name(k)).collect();
        warnings.push(match squeeze.what {
            Squeezed::Liquid => Warning::LiquidSqueezed { by },
            Squeezed::Air => Warning::AirCompressed { by },
        });
    }
    warnings
}

/// What to say where the volume is off by so much that what is seen is not to be trusted.
pub fn volume_warning<const D: usize>(state: &State<D>, dx: f64) -> Option<Warning> {
    let State { volume, volume_target: target, .. } = *state;
    let part = drift(volume, target);
    (part.abs() > GROSS_DRIFT).then(|| Warning::VolumeOff { part, cells: target / dx.powi(D as i32) })
}
