//! What a frame shows, of a live simulation and of one that a run has stored.

use std::ops::ControlFlow;
use std::path::Path;

use meniscus::{FrameError, Run, RunOptions, Scene, Simulation, run};

const PLANE: &str = r#"
    [domain]
    size = [1.2, 0.8]
    cells = 24
    [air]
    model = "bubbles"
    [time]
    fps = 20
    frames = 2
    [[liquid]]
    [[liquid.shape.difference]]
    box = { from = [0, 0], to = [1.2, 0.5] }
    [[liquid.shape.difference]]
    sphere = { centre = [0.4, 0.25], radius = 0.12 }
    [[body]]
    name = "cork"
    shape = { sphere = { centre = [0.9, 0.55], radius = 0.1 } }
    density = 300
    velocity = [0.25, 0]
"#;

const SPACE: &str = r#"
    [domain]
    size = [0.5, 0.75, 1.0]
    cells = 20
    [time]
    fps = 20
    frames = 1
    [[liquid]]
    shape = { box = { from = [0, 0, 0], to = [0.5, 0.3, 1.0] } }
    velocity = [0.5, 0, -0.25]
"#;

fn scene(text: &str) -> Scene {
    Scene::parse("test.toml", text, Path::new(""), &[]).expect("a valid scene")
}

fn options(folder: &Path) -> RunOptions {
    RunOptions { folder: folder.into(), resume: false, overwrite: false, from: None, max_drift: None }
}

#[test]
fn what_a_run_stores_looks_as_the_simulation_does() {
    let folder = tempfile::tempdir().expect("a folder");
    let scene = scene(PLANE);
    run(&scene, &options(folder.path()), &mut |_| ControlFlow::Continue(())).expect("it runs");
    let run = Run::open(folder.path()).expect("a run");
    let stored = run.frame(2).expect("a frame");
    let mut simulation = Simulation::new(&scene).expect("a simulation");
    let stats = simulation.advance_frame().and_then(|_| simulation.advance_frame()).expect("it runs");
    let live = simulation.frame();

    assert_eq!((stored.number(), stored.time(), stored.dimension()), (2, live.time(), 2));
    assert_eq!(stored.names(), live.names());
    let [ours, theirs] = [&live, &stored].map(|frame| frame.particles().expect("particles"));
    let cells = |a: &f32, b: &f32| (a - b).abs() < 2e-4 * 0.05;
    assert!(ours.position.values.iter().zip(&theirs.position.values).all(|(a, b)| cells(a, b)));
    assert_eq!(ours.fluid, theirs.fluid);
    let near = |values: &[f32]| values.iter().map(|v| v.clamp(-0.15, 0.15)).collect::<Vec<_>>();
    let [ours, theirs] = [&live, &stored].map(|frame| frame.field("level_set", None).expect("a field"));
    assert!(near(&ours.values).iter().zip(&near(&theirs.values)).all(|(a, b)| cells(a, b)));
    assert_eq!(live.labels("bubble", None).expect("labels"), stored.labels("bubble", None).expect("labels"));
    let last = stats.last().expect("a substep");
    assert_eq!((live.bubbles(), stored.bubbles()), (last.bubbles.clone(), last.bubbles.clone()));
    assert_eq!((live.bodies(), stored.bodies()), (last.bodies.clone(), last.bodies.clone()));
    let surfaces = [&live, &stored].map(|frame| frame.surface().expect("a surface").position.len());
    assert!(surfaces[0].abs_diff(surfaces[1]) < 4, "{surfaces:?}");
    assert!(live.picture(Some([96, 64])).expect("a picture").rgb.iter().any(|&byte| byte != 255));
}

