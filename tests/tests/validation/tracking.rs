//! Bubbles from substep to substep: names, volumes, events.

use std::collections::BTreeMap;

use meniscus::Scene;
use meniscus_core::grid::Grid;
use meniscus_core::shape::Shape;
use meniscus_core::vector::norm;
use meniscus_liquid::{
    AirModel, AirRegion, EventKind, InitialLiquid, OPEN_AIR, Params, State, StepInfo, Surroundings,
    Workspace, max_time_step, step,
};
use meniscus_tests::{Simulation, all_cells, simulation};

/// A pool with bubbles under an open top, and how it is stepped.
struct Pool {
    state: State<2>,
    params: Params<2>,
    workspace: Workspace<2>,
}

impl Pool {
    fn new(air: AirModel, depth: f64, bubbles: &[([f64; 2], f64)]) -> Self {
        let grid = Grid { origin: [0.0; 2], dx: 1.0 / 64.0, cells: [64; 2] };
        let params = Params { air, open_sides: [[false; 2], [false, true]], ..Params::new(grid) };
        let pool = Shape::box_between([0.0; 2], [1.0, depth]).expect("a box");
        let shape = bubbles.iter().fold(pool, |pool, &(centre, radius)| {
            pool.difference(Shape::sphere(centre, radius).expect("a sphere"))
        });
        let body = InitialLiquid { shape, velocity: [0.0; 2] };
        let state = State::new(&params, &[body], &Surroundings::default());
        Self { state, params, workspace: Workspace::default() }
    }

    fn step(&mut self) -> StepInfo {
        let dt = max_time_step(&self.state, &self.params).min(0.005);
        step(&mut self.state, &self.params, &Surroundings::default(), dt, &mut self.workspace)
            .expect("converges")
    }

    /// The air under water, in cells.
    fn trapped(&self) -> f64 {
        let cells = all_cells([64, 38]).map(|cell| self.state.level_set.get(cell.map(|c| c as i64)));
        cells.map(|level| f64::from((0.5 + level).clamp(0.0, 1.0))).sum::<f64>()
    }
}

/// A bubble in a pool rises and keeps its volume and its name; without the constraint it is crushed.
#[test]
fn a_bubble_in_a_pool_is_not_crushed() {
    let bubble = [([0.5, 0.25], 0.12)];
    let mut pool = Pool::new(AirModel::Bubbles, 0.7, &bubble);
    let area = std::f64::consts::PI * 0.12_f64.powi(2);
    let mut height = 0.25;
    while pool.state.time < 0.4 {
        let info = pool.step();
        assert_eq!(info.bubble_events, []);
        let found: Vec<&AirRegion<2>> = pool.state.bubbles().collect();
        assert_eq!(found.len(), 1);
        assert!((found[0].rest_volume / area - 1.0).abs() < 0.005 && found[0].id == 1, "{found:?}");
        assert!((found[0].volume / found[0].rest_volume - 1.0).abs() < 0.01, "{found:?}");
        height = found[0].centroid[1];
    }
    assert!(height > 0.4, "it rose to {height}");
    let mut void = Pool::new(AirModel::Void, 0.7, &bubble);
    let before = void.trapped();
    while void.state.time < 0.12 {
        void.step();
    }
    assert!(void.trapped() < 0.5 * before);
}

/// Two bubbles chase each other, merge and break up. Rest volumes are handed on: their sum only falls by what collapses,
/// and every bubble of a size that the grid resolves has the volume that it should have.
#[test]
fn rest_volumes_are_handed_on_through_mergers_and_splits() {
    let mut pool = Pool::new(AirModel::Bubbles, 0.85, &[([0.5, 0.2], 0.12), ([0.45, 0.45], 0.08)]);
    let cell = pool.params.grid.dx.powi(2);
    let (mut merged, mut split) = (false, false);
    // In the first substep rest volumes are measured.
    pool.step();
    while pool.state.time < 0.3 {
        let before: Vec<AirRegion<2>> = pool.state.bubbles().copied().collect();
        let info = pool.step();
        let after: Vec<AirRegion<2>> = pool.state.bubbles().copied().collect();
        let rest = |bubbles: &[AirRegion<2>]| bubbles.iter().map(|b| b.rest_volume).sum::<f64>();
        let mut collapsed = 0.0;
        for event in &info.bubble_events {
            assert!(!event.from.contains(&OPEN_AIR) && !event.to.contains(&OPEN_AIR), "{event:?}");
            merged |= event.kind == EventKind::Merge;
            split |= event.kind == EventKind::Split;
            if event.kind == EventKind::Collapse {
                let of = |id: &u32| before.iter().find(|b| b.id == *id).map_or(0.0, |b| b.rest_volume);
                collapsed += event.from.iter().map(of).sum::<f64>();
            }
        }
        assert!((rest(&after) - rest(&before) + collapsed).abs() < 1e-12);
        for bubble in after.iter().filter(|b| b.volume > 30.0 * cell) {
            assert!((bubble.volume / bubble.rest_volume - 1.0).abs() < 0.04, "{bubble:?}");
        }
    }
    assert!(merged && split);
}

