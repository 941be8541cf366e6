//! Scenes that are right: the gallery, overrides, round trips, warnings.

mod common;

use std::path::Path;

use common::report;
use meniscus_core::shape::Shape;
use meniscus_scene::content::Content;
use meniscus_scene::{
    AirModel, EnrichSource, Method, ModesFeedback, ModesForces, ModesIntegrator, ProbeKind, RegionFluids,
    RegionModel, Regions, Scene, SceneError, SecondSetup, Setup, Transfer, Walls, gallery,
};

fn parse(text: &str) -> Result<Scene, SceneError> {
    Scene::parse("test.toml", text, Path::new("tests/meshes"), &[])
}

#[track_caller]
fn valid(text: &str) -> Scene {
    parse(text).unwrap_or_else(|error| panic!("{}", report(&error)))
}

#[track_caller]
fn assert_no_warning(scene: &Scene) {
    let reports: String = scene.warnings().iter().map(|warning| report(warning)).collect();
    assert!(reports.is_empty(), "{reports}");
}

#[track_caller]
fn assert_no_remark(scene: &Scene) {
    assert_no_warning(scene);
    assert!(scene.hints().is_empty(), "{:?}", scene.hints());
}

const SQUARE: &str = "[domain]\nsize = [1, 1]\ncells = 10\n";
const CUBE: &str = "[domain]\nsize = [1, 1, 1]\ncells = 10\n";
const POOL: &str = "\n[[liquid]]\nshape = { box = { from = [0, 0], to = [0.5, 0.5] } }\n";

/// Scenes that other things name: tests, documents, the pictures of the papers.
const GALLERY: [&str; 13] = [
    "dam-break",
    "dam-break-2d",
    "hydrostatic-2d",
    "rotated-box",
    "sloshing-2d",
    "fountain",
    "water-cooler",
    "rising-bubble",
    "rising-bubble-viscous",
    "wall-with-holes",
    "moving-platform",
    "cube-bubble",
    "bubble-tube",
];

/// Every key of the format, none at its default.
const EVERYTHING: &str = include_str!("scenes/everything.toml");

#[test]
fn the_gallery_is_valid_and_gives_no_warning() {
    let names: Vec<&str> = gallery::names().collect();
    for name in GALLERY {
        assert!(names.contains(&name), "{name} is missing");
    }
    for name in names {
        let scene = Scene::gallery(name, &[]).unwrap_or_else(|error| panic!("{}", report(&error)));
        assert_no_remark(&scene);
        assert_eq!(scene.name(), name);
        assert_eq!(Some(scene.source_text()), gallery::text(name));
        assert!(gallery::description(name).is_some_and(|d| d.len() > 20), "{name} needs a description");
    }
    assert_eq!(gallery::text("waterfall"), None);
    assert_eq!(gallery::description("waterfall"), None);
}

/// The papers compare bubbles with a void, at the resolutions that are shipped.
#[test]
fn scenes_of_bubbles_have_a_void_for_comparison() {
    let mut count = 0;
    for name in gallery::names() {
        let scene = Scene::gallery(name, &[]).expect("a scene");
        count += usize::from(scene.content().air.model == AirModel::Bubbles);
        let void = Scene::gallery(name, &["air.model=\"void\"".into()]).expect("a scene");
        assert_no_remark(&void);
        assert_eq!(void.content().air.model, AirModel::Void);
    }
    assert!(count >= 7);
}

#[test]
fn the_reader_agrees_with_serde_on_all_content() {
    let texts = gallery::names().filter_map(gallery::text).chain([EVERYTHING]);
    for text in texts {
        let content: Content = toml::from_str(text).expect("content");
        assert_eq!(valid(text).content(), &content);
    }
}

#[test]
fn content_survives_a_round_trip() {
    for text in gallery::names().filter_map(gallery::text).chain([EVERYTHING]) {
        let scene = valid(text);
        let written = toml::to_string(scene.content()).expect("TOML");
        assert_eq!(valid(&written).content(), scene.content());
        let json = serde_json::to_string(scene.content()).expect("JSON");
        assert_eq!(&serde_json::from_str::<Content>(&json).expect("content"), scene.content());
    }
}

