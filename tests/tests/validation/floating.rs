//! Bodies that float, sink and rest in a liquid that moves.

use meniscus_core::grid::Grid;
use meniscus_core::shape::{RigidTransform, Rotation, Shape};
use meniscus_liquid::{
    AirModel, InitialLiquid, Params, Solid, State, Surroundings, Workspace, max_time_step, step,
};
use meniscus_rigid::RigidBody;

/// A tank of water, one metre wide, with bodies in it.
struct Tank<const D: usize> {
    params: Params<D>,
    surroundings: Surroundings<D>,
    state: State<D>,
    workspace: Workspace<D>,
}

impl<const D: usize> Tank<D> {
    fn new(cells: [usize; D], dx: f64, level: f64, bodies: Vec<RigidBody<D>>, air: AirModel) -> Self {
        Self::with_solids(cells, dx, level, bodies, Vec::new(), air)
    }

    fn with_solids(
        cells: [usize; D],
        dx: f64,
        level: f64,
        bodies: Vec<RigidBody<D>>,
        solids: Vec<Solid<D>>,
        air: AirModel,
    ) -> Self {
        let params = Params { air, ..Params::new(Grid { origin: [0.0; D], dx, cells }) };
        let mut upper = cells.map(|n| n as f64 * dx);
        upper[1] = level;
        let water = InitialLiquid { shape: Shape::box_between([0.0; D], upper).unwrap(), velocity: [0.0; D] };
        let surroundings = Surroundings { bodies, solids, ..Surroundings::default() };
        let state = State::new(&params, &[water], &surroundings);
        Self { params, surroundings, state, workspace: Workspace::default() }
    }

    fn advance(&mut self, longest: f64) -> f64 {
        let dt = max_time_step(&self.state, &self.params).min(longest);
        self.state.bodies.iter_mut().for_each(|body| body.fly(dt));
        step(&mut self.state, &self.params, &self.surroundings, dt, &mut self.workspace).unwrap();
        dt
    }
}

fn rigid<const D: usize>(shape: Shape<D>, density: f64, at: [f64; D]) -> RigidBody<D> {
    let pose = RigidTransform { translation: at, ..RigidTransform::IDENTITY };
    RigidBody::new(shape, density, pose).unwrap()
}

/// The mean draught of a box that floats, as a part of its height, between two times; and how far it tilts at most.
fn draught<const D: usize>(ratio: f64, half: [f64; D], cells: [usize; D], air: AirModel) -> (f64, f64) {
    let dx = 1.0 / cells[0] as f64;
    // Deep enough for what floats deep.
    let level = if ratio > 0.8 { 0.6 } else { 0.4 };
    let mut centre: [f64; D] = std::array::from_fn(|a| 0.5 * cells[a] as f64 * dx);
    centre[1] = level + half[1] * (1.0 - 2.0 * ratio) + 0.37 * dx;
    let body = rigid(Shape::centred_box([0.0; D], half).unwrap(), 1000.0 * ratio, centre);
    let mut tank = Tank::new(cells, dx, level, vec![body], air);
    let (mut sum, mut time, mut tilt) = (0.0, 0.0, 0.0f64);
    let area: f64 = (0..D).filter(|&a| a != 1).map(|a| cells[a] as f64 * dx).product();
    let footprint: f64 = (0..D).filter(|&a| a != 1).map(|a| 2.0 * half[a]).product();
    while tank.state.time < 3.0 {
        let dt = tank.advance(0.01);
        let pose = tank.state.bodies[0].pose;
        tilt = tilt.max((1.0 - pose.rotation.matrix()[1][1]).max(0.0).sqrt());
        if tank.state.time > 1.0 {
            // The level of the water, with the body in it.
            let bottom = pose.translation[1] - half[1];
            let surface = (tank.state.volume - bottom * footprint) / (area - footprint);
            sum += dt * (surface - bottom);
            time += dt;
        }
    }
    (sum / time / (2.0 * half[1]), tilt)
}

/// Archimedes: a box at rest draws its density ratio of its height.
#[test]
fn a_floating_box_draws_its_density_ratio() {
    for ratio in [0.1, 0.5, 0.9] {
        let (found, tilt) = draught::<2>(ratio, [0.15, 0.1], [48, 40], AirModel::Void);
        assert!((found - ratio).abs() < 0.01 && tilt < 0.02, "{ratio}: draws {found}, tilts by {tilt}");
    }
    // A cube lies well at 0.1 and 0.9, a flat box at 0.5. With 24 cells the first draws no more than one of them, and rocks by 0.025.
    for (ratio, half, cells) in [(0.1, [0.25; 3], 32), (0.5, [0.17, 0.12, 0.2], 24), (0.9, [0.25; 3], 24)] {
        let (found, tilt) = draught::<3>(ratio, half, [cells; 3], AirModel::Void);
        assert!((found - ratio).abs() < 0.01 && tilt < 0.02, "{ratio}: draws {found}, tilts by {tilt}");
    }
}

