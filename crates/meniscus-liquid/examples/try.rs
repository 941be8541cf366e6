//! Scratch.
#![allow(clippy::all, missing_docs, clippy::print_stdout)]
use meniscus_core::grid::Grid;
use meniscus_core::shape::*;
use meniscus_liquid::*;
use std::collections::BTreeMap;
use std::io::Write;

fn ppm(path: &str, s: &State<2>, scale: usize) {
    let n = s.level_set.blocks().cells();
    let (w, h) = (n[0] * scale, n[1] * scale);
    let mut out = format!("P6 {w} {h} 255\n").into_bytes();
    for j in (0..h).rev() {
        for i in 0..w {
            let x = [(i as f32 + 0.5) / scale as f32, (j as f32 + 0.5) / scale as f32];
            let v = meniscus_core::interpolate::interpolate(&s.level_set, x);
            let c = (255.0 * (0.5 + v * scale as f32).clamp(0.0, 1.0)) as u8;
            out.extend([c, c, 255]);
        }
    }
    for p in &s.particles.position {
        let (i, j) = ((p[0] * scale as f32) as usize, h - 1 - (p[1] * scale as f32) as usize);
        let at = out.len() - 3 * w * h + 3 * (j * w + i);
        out[at..at + 3].copy_from_slice(&[255, 80, 0]);
    }
    std::fs::File::create(path).unwrap().write_all(&out).unwrap();
}

fn run<const D: usize>(name: &str, params: &Params<D>, bodies: &[Body<D>], around: &Surroundings<D>, frames: usize, dtf: f64, fixed: Option<f64>, mut look: impl FnMut(usize, &State<D>)) {
    let mut state = State::new(params, bodies, around);
    let mut ws = Workspace::default();
    println!("{name}: {} particles, volume {}", state.particles.len(), state.volume);
    look(0, &state);
    let mut steps = 0;
    let mut stages: BTreeMap<&str, f64> = BTreeMap::new();
    let (mut worst, mut iters) = (0.0f64, 0);
    for frame in 1..=frames {
        let end = frame as f64 * dtf;
        let (mut e, mut dv, mut lost, mut add) = (0.0, 0.0, 0, (0, 0));
        while state.time < end - 1e-9 {
            let left = end - state.time;
            let dtm = fixed.unwrap_or_else(|| max_time_step(&state, params));
            let dt = left / (left / dtm).ceil();
            let info = step(&mut state, params, around, dt, &mut ws).unwrap();
            steps += 1;
            for (n, s) in &info.stages { *stages.entry(n).or_default() += s; }
            e = info.kinetic_energy;
            dv = info.max_divergence;
            lost += info.collide.lost;
            add.0 += info.reseed.added;
            add.1 += info.reseed.thinned;
            iters += info.solve.iterations;
            worst = worst.max((state.volume / state.volume_target - 1.0).abs());
        }
        look(frame, &state);
        if frame % (frames / 20).max(1) == 0 {
            println!("frame {frame} t {:.3} steps {steps} n {} drift {:+.3}% worst {:.3}% E {e:.3e} umax {:.3e} div {dv:.1e} lost {lost} reseed {add:?}", state.time, state.particles.len(), 100.0 * (state.volume / state.volume_target - 1.0), 100.0 * worst, state.max_speed);
        }
    }
    println!("iterations/step {:.1}", iters as f64 / steps as f64);
    for (n, s) in stages { println!("  {n:14} {:8.2} ms", 1e3 * s / steps as f64); }
}

fn main() {
    let args: Vec<String> = std::env::args().collect();
    let n: usize = args.get(2).map_or(64, |s| s.parse().unwrap());
    let flip = std::env::var("FLIP").ok().map(|b| b.parse().unwrap());
    match args[1].as_str() {
        "rest" => {
            let mut p = Params::new(Grid::<2> { origin: [0.0; 2], dx: 1.0 / n as f64, cells: [n; 2] });
            if let Some(blend) = flip { p.transfer = Transfer::Flip { blend }; }
            let r = Rotation::<2>::from_angle(30f64.to_radians()).unwrap();
            let c = Shape::centred_box([0.0; 2], [0.35; 2]).unwrap().transformed(RigidTransform { rotation: r, translation: [0.5; 2] }).unwrap();
            let around = Surroundings { solids: vec![Solid::fixed(c.complement())], ..Default::default() };
            let bodies = [Body { shape: Shape::half_space([0.5, 0.537], [0.0, 1.0]).unwrap(), velocity: [0.0; 2] }];
            run("rest", &p, &bodies, &around, 20, 25.0 * 0.01, Some(0.01), |f, s| if f % 20 == 0 { ppm(&format!("/tmp/m/rest{f}.ppm"), s, 8) });
        }
        "pool" => {
            let mut p = Params::new(Grid::<2> { origin: [0.0; 2], dx: 1.0 / n as f64, cells: [n; 2] });
            if let Some(blend) = flip { p.transfer = Transfer::Flip { blend }; }
            let bodies = [Body { shape: Shape::box_between([0.0, 0.0], [1.0, 0.537]).unwrap(), velocity: [0.0; 2] }];
            run("pool", &p, &bodies, &Default::default(), 20, 25.0 * 0.01, Some(0.01), |_, _| {});
        }
        "dam2" => {
            let mut p = Params::new(Grid::<2> { origin: [0.0; 2], dx: 1.0 / n as f64, cells: [n; 2] });
            if let Some(blend) = flip { p.transfer = Transfer::Flip { blend }; }
            let bodies = [Body { shape: Shape::box_between([0.0, 0.0], [0.4, 0.6]).unwrap(), velocity: [0.0; 2] }];
            let around = Surroundings { solids: if std::env::var("SOLID").is_ok() { vec![Solid::fixed(Shape::sphere([0.65, 0.1], 0.12).unwrap())] } else { vec![] }, ..Default::default() };
            run("dam2", &p, &bodies, &around, 120, 1.0 / 24.0, None, |f, s| if f % 4 == 0 { ppm(&format!("/tmp/m/dam{f}.ppm"), s, 768 / n) });
        }
        "dam3" => {
            let mut p = Params::new(Grid::<3> { origin: [0.0; 3], dx: 1.0 / n as f64, cells: [n; 3] });
            if let Some(blend) = flip { p.transfer = Transfer::Flip { blend }; }
            let bodies = [Body { shape: Shape::box_between([0.0; 3], [0.5, 0.5, 1.0]).unwrap(), velocity: [0.0; 3] }];
            let frames: usize = args.get(3).map_or(120, |s| s.parse().unwrap());
            run("dam3", &p, &bodies, &Default::default(), frames, 1.0 / 24.0, None, |_, _| {});
        }
        "bench" => {
            let mut p = Params::new(Grid::<3> { origin: [0.0; 3], dx: 1.0 / n as f64, cells: [n; 3] });
            if let Some(blend) = flip { p.transfer = Transfer::Flip { blend }; }
            let bodies = [Body { shape: Shape::box_between([0.0; 3], [0.5, 0.5, 1.0]).unwrap(), velocity: [0.0; 3] }];
            run("bench", &p, &bodies, &Default::default(), 1, 10.0 * 0.64 / n as f64, Some(0.64 / n as f64), |_, _| {});
        }
        _ => panic!(),
    }
}