#[test]
fn every_key_of_the_schema_is_read() {
    let content = serde_json::to_value(valid(EVERYTHING).content()).expect("JSON");
    let schema = meniscus_scene::schema();
    for (key, rule) in schema["properties"].as_object().expect("properties") {
        // Where there are these there are no liquids: see `a_fluid_fills_the_domain` and `modes_arrive_in_the_setup`.
        if ["fluid", "modes"].contains(&key.as_str()) {
            continue;
        }
        let value = &content[key];
        assert!(!value.is_null(), "{key} is not in everything.toml");
        let name = rule["$ref"].as_str().and_then(|r| r.strip_prefix("#/$defs/"));
        let Some(properties) = name.and_then(|name| schema["$defs"][name]["properties"].as_object()) else {
            continue;
        };
        for inner in properties.keys() {
            // What the 2D part of the format has is tested in `two_dimensional_settings_are_read`.
            if !["show", "streamlines"].contains(&inner.as_str()) {
                assert!(!value[inner].is_null(), "{key}.{inner} is not in everything.toml");
            }
        }
    }
}

#[test]
fn a_fluid_fills_the_domain() {
    let text = r#"
        [domain]
        size = [1, 1]
        cells = 16
        [fluid]
        material = "water"
        viscosity = 0.1
        velocity = [0, 1]
        [[smoke]]
        shape = { box = { from = [0, 0], to = [1, 0.5] } }
        start = 0.5
        stop = 2
        buoyancy = 0.2
        [[body]]
        shape = { box = { from = [0.2, 0.3], to = [0.4, 0.7] } }
        mass = 24
        angular_velocity = [3]
    "#;
    let setup: Setup<2> = valid(text).setup();
    assert_eq!(setup.fluid.map(|fluid| fluid.velocity), Some([0.0, 1.0]));
    assert_eq!((setup.density, setup.viscosity, setup.surface_tension), (998.2, 0.1, 0.0));
    let smoke = &setup.smoke[0];
    assert_eq!((smoke.start, smoke.stop, smoke.buoyancy), (0.5, Some(2.0), 0.2));
    let body = &setup.bodies[0];
    assert_eq!((body.name.as_str(), body.angular_velocity), ("body-1", [0.0, 0.0, 3.0]));
    assert!((body.mass - 24.0).abs() < 1e-9 && (body.density - 300.0).abs() < 3.0, "{body:?}");
    assert!((body.centre[1] - 0.5).abs() < 1e-6, "{body:?}");
    assert!((body.inertia[2][2] / (24.0 * (0.04 + 0.16) / 12.0) - 1.0).abs() < 0.01, "{body:?}");
}

#[test]
fn two_fluids_arrive_in_the_setup() {
    let domain = "[domain]\nsize = [1, 1]\ncells = 32\n";
    let drop = "[[liquid]]\nshape = { sphere = { centre = [0.5, 0.5], radius = 0.2 } }\ndensity = 3000\n";
    let air = format!("{domain}{drop}[air]\nmodel = \"two-phase\"\nviscosity = 0.5\n");
    let setup: Setup<2> = valid(&air).setup();
    assert_eq!(setup.second, Some(SecondSetup { density: 1.2, viscosity: 0.5 }));
    let around = "[[liquid]]\nshape = { box = { from = [0, 0], to = [1, 1] } }\nviscosity = 0.1\n";
    let setup: Setup<2> = valid(&format!("{domain}{drop}{around}")).setup();
    assert_eq!((setup.density, setup.viscosity), (3000.0, 0.0));
    assert_eq!(setup.second, Some(SecondSetup { density: 1000.0, viscosity: 0.1 }));
    assert_eq!(setup.liquids.iter().map(|liquid| liquid.is_second).collect::<Vec<_>>(), [false, true]);
}

