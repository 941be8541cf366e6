//! Scratch.
use meniscus_core::grid::Grid;
use meniscus_core::shape::Shape;
use meniscus_liquid::*;
fn main() {
    let n: usize = std::env::args().nth(1).map_or(64, |a| a.parse().unwrap());
    let end: f64 = std::env::args().nth(2).map_or(0.5, |a| a.parse().unwrap());
    let case = std::env::args().nth(3).unwrap_or("rise".into());
    let grid = Grid { origin: [0.0; 2], dx: 1.0 / n as f64, cells: [n, n] };
    let mut surroundings = Surroundings::default();
    let bx = |a: [f64; 2], b: [f64; 2]| Shape::box_between(a, b).unwrap();
    let disc = |c: [f64; 2], r: f64| Shape::sphere(c, r).unwrap();
    let shape = match &case[..] {
        "rise" => bx([0.0; 2], [1.0, 0.7]).difference(disc([0.5, 0.25], 0.12)),
        "two" => {
            bx([0.0; 2], [1.0, 0.8]).difference(disc([0.5, 0.2], 0.12)).difference(disc([0.45, 0.45], 0.08))
        }
        "slosh" => bx([0.0; 2], [0.5, 0.6]),
        "rest" => bx([0.0; 2], [1.0, 0.6]),
        "cooler" => {
            let neck = bx([0.0, 0.5], [0.42, 0.56]);
            let neck2 = bx([0.58, 0.5], [1.0, 0.56]);
            surroundings.solids = vec![Solid::fixed(neck), Solid::fixed(neck2)];
            bx([0.0, 0.5], [1.0, 0.9])
        }
        _ => panic!(),
    };
    let open = case != "cooler" && case != "slosh";
    let air = if std::env::var("VOID").is_ok() { AirModel::Void } else { AirModel::Bubbles };
    let params = Params { air, open_sides: [[false; 2], [false, open]], ..Params::new(grid) };
    let body = Body { shape, velocity: [0.0; 2] };
    let mut state = State::new(&params, &[body], &surroundings);
    let mut ws = Workspace::default();
    let cell = grid.dx * grid.dx;
    let mut next = 0.0;
    let v0 = state.volume;
    while state.time < end {
        let dt = max_time_step(&state, &params).min(0.005);
        let info = step(&mut state, &params, &surroundings, dt, &mut ws).unwrap();
        for e in &info.bubble_events {
            println!(
                "  {:.4} #{} {:?} {:?} -> {:?} {:?}",
                state.time,
                state.substep,
                e.kind,
                e.from,
                e.to,
                e.volumes.iter().map(|v| (v / cell * 100.0).round() / 100.0).collect::<Vec<_>>()
            );
        }
        if state.time >= next {
            next += end / 40.0;
            print!(
                "t {:.3} #{} it {} nb {} maxu {:.2} V {:.5} T {:.5} np {} bodies {} |",
                state.time,
                state.substep,
                info.solve.iterations,
                info.constrained_bubbles,
                state.max_speed,
                state.volume / v0,
                state.volume_target / v0,
                state.particles.len(),
                state.tracked.as_ref().map_or(0, |t| t.bodies.len())
            );
            for b in state.bubbles().filter(|b| b.volume < 30.0 * cell).take(14) {
                print!(" {}:{:.1}/{:.1} y{:.3}", b.id, b.volume / cell, b.rest_volume / cell, b.centroid[1]);
            }
            println!();
        }
    }
}
