//! Modes beside the eigenmodes, and flows of modes that somebody watches, stirs and changes.

use std::f64::consts::PI;
use std::ops::ControlFlow;
use std::path::Path;

use meniscus::{ProbeValue, RunOptions, Scene, Simulation, SimulationError};

fn scene(text: &str) -> Scene {
    Scene::parse("test.toml", text, Path::new(""), &[]).expect("a valid scene")
}

fn run(text: &str, folder: &Path) {
    let folder = folder.into();
    let options = RunOptions { folder, resume: false, overwrite: false, from: None, max_drift: None };
    meniscus::run(&scene(text), &options, &mut |_| ControlFlow::Continue(())).expect("it runs");
}

/// A whirl of five by four that stands for ever, by some method.
fn standing(method: &str) -> String {
    format!(
        r#"
        method = "{method}"
        [domain]
        size = [2.0, 1.0]
        cells = 96
        [time]
        fps = 20
        frames = 2
        [fluid]
        density = 1000
        [[fluid.wave]]
        half_waves = [5, 4]
        vorticity = 3
        "#
    )
}

/// Ten eigenmodes, and what comes after them, with a probe.
fn ten_modes(more: &str) -> String {
    format!(
        r#"
        method = "modes"
        [domain]
        size = [2.0, 1.0]
        cells = 64
        [time]
        fps = 20
        [fluid]
        density = 1000
        [[probe]]
        kind = "velocity"
        name = "here"
        at = [0.13, 0.21]
        [modes]
        count = 10
        {more}
        "#
    )
}

fn velocity_here(simulation: &mut Simulation) -> [f64; 2] {
    let stats = simulation.advance_substep().expect("it runs");
    let ProbeValue::Vector(velocity) = &stats.probes["here"] else { panic!("a vector") };
    [velocity[0], velocity[1]]
}

#[test]
fn the_flow_of_a_run_becomes_a_mode() {
    // Frames keep velocities to a part in some ten thousand.
    for (method, most_off) in [("modes", 1e-3), ("grid", 1e-2)] {
        let folder = tempfile::tempdir().expect("a folder");
        run(&standing(method), folder.path());
        let enrich = format!("[[modes.enrich]]\nname = \"whirl\"\nrun = {:?}\nmodes = 1\n", folder.path());
        let text = ten_modes(&format!("{enrich}amplitudes = [0.25]"));
        let mut simulation = Simulation::new(&scene(&text)).expect("a simulation");
        let strengths = simulation.modes().expect("modes").strengths();
        assert_eq!(strengths.len(), 11);
        assert_eq!((strengths[0].name.as_str(), strengths[10].name.as_str()), ("1x1", "whirl-1"));
        assert!((strengths[10].amplitude - 0.25).abs() < 1e-12);
        // A wave with ψ = s sin(a x) sin(b y) has a mean square velocity of s² (a² + b²) / 4.
        let [a, b] = [5.0 * PI / 2.0, 4.0 * PI];
        let stream = 0.25 * 2.0 / f64::sqrt(a * a + b * b);
        let [u, v] = velocity_here(&mut simulation);
        let (x, y) = (0.13, 0.21);
        let expected =
            [stream * b * (a * x).sin() * (b * y).cos(), -stream * a * (a * x).cos() * (b * y).sin()];
        // The sign of what is learnt is nobody's.
        let sign = (u * expected[0]).signum();
        let off = (u - sign * expected[0]).hypot(v - sign * expected[1]) / expected[0].hypot(expected[1]);
        assert!(off < most_off, "{method}: {u} {v} {expected:?}");
    }
}

#[test]
fn what_there_is_nothing_to_learn_from_is_told() {
    let folder = tempfile::tempdir().expect("a folder");
    run(&standing("modes"), folder.path());
    let learn = |modes: usize| format!("[[modes.enrich]]\nrun = {:?}\nmodes = {modes}\n", folder.path());
    let mut simulation = Simulation::new(&scene(&ten_modes(&learn(3)))).expect("a simulation");
    let stats = simulation.advance_substep().expect("it runs");
    let told: Vec<String> = stats.warnings.iter().map(ToString::to_string).collect();
    assert!(
        told.iter().any(|told| told.starts_with("only 1 modes `drawn-1` were learnt instead of 3")),
        "{told:?}"
    );
}