#[test]
fn everything_arrives_in_the_setup() {
    let scene = valid(EVERYTHING);
    assert_eq!(scene.dimension(), 3);
    let setup: Setup<3> = scene.setup();
    assert_eq!(setup.gravity, [0.0, -1.62, 0.0]);
    assert_eq!((setup.grid.cells, setup.grid.origin), ([40, 20, 20], [0.0; 3]));
    assert!((setup.grid.dx - 0.05).abs() < 1e-15);
    assert_eq!(setup.open, [[true, false], [false, true], [false, false]]);
    assert_eq!(
        (setup.time.frames, setup.time.fps, setup.time.cfl, setup.time.max_substeps),
        (48, 30.0, 3.0, 8)
    );
    assert_eq!((setup.density, setup.surface_tension), (850.0, 0.03));
    assert_eq!((setup.air, setup.walls), (AirModel::Bubbles, Walls::NoSlip));
    assert_eq!(setup.slip, [[false, true], [false; 2], [false; 2]]);
    let Regions { model, tile, largest, fluids, surface_band, interface_band, solid_band } = setup.regions;
    assert_eq!((model, tile, largest, fluids), (RegionModel::Graded, 8, 32, RegionFluids::Liquid));
    assert_eq!((surface_band, interface_band, solid_band), (5, Some(4), 3));
    assert_eq!((setup.second, setup.liquids.len()), (None, 2));
    assert_eq!(setup.viscosity, 0.2);
    assert_eq!(setup.liquids[1].velocity, [0.0, -1.0, 0.0]);
    assert_eq!((setup.sources[0].start, setup.sources[0].stop), (0.1, Some(1.0)));
    assert_eq!(setup.sources[0].velocity, [1.0, 0.0, 0.0]);
    assert_eq!((setup.sinks[0].name.as_str(), setup.sinks[0].stop), ("drain", Some(1.5)));
    let names: Vec<&str> = setup.solids.iter().map(|s| s.name.as_str()).collect();
    assert_eq!(names, ["pillar", "solid-2", "paddle"]);
    assert_eq!((setup.solids[0].glass, setup.solids[1].glass), (Some(true), None));
    let motion = setup.solids[2].motion.as_ref().expect("a motion");
    assert_eq!((motion.pivot, motion.axis, motion.repeat), ([1.5, 0.5, 0.5], [1.0, 0.0, 0.0], true));
    assert_eq!(setup.probes[3].kind, ProbeKind::Flux { axis: 0, from: [1.0, 0.0, 0.0], to: [1.0, 1.0, 1.0] });
    assert_eq!(setup.probes[4].kind, ProbeKind::Front { axis: 0, end: 1, least: 0.04 });
    assert_eq!(setup.probes[2].kind, ProbeKind::Height { at: [0.5, 0.0, 0.25] });
    assert_eq!(setup.probes[5].kind, ProbeKind::Underside { at: [0.5, 0.0, 0.25] });
    let half = Shape::half_space([1.0, 0.0, 0.0], [1.0, 0.0, 0.0]).expect("a half-space");
    assert_eq!(setup.probes[6].kind, ProbeKind::Volume { shape: half });
    let ProbeKind::MeanVelocity { shape } = &setup.probes[7].kind else { panic!("{:?}", setup.probes[7]) };
    assert!((shape.signed_distance([0.5; 3]) + 0.4).abs() < 1e-15);
    assert!(matches!(setup.probes[8].kind, ProbeKind::Energy { .. }));
    // The paddle is scaled about its pivot before it is turned.
    let paddle = &setup.solids[2].shape;
    let reach = paddle.bounds().extent();
    assert!((reach[1] - 0.32).abs() < 1e-12, "{reach:?}");
    let drops = &setup.liquids[1].shape;
    assert!(drops.signed_distance([0.45, 0.7, 0.2]) < 0.0 && drops.signed_distance([0.3, 0.7, 0.35]) > 0.0);
    assert_eq!(setup.particles.transfer, Transfer::Flip { blend: 0.9 });
    assert_eq!((setup.particles.min_per_cell, setup.particles.max_per_cell), (3, 12));
    assert_eq!((setup.solver.tolerance, setup.solver.max_iterations), (1e-6, 100));
    assert!(!setup.output.particles && setup.output.checkpoint_every == 5);
    assert_eq!(setup.render.camera.map(|c| (c.from, c.fov_degrees)), Some(([3.0, 2.0, 3.0], 50.0)));
    assert_eq!((setup.render.width, setup.render.height), (640, 360));
}

#[test]
fn two_dimensional_settings_are_read() {
    let text = format!("{SQUARE}{POOL}\n[render]\nshow = \"liquid\"\nstreamlines = true\n");
    let setup = valid(&text).setup::<2>();
    assert!(setup.render.streamlines);
    assert_eq!(setup.render.show, meniscus_scene::Show::Liquid);
    assert_eq!((setup.particles.min_per_cell, setup.particles.max_per_cell), (2, 8));
    assert_eq!(setup.particles.transfer, Transfer::Apic);
    assert_eq!(setup.gravity, [0.0, -9.81]);
    assert_eq!(setup.density, 1000.0);
    assert_eq!(setup.open, [[false; 2]; 2]);
}

#[test]
#[should_panic(expected = "a 2D scene has no 3D setup")]
fn the_wrong_dimension_panics() {
    valid(&format!("{SQUARE}{POOL}")).setup::<3>();
}