/// A body as dense as the liquid stays where it is: no point of it is ever faster than 1e-6 g t. In the middle, on the floor, in a corner, at a wall.
#[test]
fn a_neutral_body_stays() {
    let half = [0.13, 0.07];
    for (angle, at) in [(0.5, [0.52, 0.31]), (0.0, [0.52, half[1]]), (0.0, half), (0.0, [half[0], 0.31])] {
        let pose = RigidTransform { rotation: Rotation::<2>::from_angle(angle).unwrap(), translation: at };
        let body = RigidBody::new(Shape::centred_box([0.0; 2], half).unwrap(), 1000.0, pose).unwrap();
        let mut tank = Tank::new([48, 40], 1.0 / 48.0, 0.61, vec![body], AirModel::Void);
        while tank.state.time < 1.0 {
            tank.advance(0.01);
            let [x, y, turn, ..] = tank.state.bodies[0].velocity;
            let fastest = x.hypot(y) + turn.abs() * half[0].hypot(half[1]);
            assert!(fastest < 1e-6 * 9.81 * tank.state.time, "{at:?}: {fastest} after {}", tank.state.time);
        }
    }
}

/// A plug that fills a tube rests on the liquid under it, which has nowhere to go, however heavy the plug is; and the liquid bears its weight.
#[test]
fn a_plug_rests_on_the_liquid_in_a_tube() {
    let dx = 1.0 / 32.0;
    let plug = rigid(Shape::centred_box([0.0; 2], [0.5, 0.15]).unwrap(), 5000.0, [0.5, 0.65]);
    for air in [AirModel::Void, AirModel::Bubbles] {
        let mut tank = Tank::new([32, 40], dx, 0.5, vec![plug.clone()], air);
        while tank.state.time < 1.0 {
            tank.advance(0.01);
        }
        let body = tank.state.bodies[0];
        let sunk = 0.65 - body.pose.translation[1];
        assert!(sunk.abs() < 1e-3, "{air:?}: sank by {sunk} m");
        let (weight, depth) = (5000.0 * 9.81 * 0.3, 0.5 - 0.1);
        let found = meniscus_liquid::probe::pressure(&tank.state, &tank.params, [0.5, 0.1]);
        let expected = weight + 1000.0 * 9.81 * depth;
        assert!((found / expected - 1.0).abs() < 0.02, "{air:?}: {found} Pa instead of {expected}");
    }
}

/// Water pushes a light body off the floor that it lies on, though no cell is left between the two: in a tank with a surface, and in a box
/// that is full, where it makes room for itself.
#[test]
fn a_light_body_leaves_the_floor() {
    for (level, air) in [(0.8, AirModel::Void), (0.8, AirModel::Bubbles), (1.0, AirModel::None)] {
        let risen = risen_from_floor(500.0, 0.15, 0.0, level, air);
        assert!(risen > 0.2, "{air:?}: {risen} m in a second");
    }
}

/// So wherever in a cell the floor lies, and under a body that is wider than blocks of cells.
#[test]
fn a_light_body_leaves_a_floor_at_any_height() {
    for floor in [0.2, 0.4, 0.6, 0.8, 0.9] {
        let risen = risen_from_floor(500.0, 0.15, floor, 0.8, AirModel::Void);
        assert!(risen > 0.2, "from {floor} cells: {risen} m in a second");
    }
    let risen = risen_from_floor(500.0, 0.4, 0.0, 0.8, AirModel::Void);
    assert!(risen > 0.03, "a wide one: {risen} m in a second");
}

/// One that is hardly lighter than water leaves it too, more slowly than in open water, where its first acceleration would lift it by 0.045 m; and
/// one that is as dense stays, wherever in a cell the floor lies.
#[test]
fn a_body_nearly_as_dense_as_water_leaves_the_floor() {
    let risen = risen_from_floor(970.0, 0.15, 0.0, 0.8, AirModel::Void);
    assert!(risen > 0.005 && risen < 0.045, "{risen} m in a second");
    for floor in [0.0, 0.3, 0.95] {
        let risen = risen_from_floor(1000.0, 0.15, floor, 0.8, AirModel::Void);
        assert!(risen.abs() < 1e-6, "from {floor} cells: {risen} m in a second");
    }
}

/// How far a box rises in a second from a floor that is `floor` cells high, in metres.
fn risen_from_floor(density: f64, half_width: f64, floor: f64, level: f64, air: AirModel) -> f64 {
    let (dx, half) = (1.0 / 32.0, [half_width, 0.1]);
    let at = [0.5, floor * dx + half[1]];
    let body = rigid(Shape::centred_box([0.0; 2], half).unwrap(), density, at);
    let ground = Solid::fixed(Shape::box_between([-1.0, -1.0], [2.0, floor * dx]).unwrap());
    let solids = if floor > 0.0 { vec![ground] } else { Vec::new() };
    let mut tank = Tank::with_solids([32, 32], dx, level, vec![body], solids, air);
    while tank.state.time < 1.0 {
        tank.advance(0.01);
    }
    tank.state.bodies[0].pose.translation[1] - at[1]
}
