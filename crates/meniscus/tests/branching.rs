//! Liquid that is put in, and scenes that go on as others.

use std::f64::consts::PI;
use std::ops::ControlFlow;
use std::path::Path;

use meniscus::{
    Branch, FolderError, Run, RunError, RunOptions, Scene, Simulation, SimulationError, Stats, run,
};

/// A pool of 1 by 0.4 m, without gravity.
const POOL: &str = r#"
    gravity = [0, 0]
    [domain]
    size = [1.0, 0.8]
    cells = 50
    [time]
    fps = 50
    frames = 2
    [air]
    model = "bubbles"
    [[liquid]]
    shape = { box = { from = [0, 0], to = [1, 0.4] } }
"#;

fn scene(text: &str) -> Scene {
    Scene::parse("test.toml", text, Path::new(""), &[]).unwrap_or_else(|error| panic!("{error:?}"))
}

/// The substeps of a frame.
fn frame(simulation: &mut Simulation) -> Vec<Stats> {
    simulation.advance_frame().expect("it runs")
}

fn last(simulation: &mut Simulation) -> Stats {
    frame(simulation).pop().expect("a substep")
}

fn near(found: f64, wanted: f64, by: f64) {
    assert!((found - wanted).abs() < by, "{found} is not {wanted}");
}

/// Each substep changes the volume by what its book says, from one to the next.
fn books_balance(before: f64, stats: &[Stats]) {
    let mut volume = before;
    for substep in stats {
        volume += substep.volume_book.change();
        near(substep.liquid_volume, volume, 1e-9);
    }
}

/// A scene that goes on as another one from after a frame.
fn branch(from: &str, to: &str) -> Result<Simulation, SimulationError> {
    let (from, to) = (scene(from), scene(to));
    let mut simulation = Simulation::new(&from).expect("a simulation");
    simulation.advance_frame().expect("it runs");
    Simulation::branch(&from, simulation.snapshot(), &to)
}

#[test]
fn liquid_that_is_put_in_has_the_volume_and_the_velocity_of_its_shape() {
    let mut simulation = Simulation::new(&scene(POOL)).expect("a simulation");
    let before = last(&mut simulation);
    let drop = "shape = { sphere = { centre = [0.5, 0.6], radius = 0.1 } }\nvelocity = [0.5, 0]";
    simulation.add_liquid(drop).expect("a drop");
    let shown = simulation.frame();
    let level = shown.sample(&[0.5, 0.6, 0.5, 0.45, 0.5, 0.2], "level_set").expect("samples").values;
    assert!(level[0] < 0.0 && level[1] > 0.0 && level[2] < 0.0, "{level:?}");

    let stats = frame(&mut simulation);
    let area = PI * 0.01;
    near(stats[0].volume_book.placed, area, 0.01 * area);
    books_balance(before.liquid_volume, &stats);
    let after = stats.last().expect("a substep");
    near(after.liquid_volume_target, before.liquid_volume_target + stats[0].volume_book.placed, 1e-9);
    // Nothing pushes it: it keeps its momentum, and its energy but for what transfers lose.
    near(after.kinetic_energy, 0.5 * 1000.0 * area * 0.25, 0.05 * 125.0 * area);
    let drop = simulation.frame().particles().expect("particles");
    let of_drop = (0..drop.fluid.len()).filter(|&k| drop.position.at(&[k, 1]) > 0.45);
    let (count, x) = of_drop.fold((0, 0.0), |(count, x), k| (count + 1, x + drop.position.at(&[k, 0])));
    near(f64::from(x) / f64::from(count), 0.5 + 0.5 / 50.0, 1e-3);
}

#[test]
fn what_is_put_in_is_kept_by_snapshots() {
    let scene = scene(POOL);
    let mut simulation = Simulation::new(&scene).expect("a simulation");
    frame(&mut simulation);
    simulation.add_liquid("shape = { box = { from = [0.2, 0.5], to = [0.4, 0.7] } }").expect("a block");
    let snapshot = simulation.snapshot();
    let first = last(&mut simulation);
    let mut again = Simulation::resume(&scene, snapshot).expect("the same scene");
    let second = last(&mut again);
    assert_eq!((first.liquid_volume, first.max_speed), (second.liquid_volume, second.max_speed));
}

