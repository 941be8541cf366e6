//! Flows of a run that modes are learnt from.

use std::collections::BTreeMap;
use std::path::Path;

use meniscus_io::names;
use meniscus_modal::flow::{Sines, vorticity_of_faces};
use meniscus_scene::{EnrichSetup, EnrichSource, Setup};

use super::basis::eigenmodes_of;
use crate::error::SimulationError;
use crate::runs::{FolderError, Run};

/// Frames that modes are learnt from: of longer runs every second one is taken, or every third, and so on.
const MOST_FRAMES: usize = 256;

/// For each entry of a scene whose modes are learnt the flows of its run.
pub(crate) fn learnt_flows<const D: usize>(
    setup: &Setup<D>,
) -> Result<BTreeMap<usize, Vec<Vec<f64>>>, SimulationError> {
    let mut learnt = BTreeMap::new();
    let entries = setup.modes.iter().flat_map(|modes| &modes.enrich).enumerate();
    for (entry, EnrichSetup { name, source, .. }) in entries {
        let EnrichSource::Run { folder, .. } = source else { continue };
        let flows = flows_of(folder, &eigenmodes_of(setup).fine_sines()).map_err(|source| {
            SimulationError::CannotLearn {
                mode: name.clone(),
                folder: folder.clone(),
                source: Box::new(source),
            }
        })?;
        learnt.insert(entry, flows);
    }
    Ok(learnt)
}

/// The flows of the frames of a run, by their vorticity in sines.
fn flows_of(folder: &Path, sines: &Sines) -> Result<Vec<Vec<f64>>, FolderError> {
    let run = Run::open(folder)?;
    let frames = run.frames()?;
    let step = frames.len().div_ceil(MOST_FRAMES);
    let mut flows = Vec::new();
    for &number in frames.iter().step_by(step) {
        let frame = run.frame(number)?;
        let frame = frame.plane().expect("the scene refuses runs in space");
        let velocity = frame.faces(names::VELOCITY).expect("frames of fluids have it");
        flows.push(vorticity_of_faces(sines, frame.grid.cells, |axis, cell| {
            f64::from(velocity.axes[axis].get(cell.map(|c| c as i64)))
        }));
    }
    Ok(flows)
}
