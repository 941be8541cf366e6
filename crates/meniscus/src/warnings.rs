//! What a substep is told to have gone wrong with.

use meniscus_liquid::{Squeezed, State, StepInfo};
use meniscus_scene::Setup;

use crate::stats::{GROSS_DRIFT, drift};

/// What to say of a substep in which these sources poured.
pub fn step_warnings<const D: usize>(setup: &Setup<D>, sources: &[&str], info: &StepInfo) -> Vec<String> {
    let mut warnings = Vec::new();
    if info.collide.lost > 0 {
        let (particles, were) =
            if info.collide.lost == 1 { ("particle", "was") } else { ("particles", "were") };
        let lost = info.collide.lost;
        warnings.push(format!("{lost} {particles} {were} lost inside solids and removed"));
    }
    if !info.contact.is_settled {
        warnings.push(format!(
            "which of {} contacts of bodies press was not found in {} rounds: some bodies are off by what these push; smaller steps (time.cfl) \
             make it easier",
            info.contact.touches, info.contact.rounds
        ));
    }
    for squeeze in &info.squeezes {
        // Bodies come after the solids.
        let name = |k: usize| match setup.solids.get(k) {
            Some(solid) => &solid.name,
            None => &setup.bodies[k - setup.solids.len()].name,
        };
        let names: Vec<String> = squeeze.solids.iter().map(|&k| format!("`{}`", name(k))).collect();
        let by = if names.is_empty() { "its walls".into() } else { names.join(" and ") };
        for source in squeeze.sources.iter().filter_map(|&k| sources.get(k)) {
            warnings.push(match squeeze.what {
                Squeezed::Liquid => {
                    let how_much =
                        if squeeze.refused == 1.0 { "nothing" } else { "only what moving walls make room for" };
                    format!(
                        "the source `{source}` pours {how_much}: what is around it has no room for more and no way out; give it an open side, or a \
                         free surface with air that gives way"
                    )
                }
                Squeezed::Air => format!(
                    "the source `{source}` pours into a closed room: it compresses its air, which takes it without resistance; leave the room \
                     an opening"
                ),
            });
        }
        if squeeze.solids.is_empty() && !squeeze.sources.is_empty() {
            continue;
        }
        warnings.push(match squeeze.what {
            Squeezed::Liquid => format!(
                "{by} squeezes or stretches liquid that has no way out: it keeps its volume only on average; give it a free \
                 surface or an open side, or move the solid less"
            ),
            Squeezed::Air => format!(
                "{by} compresses or stretches the air of a closed room, which takes it without resistance; to have it \
                 push back, leave the room an opening"
            ),
        });
    }
    warnings
}

/// What to say where the volume is off by so much that what is seen is not to be trusted.
pub fn volume_warning<const D: usize>(state: &State<D>, dx: f64) -> Option<String> {
    let State { volume, volume_target: target, .. } = *state;
    let off = drift(volume, target);
    let cells = target / dx.powi(D as i32);
    (off.abs() > GROSS_DRIFT).then(|| {
        format!(
            "the liquid's volume is off by {:+.1} %: it should be that of {cells:.0} cells; raise domain.cells if it is few, or \
             time.max_substeps if it moves far in one",
            100.0 * off
        )
    })
}