#[test]
fn two_drops_put_in_meet_in_the_middle_and_the_pool_takes_one_that_overlaps_it() {
    let mut simulation = Simulation::new(&scene(POOL)).expect("a simulation");
    let before = last(&mut simulation).liquid_volume;
    // Half of it is in the pool already.
    simulation.add_liquid("shape = { sphere = { centre = [0.5, 0.4], radius = 0.1 } }").expect("a drop");
    simulation.add_liquid("shape = { box = { from = [0, 0.6], to = [0.2, 0.8] } }").expect("a block");
    let stats = frame(&mut simulation);
    near(stats[0].volume_book.placed, 0.5 * PI * 0.01 + 0.04, 0.02 * 0.05);
    books_balance(before, &stats);
}

#[test]
fn liquid_that_makes_no_sense_is_refused_by_name() {
    let mut simulation = Simulation::new(&scene(POOL)).expect("a simulation");
    let why = |liquid: &str, simulation: &mut Simulation| {
        let error = simulation.add_liquid(liquid).expect_err("no liquid");
        let source = std::error::Error::source(&error).map(ToString::to_string).unwrap_or_default();
        format!("{error} {source}")
    };
    let oil = "shape = { sphere = { centre = [0.5, 0.6], radius = 0.1 } }\ndensity = 800";
    assert!(why(oil, &mut simulation).contains("liquid"), "{}", why(oil, &mut simulation));
    let flat = "shape = { sphere = { centre = [0.5], radius = 0.1 } }";
    assert!(
        why(flat, &mut simulation).contains("`liquid[1].shape.sphere.centre`"),
        "{}",
        why(flat, &mut simulation)
    );
    let unknown = "shape = { ball = { centre = [0.5, 0.5], radius = 0.1 } }";
    assert!(why(unknown, &mut simulation).contains("unknown shape `ball`"));
}

#[test]
fn liquid_put_into_another_fluid_takes_its_place() {
    let two = r#"
        gravity = [0, 0]
        [domain]
        size = [1.0, 1.0]
        cells = 40
        [time]
        fps = 100
        [[liquid]]
        shape = { box = { from = [0, 0], to = [1, 0.4] } }
        [[liquid]]
        shape = { box = { from = [0, 0.4], to = [1, 1] } }
        density = 800
    "#;
    let mut simulation = Simulation::new(&scene(two)).expect("a simulation");
    let before = last(&mut simulation);
    simulation.add_liquid("shape = { sphere = { centre = [0.5, 0.7], radius = 0.2 } }").expect("a drop");
    let in_water = "shape = { sphere = { centre = [0.5, 0.2], radius = 0.1 } }\ndensity = 800";
    simulation.add_liquid(in_water).expect("a drop of oil");
    let stats = frame(&mut simulation);
    let gained = PI * (0.04 - 0.01);
    near(stats[0].volume_book.placed, gained, 0.02 * gained);
    books_balance(before.liquid_volume, &stats);
    let particles = simulation.frame().particles().expect("particles");
    let in_drop = |k: &usize| {
        let [x, y] = [0, 1].map(|a| f64::from(particles.position.at(&[*k, a])));
        (x - 0.5).hypot(y - 0.7) < 0.15
    };
    assert!((0..particles.fluid.len()).filter(in_drop).all(|k| particles.fluid[k] == 0));
    let in_oil = |k: &usize| {
        let [x, y] = [0, 1].map(|a| f64::from(particles.position.at(&[*k, a])));
        (x - 0.5).hypot(y - 0.2) < 0.06
    };
    assert!((0..particles.fluid.len()).filter(in_oil).all(|k| particles.fluid[k] == 1));
}

#[test]
fn a_branch_without_a_change_goes_on_with_the_same_bits() {
    let from = scene(POOL);
    let to =
        from.changed(&["time.frames=9".into(), "output.keep_checkpoints=\"all\"".into()]).expect("a scene");
    let mut simulation = Simulation::new(&from).expect("a simulation");
    frame(&mut simulation);
    simulation
        .add_liquid("shape = { box = { from = [0.2, 0.5], to = [0.4, 0.7] } }\nvelocity = [0, -1]")
        .expect("a block");
    let mut branch = Simulation::branch(&from, simulation.snapshot(), &to).expect("a branch");
    let places = |simulation: &mut Simulation| {
        frame(simulation);
        simulation.frame().particles().expect("particles").position.values
    };
    assert_eq!(places(&mut simulation), places(&mut branch));
}