#[test]
fn runs_that_no_modes_are_learnt_from_are_refused_with_the_reason() {
    let refused = |other: &str| {
        let folder = tempfile::tempdir().expect("a folder");
        run(other, folder.path());
        let text = ten_modes(&format!("[[modes.enrich]]\nrun = {:?}", folder.path()));
        let error = Scene::parse("test.toml", &text, Path::new(""), &[]).expect_err("no such run");
        error.to_string().rsplit(": ").next().expect("a reason").to_owned()
    };
    let liquid = "[domain]\nsize = [2, 1]\ncells = 16\n[time]\nframes = 1\n[[liquid]]\nshape = { box = { from = [0, 0], to = [1, 0.5] } }\n";
    assert_eq!(refused(liquid), "its liquid does not fill the box");
    assert_eq!(
        refused("[domain]\nsize = [2, 1, 1]\ncells = 12\n[time]\nframes = 1\n[fluid]\n"),
        "it is in 3D"
    );
    let longer = "[domain]\nsize = [3, 1]\ncells = 30\n[time]\nframes = 1\n[fluid]\n";
    assert_eq!(refused(longer), "its box has sides of 3 by 1 m");
}

const STROKE: [[f64; 2]; 2] = [[0.5, 0.4], [1.4, 0.6]];

#[test]
fn what_is_kept_as_waves_is_the_mode_that_was_drawn() {
    let drawn = ten_modes(
        "[[modes.enrich]]\nname = \"jet\"\nstroke = { points = [[0.5, 0.4], [1.4, 0.6]], width = 0.1, speed = 0.5 }",
    );
    let mut simulation = Simulation::new(&scene(&drawn)).expect("a simulation");
    let view = simulation.modes().expect("modes");
    let whole = view.waves([91, 45]);
    let amplitudes: Vec<f64> = view.strengths().iter().map(|mode| mode.amplitude).collect();
    let ten_of: Vec<f64> = {
        let mut ten = Simulation::new(&scene(&ten_modes(""))).expect("a simulation");
        for mode in &view.strengths()[..10] {
            ten.excite(&mode.name, mode.amplitude).expect("it is there");
        }
        ten.modes().expect("modes").waves([91, 45])
    };
    // What is left is the drawn mode, with a strength that it has not forgotten.
    let waves: Vec<String> = whole
        .iter()
        .zip(&ten_of)
        .enumerate()
        .filter(|(_, (a, b))| (*a - *b).abs() > 0.0)
        .map(|(place, (a, b))| format!("[{}, {}, {:e}]", place / 45 + 1, place % 45 + 1, a - b))
        .collect();
    let kept = ten_modes(&format!(
        "[[modes.enrich]]\nwaves = [{}]\namplitudes = [{:e}]",
        waves.join(", "),
        amplitudes[10]
    ));
    let mut kept = Simulation::new(&scene(&kept)).expect("a simulation");
    for (number, amplitude) in amplitudes[..10].iter().enumerate() {
        let name = kept.modes().expect("modes").strengths()[number].name.clone();
        kept.excite(&name, *amplitude).expect("it is there");
    }
    let ([u, v], [x, y]) = (velocity_here(&mut simulation), velocity_here(&mut kept));
    assert!((u - x).hypot(v - y) < 1e-9 * u.hypot(v), "{u} {v} {x} {y}");
}