#[test]
fn shapes_are_what_they_say() {
    let inside = |shape: &str, point: [f64; 2]| {
        let scene = valid(&format!("{SQUARE}\n[[liquid]]\nshape = {shape}\n"));
        scene.setup::<2>().liquids[0].shape.signed_distance(point) < 0.0
    };
    let bar = "{ box = { from = [0.2, 0.45], to = [0.8, 0.55] } }";
    let upright = format!("{{ transform = {{ shape = {bar}, degrees = 90 }} }}");
    assert!(inside(&upright, [0.5, 0.75]) && !inside(&upright, [0.75, 0.5]), "turns about its own middle");
    let hinged = format!("{{ transform = {{ shape = {bar}, degrees = 90, pivot = [0.2, 0.45] }} }}");
    assert!(
        inside(&hinged, [0.15, 0.9]) && !inside(&hinged, [0.5, 0.5]),
        "turns counter-clockwise about the pivot"
    );
    let moved = format!("{{ transform = {{ shape = {bar}, translate = [0, 0.3] }} }}");
    assert!(inside(&moved, [0.5, 0.8]) && !inside(&moved, [0.5, 0.5]));
    let cut = format!("{{ difference = [{bar}, {{ sphere = {{ centre = [0.5, 0.5], radius = 0.1 }} }}] }}");
    assert!(inside(&cut, [0.3, 0.5]) && !inside(&cut, [0.5, 0.5]));
    let all_but = format!("{{ complement = {bar} }}");
    assert!(inside(&all_but, [0.5, 0.8]) && !inside(&all_but, [0.5, 0.5]));
    let skin = format!("{{ shell = {{ shape = {bar}, thickness = 0.1 }} }}");
    assert!(inside(&skin, [0.5, 0.59]) && inside(&skin, [0.5, 0.41]) && !inside(&skin, [0.5, 0.61]));
    let half = "{ half_space = { point = [0.5, 0.5], normal = [0, 2] } }";
    assert!(inside(half, [0.9, 0.1]) && !inside(half, [0.9, 0.6]));
}

#[test]
fn meshes_are_read_relative_to_the_scene_and_scaled() {
    let folder = tempfile::tempdir().expect("a folder");
    let tetrahedron = "v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\nf 1 3 2\nf 1 2 4\nf 1 4 3\nf 2 3 4\n";
    std::fs::write(folder.path().join("corner.obj"), tetrahedron).expect("a mesh");
    let text = format!("{CUBE}\n[[liquid]]\nshape = {{ mesh = {{ file = \"corner.obj\", scale = 0.5 }} }}\n");
    let path = folder.path().join("corner.toml");
    std::fs::write(&path, text).expect("a scene");
    let scene = Scene::open(path.to_str().expect("a path"), &[]).expect("a scene");
    assert_eq!((scene.name(), scene.folder()), ("corner", folder.path()));
    let shape = &scene.setup::<3>().liquids[0].shape;
    assert!((shape.signed_distance([0.1, 0.1, 0.1]) + 0.1).abs() < 1e-12);
    assert_eq!(shape.bounds().upper, [0.5; 3]);
}

fn with(overrides: &[&str]) -> Scene {
    let overrides: Vec<String> = overrides.iter().map(|&o| o.to_owned()).collect();
    Scene::gallery("fountain", &overrides).unwrap_or_else(|error| panic!("{}", report(&error)))
}

#[test]
fn overrides_change_the_content_and_the_text() {
    type Expectation = fn(&Content) -> bool;
    let cases: [(&str, Expectation); 14] = [
        ("domain.cells=24", |c| c.domain.cells == 24),
        (" domain.cells = 24 ", |c| c.domain.cells == 24),
        ("domain.open=[]", |c| c.domain.open.is_empty()),
        ("solid.0.name=float", |c| c.solid[0].name.as_deref() == Some("float")),
        ("solid[0].name=\"float\"", |c| c.solid[0].name.as_deref() == Some("float")),
        ("solid[0].motion.keyframes[1].time=0.7", |c| {
            c.solid[0].motion.as_ref().unwrap().keyframes[1].time == 0.7
        }),
        ("air.model=\"void\"", |_| true),
        ("air.model=void", |_| true),
        ("particles.transfer=flip", |c| format!("{:?}", c.particles.transfer) == "Flip"),
        ("render={width=64,height=32}", |c| c.render.width == 64 && c.render.camera.is_none()),
        ("render.camera.from[0]=3", |c| c.render.camera.as_ref().unwrap().from[0] == 3.0),
        ("gravity=[0,-1,0]", |c| c.gravity == Some(vec![0.0, -1.0, 0.0])),
        ("description=a word or two", |c| c.description.as_deref() == Some("a word or two")),
        ("probe=[]", |c| c.probe.is_empty()),
    ];
    for (text, holds) in cases {
        let scene = with(&[text]);
        assert!(holds(scene.content()), "{text}");
        let again = valid(scene.source_text());
        assert_eq!(again.content(), scene.content(), "{text}:\n{}", scene.source_text());
        assert!(scene.source_text().contains("# A jet rises"), "{text} loses the comments");
    }
}

