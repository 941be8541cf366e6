//! VALIDATION 6: a large bubble, free of tension, rises with a cap of radius R at 2/3 sqrt(g R), in two dimensions at 1/2 sqrt(g R) (Davies and Taylor 1950).

use meniscus_core::grid::Grid;
use meniscus_core::shape::Shape;
use meniscus_core::vector::{norm, sub};
use meniscus_liquid::{AirModel, InitialLiquid, Params, State, Surroundings, Workspace, max_time_step, step};
use meniscus_tests::all_cells;

use crate::capillary::set_flow;

const G: f64 = 9.81;

/// A cap that rises in a tank: the upper part of a ball, and liquid in the rest of the ball and around it.
struct Rise<const D: usize> {
    params: Params<D>,
    radius: f64,
    state: State<D>,
}

impl<const D: usize> Rise<D> {
    /// A cap of an angle of 60° from its top to its rim. The liquid below it, to where the ball ends, is its wake and moves as fast as the cap, at `part` of the speed that it should
    /// have, and the liquid outside flows around the ball: from rest a bubble is pierced from below before it has its speed.
    fn new(cells: [usize; D], radius_in_cells: f64, part: f64) -> Self {
        let grid = Grid { origin: [0.0; D], dx: 1.0 / 64.0, cells };
        let mut open_sides = [[false; 2]; D];
        open_sides[1][1] = true;
        let params = Params { air: AirModel::Bubbles, open_sides, ..Params::new(grid) };
        let radius = radius_in_cells * grid.dx;
        let mut top = cells.map(|n| n as f64 * grid.dx);
        let mut centre = top.map(|side| 0.5 * side);
        top[1] -= 6.0 * grid.dx;
        centre[1] = 1.5 * radius;
        let (mut rim, mut up) = (centre, [0.0; D]);
        rim[1] += radius * 60_f64.to_radians().cos();
        up[1] = 1.0;
        let below = Shape::half_space(rim, up).expect("a plane");
        let bubble = Shape::sphere(centre, radius).expect("a ball").difference(below);
        let shape = Shape::box_between([0.0; D], top).expect("a box").difference(bubble);
        let mut state =
            State::new(&params, &[InitialLiquid { shape, velocity: [0.0; D] }], &Surroundings::default());
        let speed = part * froude::<D>() * (G * radius).sqrt();
        set_flow(&mut state, &params, |x| around_a_ball(sub(x, centre), radius).map(|u| speed * u));
        Self { params, radius, state }
    }

    /// The height of the cap's top and its radius: of the circle or sphere that fits it best within 0.55 of the first radius from the axis.
    fn cap(&self) -> [f64; 2] {
        let Grid { dx, cells, .. } = self.params.grid;
        let (mut heights, mut squares) = (Vec::new(), Vec::new());
        for mut column in all_cells(cells).filter(|cell| cell[1] == 0) {
            let mut arm: [f64; D] = std::array::from_fn(|a| column[a] as f64 + 0.5 - 0.5 * cells[a] as f64);
            arm[1] = 0.0;
            if norm(arm) * dx < 0.55 * self.radius {
                column[1] = cells[1] - 8;
                arm[1] = self.upper_surface(column);
                heights.push(arm[1]);
                squares.push(norm(arm).powi(2));
            }
        }
        // r² + y² = 2 c y + R² - c², by least squares.
        let mean = |values: &[f64]| values.iter().sum::<f64>() / values.len() as f64;
        let (height, square) = (mean(&heights), mean(&squares));
        let spread = |values: &[f64], about: f64| -> f64 {
            heights.iter().zip(values).map(|(y, value)| (y - height) * (value - about)).sum()
        };
        let centre = 0.5 * spread(&squares, square) / spread(&heights, height);
        let radius = (square - 2.0 * centre * height + centre * centre).sqrt();
        [(centre + radius) * dx, radius * dx]
    }

    /// Where a column of cells first comes from liquid into air, downwards from a cell, in cells.
    fn upper_surface(&self, from: [usize; D]) -> f64 {
        let mut cell = from.map(|c| c as i64);
        let mut above = self.state.level_set.get(cell);
        loop {
            cell[1] -= 1;
            assert!(cell[1] >= 0, "no air below {from:?}");
            let below = self.state.level_set.get(cell);
            if above < 0.0 && below >= 0.0 {
                return cell[1] as f64 + 0.5 + f64::from(below / (below - above));
            }
            above = below;
        }
    }

    /// U / sqrt(g R) between 1.2 and 1.85 times sqrt(R / g): when the cap has found its speed, and before it is pierced.
    fn froude_number(mut self) -> f64 {
        let unit = (self.radius / G).sqrt();
        let (mut workspace, mut seen) = (Workspace::default(), Vec::new());
        while self.state.time < 1.85 * unit {
            let dt = max_time_step(&self.state, &self.params).min(0.05 * unit);
            step(&mut self.state, &self.params, &Surroundings::default(), dt, &mut workspace)
                .expect("converges");
            if self.state.time > 1.2 * unit {
                let [top, radius] = self.cap();
                seen.push((self.state.time, top, radius));
            }
        }
        let (first, last) = (seen[0], seen[seen.len() - 1]);
        let radius = seen.iter().map(|moment| moment.2).sum::<f64>() / seen.len() as f64;
        (last.1 - first.1) / (last.0 - first.0) / (G * radius).sqrt()
    }
}

/// What U / sqrt(g R) should be.
fn froude<const D: usize>() -> f64 {
    if D == 2 { 1.0 / 2.0 } else { 2.0 / 3.0 }
}

/// The flow in and around a ball that rises at a speed of 1, at a point `arm` from its centre.
fn around_a_ball<const D: usize>(arm: [f64; D], radius: f64) -> [f64; D] {
    let distance = norm(arm);
    let up = |axis: usize| f64::from(u8::from(axis == 1));
    if distance < radius {
        return std::array::from_fn(up);
    }
    let strength = (radius / distance).powi(D as i32) / (D as f64 - 1.0);
    std::array::from_fn(|axis| strength * (D as f64 * arm[1] * arm[axis] / distance.powi(2) - up(axis)))
}

/// 0.499 and 0.468 were measured. The front is unstable without tension, and any change of the grid changes the figures by several per cent.
#[test]
fn a_cylindrical_cap_finds_its_speed() {
    for part in [0.6, 1.0] {
        let found = Rise::<2>::new([192, 144], 24.0, part).froude_number();
        assert!((found / froude::<2>() - 1.0).abs() < 0.08, "begun at {part}: {found}");
    }
}

/// 0.708 was measured. Begun at the whole speed that it should have, a cap has 0.72.
#[test]
#[ignore = "takes a minute: ./check --long"]
fn long_a_spherical_cap_finds_its_speed() {
    let found = Rise::<3>::new([56, 72, 56], 12.0, 0.6).froude_number();
    assert!((found / froude::<3>() - 1.0).abs() < 0.08, "{found}");
}