#[test]
fn strokes_and_strengths_give_the_energy_that_they_say() {
    let with_body = "[[body]]\nname = \"cork\"\nshape = { sphere = { centre = [1.0, 0.5], radius = 0.1 } }\ndensity = 300\n";
    for more in ["", with_body] {
        let text = format!("gravity = [0, 0]\n{}", ten_modes(&format!("feedback = \"none\"\n{more}")));
        let mut simulation = Simulation::new(&scene(&text)).expect("a simulation");
        let mut given = simulation.stir(&STROKE, 0.08, 0.7).expect("a stroke");
        given += simulation.excite("2x1", -0.2).expect("a mode");
        assert!(given > 0.0);
        // Taken back in part.
        let more = simulation.excite("2x1", 0.1).expect("a mode");
        let stats = simulation.advance_substep().expect("it runs");
        assert!(
            (stats.kinetic_energy / (given + more) - 1.0).abs() < 2e-3,
            "{} {given} {more}",
            stats.kinetic_energy
        );
        if let Some(cork) = stats.bodies.first() {
            assert!(cork.velocity[0] > 0.1, "it goes with the stroke: {:?}", cork.velocity);
        }
    }
}

#[test]
fn a_scene_changes_while_it_runs() {
    let stroke = "[[modes.enrich]]\nname = \"jet\"\nstroke = { points = [[0.5, 0.4], [1.4, 0.6]], width = 0.04, speed = 0.5 }\n";
    let body = "[[body]]\nname = \"cork\"\nshape = { sphere = { centre = [1.0, 0.8], radius = 0.1 } }\ndensity = 300\n";
    let mut simulation = Simulation::new(&scene(&ten_modes(""))).expect("a simulation");
    simulation.excite("1x1", 0.3).expect("a mode");
    simulation.advance_frame().expect("it runs");
    let amplitude = |simulation: &Simulation, name: &str| {
        let strengths = simulation.modes().expect("modes").strengths();
        strengths.into_iter().find(|mode| mode.name == name).map(|mode| mode.amplitude)
    };

    let before = amplitude(&simulation, "1x1").expect("a mode");
    simulation.go_on_as(&scene(&ten_modes(&format!("{stroke}{body}")))).expect("a mode and a body more");
    assert!((simulation.time(), simulation.frames_done()) == (0.05, 1));
    assert!(amplitude(&simulation, "jet").expect("the jet") > 0.01, "it begins with its speed");
    assert_eq!(simulation.frame().bodies().len(), 1);
    let jet = amplitude(&simulation, "jet");
    let text =
        ten_modes(&format!("{stroke}{body}")).replace("density = 1000", "density = 1000\nviscosity = 0.2");
    simulation.go_on_as(&scene(&text)).expect("more viscous");
    assert_eq!(amplitude(&simulation, "jet"), jet, "it is not excited again");
    simulation.advance_frame().expect("it runs");

    let bad = ten_modes("").replace("size = [2.0, 1.0]", "size = [4.0, 2.0]");
    let error = simulation.go_on_as(&scene(&bad)).expect_err("another box");
    assert!(matches!(error, SimulationError::CannotFollow { key: "domain.size", .. }), "{error}");
    assert_eq!(simulation.frame().bodies().len(), 1, "it is what it was");

    simulation.go_on_as(&scene(&ten_modes(""))).expect("both gone");
    assert_eq!(amplitude(&simulation, "jet"), None);
    assert!(simulation.frame().bodies().is_empty());
    let after = amplitude(&simulation, "1x1").expect("a mode");
    assert!((after - before).abs() < 0.1 * before, "{before} {after}");
    simulation.advance_frame().expect("it runs");
}

#[test]
fn what_a_body_did_to_the_fluid_stays_when_it_is_taken_away() {
    let solid = "feedback = \"none\"\n[[solid]]\nname = \"fish\"\nshape = { sphere = { centre = [0.6, 0.5], radius = 0.15 } }\n[solid.motion]\nkeyframes = [{ time = 0 }, { time = 1, translation = [0.8, 0] }]\n";
    let mut simulation = Simulation::new(&scene(&ten_modes(solid))).expect("a simulation");
    simulation.advance_frame().expect("it runs");
    let waves = |simulation: &Simulation| simulation.modes().expect("modes").waves([4, 2]);
    let with = waves(&simulation);
    simulation.go_on_as(&scene(&ten_modes("feedback = \"none\""))).expect("no fish");
    // As far as the modes hold it: ten have all waves of up to four by two halves.
    let off = with.iter().zip(waves(&simulation)).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
    let largest = with.iter().fold(0.0, |most: f64, w| most.max(w.abs()));
    assert!(largest > 0.1 && off < 1e-12 * largest, "{largest} {off}");
}