#[test]
fn later_overrides_win_and_build_on_earlier_ones() {
    let scene =
        with(&["domain.cells=24", "domain.cells=32", "solver.tolerance=1e-4", "solver.max_iterations=50"]);
    assert_eq!(scene.content().domain.cells, 32);
    assert_eq!((scene.content().solver.tolerance, scene.content().solver.max_iterations), (1e-4, 50));
    assert_eq!(valid(scene.source_text()).content(), scene.content());
}

#[test]
fn an_override_keeps_the_comment_beside_a_value() {
    let scene = Scene::gallery("dam-break", &["domain.cells=32".into()]).expect("a scene");
    assert!(scene.source_text().contains("cells = 32                # along the longest side"));
}

#[test]
fn an_override_can_mend_a_scene() {
    let text = format!("[domain]\nsize = [1, 1]\ncells = -4\n{POOL}");
    assert!(parse(&text).is_err());
    let mended =
        Scene::parse("test.toml", &text, Path::new(""), &["domain.cells=4".into()]).expect("a scene");
    assert_eq!(mended.setup::<2>().grid.cells, [4, 4]);
}

#[test]
fn errors_in_the_file_and_in_overrides_name_their_sources() {
    let text = format!("{SQUARE}typo = 1\n{POOL}");
    let error =
        Scene::parse("test.toml", &text, Path::new(""), &["time.fps=0".into()]).expect_err("two errors");
    let found: Vec<(&str, usize)> = error.problems().iter().map(|p| (p.source_name(), p.line())).collect();
    assert_eq!(found, [("test.toml", 4), ("the change time.fps=0", 1)]);
}

#[test]
fn absurd_sizes_are_refused_at_once_and_large_ones_are_not() {
    let with_cells =
        |cells: &str, size: &str| parse(&format!("[domain]\nsize = {size}\ncells = {cells}\n{POOL}"));
    for cells in ["4097", "100000", "9223372036854775807"] {
        let error = with_cells(cells, "[1, 1]").expect_err("absurd");
        assert!(error.to_string().contains("domain.cells"), "{error}");
    }
    assert!(with_cells("4096", "[1, 1]").is_ok());
    let cube = |cells: u64| {
        parse(&format!(
            "[domain]\nsize = [1, 1, 1]\ncells = {cells}\n[[liquid]]\nshape = {{ half_space = {{ point = [0, 0.5, 0], normal = [0, 1, 0] }} }}\n"
        ))
    };
    assert!(cube(1024).is_ok(), "1024^3 is 2^30");
    assert!(cube(1025).is_err());
}

#[test]
fn domains_are_rounded_to_cells_with_a_warning() {
    let scene = valid(
        "[domain]\nsize = [1, 0.777]\ncells = 10\n[[liquid]]\nshape = { box = { from = [0, 0], to = [0.5, 0.5] } }\n",
    );
    assert_eq!(scene.setup::<2>().grid.cells, [10, 8]);
    assert_eq!(scene.warnings().len(), 1);
    let flat = valid(
        "[domain]\nsize = [1, 0.001]\ncells = 10\n[[liquid]]\nshape = { box = { from = [0, 0], to = [0.5, 0.001] } }\n",
    );
    assert_eq!(flat.setup::<2>().grid.cells, [10, 1]);
    assert!(valid("[domain]\nsize = [0.3, 0.1]\ncells = 30\n[[liquid]]\nshape = { half_space = { point = [0, 0.05], normal = [0, 1] } }\n").warnings().is_empty());
}