/// A bubble that breaks through the surface is one with the open air from then on.
#[test]
fn a_bubble_that_reaches_the_surface_joins_the_open_air() {
    let mut pool = Pool::new(AirModel::Bubbles, 0.4, &[([0.5, 0.3], 0.06)]);
    let mut burst = None;
    while pool.state.time < 0.6 && burst.is_none() {
        let info = pool.step();
        burst = info.bubble_events.into_iter().find(|event| event.to.contains(&OPEN_AIR));
    }
    let burst = burst.expect("it bursts");
    assert!(burst.kind == EventKind::Merge && !burst.from.contains(&OPEN_AIR), "{burst:?}");
    assert!(pool.state.bubbles().all(|bubble| !burst.from.contains(&bubble.id)));
}

/// Liquid that fills a closed box from wall to wall hangs on the air below it, most of which has no fields: what
/// the faces at the edge of the fields say of the air is no flux.
#[test]
fn a_layer_of_liquid_hangs_in_a_closed_box() {
    let grid = Grid { origin: [0.0; 2], dx: 1.0 / 64.0, cells: [64; 2] };
    let params = Params { air: AirModel::Bubbles, ..Params::new(grid) };
    let layer = InitialLiquid {
        shape: Shape::box_between([0.0, 0.7], [1.0, 0.9]).expect("a box"),
        velocity: [0.0; 2],
    };
    let mut state = State::new(&params, &[layer], &Surroundings::default());
    assert!(state.level_set.blocks().find([4, 1]).is_none(), "there is air without fields");
    let dt = 0.01;
    step(&mut state, &params, &Surroundings::default(), dt, &mut Workspace::default()).expect("converges");
    assert!(state.max_speed < 1e-3 * 9.81 * dt, "{} m/s", state.max_speed);
}

/// Less than half a cell of air is filled with liquid, and nothing of it comes back.
#[test]
fn a_speck_of_air_is_filled() {
    let mut pool = Pool::new(AirModel::Bubbles, 0.7, &[([20.5 / 64.0, 20.5 / 64.0], 0.2 / 64.0)]);
    let speck = *pool.state.bubbles().next().expect("there is a speck");
    assert!(speck.volume * 64.0_f64.powi(2) < 0.1 && speck.volume > 0.0, "{speck:?}");
    let events: Vec<_> = (0..10).flat_map(|_| pool.step().bubble_events).collect();
    assert_eq!(events.len(), 1, "{events:?}");
    assert_eq!((events[0].kind, &events[0].from[..]), (EventKind::Collapse, &[speck.id][..]));
    assert_eq!(pool.state.bubbles().count(), 0);
}

/// Liquid at rest and a tank that sloshes gently give birth to no bubble: what voids there are live for five substeps at most.
#[test]
fn no_bubble_appears_in_calm_liquid() {
    for (scene, cells) in [("hydrostatic-2d", 48), ("sloshing-2d", 48)] {
        let overrides =
            ["air.model=bubbles".into(), format!("domain.cells={cells}"), "time.frames=100000".into()];
        let scene = Scene::open(scene, &overrides).expect("a scene of the gallery");
        let mut simulation = Simulation::<2>::new(&scene);
        let mut age: BTreeMap<u32, u32> = BTreeMap::new();
        while simulation.time() < 10.0 {
            let stats = simulation.advance_substep().expect("it runs");
            age.retain(|id, _| stats.bubbles.iter().any(|bubble| bubble.id == *id));
            age.values_mut().for_each(|age| *age += 1);
            assert!(age.values().all(|&age| age <= 5), "{:?} at {} s", age, stats.time);
            for event in stats.events.iter().filter(|event| event.kind == "birth") {
                age.insert(event.to[0], 0);
            }
        }
    }
}

/// What is told of the velocity of a bubble is what its centroid moves by, over ten substeps: no shift of the surface and no change of its name comes between.
#[test]
fn the_velocity_of_a_bubble_is_that_of_its_centroid() {
    let text = r#"
        [domain]
        size = [0.4, 0.8]
        cells = 96
        [time]
        fps = 200
        [air]
        model = "bubbles"
        [[liquid]]
        shape = { difference = [{ box = { from = [0, 0], to = [0.4, 0.7] } }, { sphere = { centre = [0.2, 0.15], radius = 0.06 } }] }
    "#;
    let mut simulation = simulation::<2>(text);
    let stats: Vec<_> = (0..100).flat_map(|_| simulation.advance_frame().expect("it runs")).collect();
    let largest = |k: usize| {
        let inner = stats[k].bubbles.iter().filter(|bubble| bubble.volume < 0.02);
        inner.max_by(|a, b| a.volume.total_cmp(&b.volume)).expect("the bubble")
    };
    let mut windows = 0;
    for first in (10..stats.len() - 10).step_by(10) {
        let [from, to] = [largest(first), largest(first + 10)];
        // What splits off takes the centroid with it.
        if from.id != to.id || (to.rest_volume / from.rest_volume - 1.0).abs() > 0.01 {
            continue;
        }
        windows += 1;
        let told = |axis: usize| -> f64 {
            (first + 1..=first + 10).map(|k| largest(k).velocity[axis] * stats[k].dt).sum()
        };
        let moved: [f64; 2] = std::array::from_fn(|axis| to.centroid[axis] - from.centroid[axis]);
        let off: [f64; 2] = std::array::from_fn(|axis| told(axis) - moved[axis]);
        assert!(norm(off) < 0.03 * norm(moved), "{} s: {moved:?}, off by {off:?}", stats[first].time);
    }
    assert!(windows >= 5, "{windows} windows");
}