/// The same values by the way of dense fields, of blocks, of points, and of the solver's own arrays.
fn check_fields<const D: usize>(text: &str) {
    let mut simulation = Simulation::new(&scene(text)).expect("a simulation");
    simulation.advance_substep().expect("it runs");
    let state = simulation.liquid::<D>().expect("a liquid");
    assert!(simulation.liquid::<4>().is_none());
    let frame = simulation.frame();
    let (cells, dx) = (frame.cells(), frame.dx());
    let level_set = frame.field("level_set", None).expect("a field");
    let velocity = frame.field("velocity", None).expect("a field");
    assert_eq!(level_set.shape, cells);
    assert_eq!(velocity.shape, [&cells[..], &[D]].concat());

    let first: Vec<usize> = cells.iter().map(|n| n / 3).collect();
    let within: Vec<_> = first.iter().zip(&cells).map(|(&from, &to)| from..to - 2).collect();
    let part = frame.field("velocity", Some(&within)).expect("a part");
    let blocks = frame.blocks("level_set").expect("blocks");
    let faces = frame.blocks("velocity").expect("blocks");
    assert_eq!(faces.first_cell, blocks.first_cell);
    for block in 0..blocks.first_cell.shape[0] {
        for local in 0..8_usize.pow(D as u32) {
            let offset: [usize; D] = std::array::from_fn(|a| local / 8_usize.pow(a as u32) % 8);
            let cell: [usize; D] =
                std::array::from_fn(|a| blocks.first_cell.at(&[block, a]) as usize + offset[a]);
            if cell.iter().zip(&cells).any(|(c, n)| c >= n) {
                continue;
            }
            let place = cell.map(|c| c as i64);
            let phi = state.level_set.get(place) * dx as f32;
            assert_eq!(level_set.at(&cell), phi);
            assert_eq!(blocks.values.at(&[&[block], &offset[..]].concat()), phi);
            for axis in 0..D {
                let lower = faces.values.at(&[&[block], &offset[..], &[axis]].concat());
                assert_eq!(lower, state.velocity.get(axis, place));
                let mut next = place;
                next[axis] += 1;
                let mean = 0.5 * (lower + state.velocity.get(axis, next));
                assert_eq!(velocity.at(&[&cell[..], &[axis]].concat()), mean);
                if cell.iter().zip(&within).all(|(c, range)| range.contains(c)) {
                    let from: Vec<usize> = cell.iter().zip(&first).map(|(c, from)| c - from).collect();
                    assert_eq!(part.at(&[&from[..], &[axis]].concat()), mean);
                }
            }
            let centre = cell.map(|c| (c as f64 + 0.5) * dx);
            let sampled = frame.sample(&centre, "level_set").expect("a sample").values[0];
            assert!((sampled - phi).abs() < 1e-5, "{sampled} {phi}");
        }
    }
}

#[test]
fn fields_are_the_same_in_every_shape() {
    check_fields::<2>(PLANE);
    check_fields::<3>(SPACE);
}

#[test]
fn what_is_not_there_is_told_with_what_is() {
    let simulation = Simulation::new(&scene(SPACE)).expect("a simulation");
    let frame = simulation.frame();
    let error = frame.field("speed", None).expect_err("no such channel").to_string();
    assert_eq!(error, "the frame has no channel \"speed\"; it has level_set, particles, solids, velocity");
    let error = frame.field("particles", None).expect_err("no field").to_string();
    assert_eq!(error, "the channel \"particles\" holds points, not a field");
    let error = frame.field("velocity", Some(&[0..4, 0..4])).expect_err("two ranges").to_string();
    assert!(error.contains("are not in the domain of [10, 15, 20]"), "{error}");
    let error = frame.sample(&[0.1, 0.2], "velocity").expect_err("no point").to_string();
    assert_eq!(error, "2 coordinates are no points in 3 dimensions");
    assert!(matches!(frame.write_surface(Path::new("a.abc")), Err(FrameError::UnknownFormat { .. })));
}

#[test]
fn a_snapshot_brings_back_the_same_bits() {
    let scene = scene(PLANE);
    let mut simulation = Simulation::new(&scene).expect("a simulation");
    simulation.advance_substep().expect("it runs");
    let snapshot = simulation.snapshot();
    simulation.advance_frame().expect("it runs");
    let later = simulation.snapshot();

    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("a.checkpoint");
    snapshot.write(&path).expect("written");
    let read = meniscus::Snapshot::read(&path, &scene).expect("read");
    let mut other = Simulation::resume(&scene, read).expect("a simulation");
    other.advance_frame().expect("it runs");
    assert!(other.snapshot() == later);
    simulation.restore(snapshot.clone()).expect("of this scene");
    simulation.advance_frame().expect("it runs");
    assert!(simulation.snapshot() == later);

    let mut space = Simulation::new(&self::scene(SPACE)).expect("a simulation");
    let error = space.restore(snapshot).expect_err("another dimension").to_string();
    assert_eq!(error, "what was saved has 2 dimensions, the scene has 3");
    let error = meniscus::Snapshot::read(&path, &self::scene(SPACE)).expect_err("another kind").to_string();
    assert!(error.contains("holds a checkpoint of another kind of simulation"), "{error}");
}