#[test]
fn a_probe_that_reaches_the_side_of_a_rounded_domain_is_cut_there() {
    let text = format!(
        "[domain]\nsize = [1, 0.73]\ncells = 10\n{POOL}[[probe]]\nkind = \"flux\"\nname = \"a\"\nfrom = [0.5, 0]\nto = [0.5, 0.73]\n"
    );
    let probe = &valid(&text).setup::<2>().probes[0];
    let ProbeKind::Flux { axis: 0, to, .. } = probe.kind else { panic!("{probe:?}") };
    assert!((to[1] - 0.7).abs() < 1e-12, "{to:?}");
}

/// Anyone may run a scene coarser or finer, but that modes are found only between solids that cells show.
#[test]
fn the_gallery_is_valid_at_other_resolutions() {
    for name in gallery::names() {
        let least = if name == "islands" { 100 } else { 0 };
        for cells in [16, 40, 50, 128].into_iter().filter(|cells| *cells > least) {
            let scene = Scene::gallery(name, &[format!("domain.cells={cells}")]);
            assert!(scene.is_ok(), "{name} at {cells} cells: {}", report(&scene.unwrap_err()));
        }
    }
}

#[test]
fn what_is_probably_not_meant_gives_a_warning() {
    let mut all = String::new();
    for (file, text) in [
        ("thin.toml", include_str!("scenes/thin.toml")),
        ("overlaps.toml", include_str!("scenes/overlaps.toml")),
        ("cut-out.toml", include_str!("scenes/cut-out.toml")),
        ("unused.toml", include_str!("scenes/unused.toml")),
        ("ripples.toml", include_str!("scenes/ripples.toml")),
    ] {
        let scene =
            Scene::parse(file, text, Path::new(""), &[]).unwrap_or_else(|error| panic!("{}", report(&error)));
        assert!(!scene.warnings().is_empty());
        for remark in scene.warnings().iter().chain(scene.hints()) {
            all += &report(remark);
        }
    }
    insta::assert_snapshot!("warnings", all);
}

/// A room with walls that are drawn, and water that is drawn into them.
const DRAWN_INTO_WALLS: &str = r#"
[[liquid]]
shape = { box = { from = [-0.1, -0.1], to = [0.4, 0.5] } }
[[liquid]]
shape = { box = { from = [0.45, -0.1], to = [0.8, 0.5] } }
[[liquid]]
shape = { sphere = { centre = [0.5, 0.9], radius = 0.3 } }
[[solid]]
name = "floor"
shape = { box = { from = [0, 0], to = [1, 0.2] } }
[[solid]]
name = "lid"
shape = { box = { from = [0, 0.8], to = [1, 1] } }
"#;

#[test]
fn liquids_that_walls_cut_give_one_short_hint() {
    let scene = valid(&format!("{SQUARE}{DRAWN_INTO_WALLS}"));
    assert_no_warning(&scene);
    let [hint] = scene.hints() else { panic!("{:?}", scene.hints()) };
    let message = "liquid[0] (line 6), liquid[1] (line 8) and liquid[2] (line 10) reach into \"floor\" and \"lid\" \
                   or beyond the domain: what lies there is cut off";
    assert_eq!(hint.to_string(), message);
    assert_eq!((hint.line(), report(hint).lines().count()), (6, 3), "{}", report(hint));
    let moved = ["liquid[1].shape={ box = { from = [0.45, 0], to = [0.8, 0.5] } }".into()];
    let text = format!("{SQUARE}{DRAWN_INTO_WALLS}");
    let moved = Scene::parse("test.toml", &text, Path::new(""), &moved).expect("a scene");
    assert!(moved.hints()[0].message.contains("liquid[1] and liquid[2] (line 10)"), "{:?}", moved.hints());
}

#[test]
fn a_liquid_wholly_in_solids_is_a_loud_mistake() {
    let sunk = "[[liquid]]\nshape = { box = { from = [0.6, 0], to = [0.8, 0.2] } }\n";
    let sunk_at_the_lid = "[[liquid]]\nshape = { sphere = { centre = [0.5, 1], radius = 0.15 } }\n";
    let scene = valid(&format!("{SQUARE}{POOL}{sunk}{sunk_at_the_lid}{}", {
        let solids = DRAWN_INTO_WALLS.find("[[solid]]").expect("solids");
        &DRAWN_INTO_WALLS[solids..]
    }));
    let warnings: Vec<String> = scene.warnings().iter().map(ToString::to_string).collect();
    let of = |name: &str| format!("no part of the liquid was found outside of \"{name}\"");
    assert_eq!(warnings, [of("floor"), of("lid")]);
    assert!(report(&scene.warnings()[0]).contains("in solids"));
    assert_eq!(scene.hints().len(), 1, "that of the pool");
}