#[test]
fn solids_that_go_leave_air_and_those_that_come_take_the_place_of_liquid() {
    let with = |solid: &str| format!("{POOL}\n[[solid]]\nname = \"ball\"\n{solid}\n");
    let ball = "shape = { sphere = { centre = [0.3, 0.2], radius = 0.1 } }";
    let area = PI * 0.01;

    // One that goes leaves a bubble of its size.
    let mut gone = branch(&with(ball), POOL).expect("a branch");
    let bubbles = gone.frame().bubbles();
    let of_ball = bubbles.iter().find(|b| b.volume < 0.2).expect("a bubble");
    near(of_ball.volume, area, 0.02 * area);
    near(of_ball.rest_volume, of_ball.volume, 1e-9);
    let stats = frame(&mut gone);
    near(stats[0].volume_book.placed, 0.0, 0.002 * area);
    assert_eq!(
        stats[0].events.iter().filter(|event| event.kind == "birth").count(),
        1,
        "{:?}",
        stats[0].events
    );
    near(stats[0].liquid_volume, 0.4 - area, 0.02 * area);
    books_balance(stats[0].liquid_volume, &stats[1..]);
    let after = stats.last().expect("a substep").bubbles.clone();
    near(after.iter().find(|b| b.id == of_ball.id).expect("it stays").volume, area, 0.02 * area);

    // One that comes takes the place of as much.
    let mut come = branch(POOL, &with(ball)).expect("a branch");
    let stats = frame(&mut come);
    near(stats[0].volume_book.placed, -area, 0.02 * area);
    near(stats[0].liquid_volume, 0.4 - area, 0.02 * area);
    assert!(stats.iter().all(|substep| substep.removed_particles == 0));

    // One that moves does both.
    let moved = "shape = { sphere = { centre = [0.7, 0.2], radius = 0.1 } }";
    let mut moved = branch(&with(ball), &with(moved)).expect("a branch");
    let stats = frame(&mut moved);
    near(stats[0].volume_book.placed, -area, 0.02 * area);
    assert!(stats[0].bubbles.iter().any(|b| (b.volume - area).abs() < 0.02 * area));
}

#[test]
fn bodies_go_on_come_and_go() {
    let body = |name: &str, x: f64, velocity: f64| {
        format!(
            "[[body]]\nname = \"{name}\"\nshape = {{ sphere = {{ centre = [{x}, 0.6], radius = 0.08 }} }}\n\
             density = 500\nvelocity = [{velocity}, 0]\n"
        )
    };
    let from = format!("{POOL}\n{}{}", body("one", 0.3, 0.5), body("two", 0.7, 0.0));
    // Heavier, and the other replaced by a third.
    let to = format!("{POOL}\n{}{}", body("three", 0.8, 0.25), body("one", 0.3, 0.5).replace("500", "700"));
    let mut simulation = branch(&from, &to).expect("a branch");
    let bodies = simulation.frame().bodies();
    assert_eq!(bodies.iter().map(|body| body.name.as_str()).collect::<Vec<_>>(), ["three", "one"]);
    near(bodies[1].position[0], 0.3 + 0.5 / 50.0, 1e-6);
    near(bodies[0].position[0], 0.8, 1e-9);
    near(bodies[0].velocity[0], 0.25, 1e-9);
    let after = last(&mut simulation);
    near(after.bodies[0].position[0], 0.8 + 0.25 / 50.0, 1e-6);
    near(after.bodies[1].position[0], 0.3 + 0.5 / 25.0, 1e-6);
}

#[test]
fn what_may_not_differ_is_named() {
    let differs = |from: &str, to: &str| match branch(from, to) {
        Err(SimulationError::CannotFollow { key, .. }) => key,
        other => panic!("{:?}", other.err()),
    };
    assert_eq!(differs(POOL, &POOL.replace("cells = 50", "cells = 40")), "domain.cells");
    assert_eq!(differs(POOL, &POOL.replace("fps = 50", "fps = 25")), "time.fps");
    assert_eq!(differs(POOL, &POOL.replace("\"bubbles\"", "\"void\"")), "air.model");
    assert_eq!(differs(POOL, &POOL.replace("[1, 0.4]", "[1, 0.5]")), "liquid");
    let other = scene(&POOL.replace("cells = 50", "cells = 40"));
    let snapshot = Simulation::new(&scene(POOL)).expect("a simulation").snapshot();
    assert!(matches!(Simulation::resume(&other, snapshot), Err(SimulationError::OtherScene)));
}

fn options(folder: &Path) -> RunOptions {
    RunOptions { folder: folder.into(), resume: false, overwrite: false, from: None, max_drift: None }
}