#[test]
fn bad_strokes_and_modes_are_refused() {
    let mut simulation = Simulation::new(&scene(&ten_modes(""))).expect("a simulation");
    let problem = |points: &[[f64; 2]], width: f64, speed: f64, simulation: &mut Simulation| {
        simulation.stir(points, width, speed).expect_err("no stroke").to_string()
    };
    let outside = problem(&[[0.5, 0.5], [2.5, 0.5]], 0.1, 1.0, &mut simulation);
    assert_eq!(outside, "this is no stroke: a point of it lies outside of the box");
    assert!(problem(&[[0.5, 0.5], [f64::NAN, 0.5]], 0.1, 1.0, &mut simulation).contains("outside"));
    assert!(problem(&[[0.5, 0.5]], 0.1, 1.0, &mut simulation).contains("two different points"));
    assert!(problem(&STROKE, 0.0, 1.0, &mut simulation).contains("width"));
    assert!(problem(&STROKE, 0.1, f64::INFINITY, &mut simulation).contains("speed"));
    let error = simulation.excite("jet", 1.0).expect_err("no such mode").to_string();
    assert!(error.starts_with("the scene has no mode named \"jet\"; it has 1x1, "), "{error}");
    let mut grid = Simulation::new(&scene(&standing("grid"))).expect("a simulation");
    assert!(matches!(grid.stir(&STROKE, 0.1, 1.0), Err(SimulationError::OnlyModes { .. })));
    assert!(grid.modes().is_none());
}

#[test]
fn a_stroke_at_the_start_is_one_flow_on_a_grid_and_in_modes() {
    let text = |method: &str| {
        format!(
            "method = \"{method}\"\n[domain]\nsize = [2, 1]\ncells = 128\n[time]\nfps = 200\nframes = 1\n[fluid]\n[[fluid.stroke]]\npoints = [[0.5, 0.4], [1.4, 0.6]]\nwidth = 0.1\nspeed = 0.4\n"
        ) + if method == "modes" { "[modes]\ncount = 600\n" } else { "" }
    };
    let points: Vec<f64> = [[0.9, 0.5], [0.5, 0.5], [1.2, 0.3], [0.3, 0.8]].concat();
    let velocities = ["grid", "modes"].map(|method| {
        let mut simulation = Simulation::new(&scene(&text(method))).expect("a simulation");
        simulation.advance_frame().expect("it runs");
        simulation.frame().sample(&points, "velocity").expect("a field").values
    });
    let [grid, modes] = &velocities;
    let size = f64::from(grid.iter().fold(0.0, |most: f32, v| most.max(v.abs())));
    for (a, b) in grid.iter().zip(modes) {
        assert!(f64::from((a - b).abs()) < 0.03 * size, "{grid:?} {modes:?}");
    }
    assert!(size > 0.2);
}

/// With as many tiles as there are modes, those drawn first, and colour only where a mode is.
#[test]
fn pictures_show_modes_side_by_side() {
    let colourful = |more: &str| {
        let scene =
            scene(&format!("{}\n[render]\nshow = \"modes\"\nwidth = 400\nheight = 300", ten_modes(more)));
        let simulation = Simulation::new(&scene).expect("a simulation");
        let picture = simulation.frame().picture(None).expect("a picture");
        let is_coloured = |pixel: &&[u8]| pixel[0].abs_diff(pixel[2]) > 60;
        picture.rgb.chunks(3).filter(is_coloured).count()
    };
    let drawn = |speed: f64| {
        let stroke = format!("{{ points = [[0.4, 0.5], [1.6, 0.5]], width = 0.04, speed = {speed} }}");
        colourful(&format!("[[modes.enrich]]\nname = \"jet\"\nstroke = {stroke}"))
    };
    assert_eq!(colourful(""), 0);
    assert_eq!(drawn(0.0), 0);
    assert!(drawn(0.5) > 300, "{}", drawn(0.5));
}