#[test]
fn shapes_that_touch_give_no_warning() {
    let text = format!(
        "{SQUARE}
[[liquid]]
shape = {{ box = {{ from = [0, 0], to = [0.5, 0.5] }} }}
[[liquid]]
shape = {{ box = {{ from = [0.5, 0], to = [0.8, 0.5] }} }}
[[solid]]
shape = {{ box = {{ from = [0.8, 0], to = [1, 1] }} }}
[[solid]]
shape = {{ box = {{ from = [0, 0.5], to = [0.1, 1] }} }}
"
    );
    assert_no_remark(&valid(&text));
}

#[test]
fn liquids_have_the_density_that_is_given_or_that_of_water() {
    let text = format!("{SQUARE}{POOL}");
    assert_eq!(valid(&text).setup::<2>().density, 1000.0);
    assert_eq!(valid(&format!("{text}density = 800\n")).setup::<2>().density, 800.0);
}

#[test]
fn materials_are_presets_that_keys_override() {
    let text = format!("{SQUARE}{POOL}");
    let of = |keys: &str| valid(&format!("{text}{keys}")).setup::<2>();
    let properties = |setup: &Setup<2>| [setup.density, setup.viscosity, setup.surface_tension];
    assert_eq!(properties(&of("")), [1000.0, 0.0, 0.0]);
    assert_eq!(properties(&of("material = \"water\"\n")), [998.2, 1.002e-3, 0.0728]);
    assert_eq!(properties(&of("material = \"honey\"\nviscosity = 4\n")), [1420.0, 4.0, 0.055]);
    assert_eq!(properties(&of("material = \"oil\"\nsurface_tension = 0\n")), [911.0, 0.084, 0.0]);
    let plain = of("");
    assert_eq!((plain.air, plain.walls), (AirModel::Void, Walls::Slip));
}

#[test]
fn a_source_pours_the_first_liquid_unless_it_says_otherwise() {
    let source =
        "\n[[source]]\nshape = { box = { from = [0.6, 0.6], to = [0.9, 0.9] } }\nvelocity = [0, -1]\n";
    let text = format!("{SQUARE}{POOL}material = \"glycerine\"\n{source}");
    assert_eq!(valid(&text).setup::<2>().viscosity, 1.41);
    assert!(parse(&format!("{text}viscosity = 0.1\n")).is_err());
    assert!(parse(&format!("{text}material = \"water\"\n")).is_err());
    let alone = valid(&format!("{SQUARE}{source}material = \"oil\"\n")).setup::<2>();
    assert_eq!((alone.density, alone.surface_tension, alone.viscosity), (911.0, 0.032, 0.084));
}

#[test]
fn the_schema_is_up_to_date() {
    assert_up_to_date("schema/scene.schema.json", &format!("{:#}\n", meniscus_scene::schema()));
}

#[test]
fn the_reference_is_up_to_date() {
    assert_up_to_date("../../docs/scenes.md", &meniscus_scene::reference());
}

/// Compares a file of the repository with the text that it is generated as.
#[track_caller]
fn assert_up_to_date(path: &str, text: &str) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(path);
    if std::env::var_os("UPDATE_SCHEMA").is_some() {
        std::fs::write(&path, text).expect("the file is written");
    }
    let stored = std::fs::read_to_string(&path).unwrap_or_default();
    assert!(stored == text, "run UPDATE_SCHEMA=1 cargo test -p meniscus-scene to write {}", path.display());
}

#[test]
fn sinks_are_warned_of_where_fluids_fill_the_domain() {
    let warnings = |rest: &str| {
        let sink = "[[sink]]\nname = \"drain\"\nshape = { box = { from = [0, 0], to = [0.1, 0.1] } }\n";
        let domain = "[domain]\nsize = [1, 1]\ncells = 20\nopen = [\"+y\"]\n";
        let scene = valid(&format!("{domain}{sink}{rest}"));
        scene.warnings().iter().map(|warning| report(warning)).collect::<Vec<String>>()
    };
    let liquid = "[[liquid]]\nshape = { box = { from = [0, 0], to = [1, 0.5] } }\n";
    for filled in [format!("{liquid}[air]\nmodel = \"two-phase\"\n"), "[fluid]\n".into()] {
        let all = warnings(&filled);
        assert!(all.len() == 1 && all[0].contains("the sink \"drain\" lets nothing out"), "{all:?}");
    }
    for free in [format!("{liquid}[air]\nmodel = \"bubbles\"\n"), liquid.into()] {
        assert!(warnings(&free).is_empty());
    }
}