#[test]
fn a_run_branches_off_another_and_is_resumed_without_it() {
    let place = tempfile::tempdir().expect("a folder");
    let [parent, child] = ["parent", "child"].map(|name| place.path().join(name));
    let go_on = &mut |_: meniscus::Event| ControlFlow::Continue(());
    let changed = |changes: &[&str]| {
        scene(POOL).changed(&changes.iter().map(ToString::to_string).collect::<Vec<_>>()).expect("a scene")
    };
    let all = changed(&["output.keep_checkpoints=\"all\"", "output.checkpoint_every=1", "time.frames=4"]);
    run(&all, &options(&parent), go_on).expect("it runs");
    assert_eq!(Run::open(&parent).expect("a run").checkpoints().expect("a folder"), [1, 2, 3, 4]);

    let falling = changed(&["gravity=[0, -9.81]", "time.frames=5"]);
    let from = |frame| Some(Branch { run: parent.clone(), frame });
    let missing = run(&falling, &RunOptions { from: from(7), ..options(&child) }, go_on);
    assert!(
        matches!(missing, Err(RunError::Folder(FolderError::NoCheckpoint { known, .. })) if known == [1, 2, 3, 4])
    );
    assert!(!child.exists(), "no folder for nothing");
    let same = run(&falling, &RunOptions { from: from(2), overwrite: true, ..options(&parent) }, go_on);
    assert!(matches!(same, Err(RunError::Folder(FolderError::OverItself { .. }))));

    // It stops after a substep, and goes on when the other run is gone.
    let stop = &mut |event: meniscus::Event| match event {
        meniscus::Event::Substep(_) => ControlFlow::Break(()),
        _ => ControlFlow::Continue(()),
    };
    run(&falling, &RunOptions { from: from(2), ..options(&child) }, stop).expect("it begins");
    std::fs::remove_dir_all(&parent).expect("it is there");
    run(&falling, &RunOptions { resume: true, ..options(&child) }, go_on).expect("it goes on");
    let run = Run::open(&child).expect("a run");
    assert_eq!(run.frames().expect("frames"), [2, 3, 4, 5]);
    let manifest = run.manifest();
    assert_eq!((manifest.parent.as_ref().map(|parent| parent.frame), manifest.frames_done), (Some(2), 5));
    let lines = run.stats_after(0).expect("a log");
    assert!(lines.lines[0].contains("\"frame\":3,\"substep\":1,"), "{}", lines.lines[0]);
    assert_eq!(run.stats_after(lines.end).expect("a log").lines.len(), 0);
    assert_eq!(run.frame(2).expect("a frame").time(), 2.0 / 50.0);
    assert!(run.snapshot(5).is_ok());
}

#[test]
fn dye_goes_on_by_its_shape_and_new_dye_is_filled_in() {
    let dye = |x: f64| format!("[[smoke]]\nshape = {{ sphere = {{ centre = [{x}, 0.2], radius = 0.1 }} }}\n");
    let counts = |simulation: &Simulation| {
        let frame = simulation.frame();
        frame.plane().expect("a plane").smokes().iter().map(|markers| markers.len()).collect::<Vec<_>>()
    };
    let from = format!("{POOL}\n{}{}", dye(0.2), dye(0.45));
    let before = counts(&Simulation::new(&scene(&from)).expect("a simulation"));
    // The second is the first now, the first is gone, and there is another.
    let branch = branch(&from, &format!("{POOL}\n{}{}", dye(0.45), dye(0.8))).expect("a branch");
    let after = counts(&branch);
    assert_eq!(after[0], before[1]);
    // As many markers as the disc has cells of 2 cm, 16 in each.
    let expected = 16.0 * PI * 0.01 / 0.0004;
    near(after[1] as f64, expected, 0.05 * expected);
}

#[test]
fn a_body_that_is_only_pushed_puts_nothing_in() {
    let body = |velocity: f64| {
        format!(
            "{POOL}\n[[body]]\nshape = {{ sphere = {{ centre = [0.5, 0.4], radius = 0.1 }} }}\ndensity = 500\nvelocity = [0, {velocity}]\n"
        )
    };
    let mut branch = branch(&body(0.0), &body(0.1)).expect("a branch");
    assert_eq!(frame(&mut branch)[0].volume_book.placed, 0.0);
}

#[test]
fn a_solid_that_takes_all_liquid_leaves_nothing_to_go_on_with() {
    let solid = "[[solid]]\nshape = { box = { from = [0, 0], to = [1, 0.5] } }\n";
    assert!(matches!(branch(POOL, &format!("{POOL}\n{solid}")), Err(SimulationError::NoLiquid)));
}
