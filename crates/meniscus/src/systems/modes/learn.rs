//! Flows of a run that modes are learnt from.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use meniscus_io::{names, read_frame};
use meniscus_modal::flow::{Sines, vorticity_of_faces};
use meniscus_scene::{EnrichSetup, EnrichSource, Setup};

use super::basis::eigenmodes_of;
use crate::error::{SimulationError, StepFailure};

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
            SimulationError::CannotLearn { mode: name.clone(), folder: folder.clone(), source }
        })?;
        learnt.insert(entry, flows);
    }
    Ok(learnt)
}

/// The flows of the frames of a run, by their vorticity in sines.
fn flows_of(folder: &Path, sines: &Sines) -> Result<Vec<Vec<f64>>, StepFailure> {
    let files = frames_in(&folder.join("frames"))?;
    let mut flows = Vec::new();
    for file in files.iter().step_by(files.len().div_ceil(MOST_FRAMES).max(1)) {
        let frame = read_frame::<2>(file)?;
        let Some(velocity) = frame.faces(names::VELOCITY) else {
            return Err(format!("{} holds no velocities", file.display()).into());
        };
        flows.push(vorticity_of_faces(sines, frame.grid.cells, |axis, cell| {
            f64::from(velocity.axes[axis].get(cell.map(|c| c as i64)))
        }));
    }
    if flows.is_empty() { Err("it has no frames yet".into()) } else { Ok(flows) }
}

/// The files of frames in a folder, in their order: their numbers have four digits, or more where there are as many.
fn frames_in(folder: &Path) -> Result<Vec<PathBuf>, StepFailure> {
    let mut files = Vec::new();
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        if path.extension().is_some_and(|extension| extension == "frame") {
            files.push(path);
        }
    }
    files.sort_by_key(|path| (path.as_os_str().len(), path.clone()));
    Ok(files)
}