#[test]
fn scenes_are_made_of_values() {
    for name in gallery::names() {
        let scene = Scene::gallery(name, &[]).expect("a scene");
        let again = Scene::from_value(name, scene.content(), Path::new("")).expect("the same scene");
        assert!(again.content() == scene.content(), "{name}");
    }
    let value = serde_json::json!({
        "domain": { "size": [1.0, 0.5], "cells": 20 },
        "liquid": [{ "shape": { "box": { "from": [0, 0], "to": [0.5, 0.25] } }, "velocty": [1, 0] }],
    });
    let error = Scene::from_value("own", &value, Path::new("")).expect_err("a misspelt key");
    assert!(error.to_string().contains("unknown key `velocty` in `liquid[0]`"), "{error}");
    let error = Scene::from_value("own", &3, Path::new("")).expect_err("no table").to_string();
    assert!(error.starts_with("the scene own cannot be written as text"), "{error}");
}

#[test]
fn modes_arrive_in_the_setup() {
    let scene = valid(
        r#"
method = "modes"
[domain]
size = [2, 1]
cells = 64
[fluid]
density = 900
viscosity = 0.5
[[fluid.wave]]
half_waves = [3, 1]
vorticity = -2
[modes]
count = 40
integrator = "midpoint"
feedback = "none"
shed_time = 0.5
panel = 0.03
forces = "paper"
[[modes.enrich]]
name = "jet"
stroke = { points = [[0.5, 0.5], [1.5, 0.5], [1.5, 0.8]], width = 0.05, speed = 0.2 }
[[modes.enrich]]
stroke = { points = [[0.5, 0.2], [1.5, 0.2]], width = 0.1 }
[[modes.enrich]]
name = "kept"
waves = [[12, 3, 0.5], [3, 14, -1]]
amplitudes = [-0.2]
"#,
    );
    let setup = scene.setup::<2>();
    assert_eq!(setup.method, Method::Modes);
    let whirls = &setup.fluid.expect("a fluid").whirls;
    assert_eq!((whirls[0].size, whirls[0].half_waves, whirls[0].vorticity), ([2.0, 1.0], [3, 1], -2.0));
    let modes = setup.modes.expect("modes");
    assert_eq!((modes.count, modes.shed_time, modes.panel), (40, 0.5, 0.03));
    assert_eq!(modes.integrator, ModesIntegrator::Midpoint);
    assert_eq!((modes.feedback, modes.forces), (ModesFeedback::None, ModesForces::Paper));
    let [jet, other, kept] = &modes.enrich[..] else { panic!("three entries") };
    assert_eq!([&jet.name, &other.name, &kept.name], ["jet", "drawn-2", "kept"]);
    let [EnrichSource::Stroke(jet), EnrichSource::Stroke(other)] = [&jet.source, &other.source] else {
        panic!("two strokes")
    };
    assert_eq!((jet.points.len(), jet.width, jet.speed, other.speed), (3, 0.05, 0.2, 0.0));
    assert_eq!(kept.source, EnrichSource::Waves(vec![([12, 3], 0.5), ([3, 14], -1.0)]));
    assert_eq!(kept.amplitudes, [-0.2]);
    // Left out, a panel is a fiftieth of the shorter side.
    let setup = valid("method = \"modes\"\n[domain]\nsize = [2, 1]\ncells = 64\n[fluid]\n").setup::<2>();
    assert_eq!(setup.modes.expect("modes").panel, 0.02);
}

#[test]
fn a_wave_that_no_mode_holds_is_refused_with_the_count_that_does() {
    let text = |count: usize| {
        format!(
            "method = \"modes\"\n[domain]\nsize = [1, 1]\ncells = 64\n[fluid]\n[[fluid.wave]]\nhalf_waves = [3, 2]\nvorticity = 1\n[modes]\ncount = {count}\n"
        )
    };
    // 11, 12, 21, 22, 13, 31, 23 and 32 have no larger eigenvalue.
    valid(&text(8));
    let error = Scene::parse("test.toml", &text(7), Path::new("."), &[]).expect_err("a wave too many");
    assert_eq!(error.to_string(), "these waves are not among the 7 eigenmodes");
    assert!(error.problems()[0].help.contains("modes.count to 8"), "{:?}", error.problems());
}
