#![allow(clippy::all, missing_docs, clippy::print_stdout)]
use std::sync::Arc;
use std::time::Instant;
use meniscus_core::grid::*;
use meniscus_core::level_set::redistance;
use meniscus_core::particles::*;
use meniscus_core::interpolate::*;
use meniscus_io::*;

fn hash(k: [i64; 3], s: u64) -> f32 {
    let mut h = s;
    for c in k { h = (h ^ c as u64).wrapping_mul(0x9E37_79B9_7F4A_7C15).rotate_left(31); }
    (h >> 40) as f32 / (1 << 23) as f32 - 1.0
}
fn noise(x: [f32; 3], scale: f32, s: u64) -> f32 {
    let y = x.map(|v| v / scale);
    let b = y.map(|v| v.floor());
    (0..8).map(|k| {
        let mut w = 1.0; let mut c = [0; 3];
        for a in 0..3 { let t = y[a] - b[a]; let t = t * t * t * (t * (6.0 * t - 15.0) + 10.0); let bit = k >> a & 1; w *= if bit == 1 { t } else { 1.0 - t }; c[a] = b[a] as i64 + bit as i64; }
        w * hash(c, s)
    }).sum()
}
fn turbulence(x: [f32; 3], s: u64) -> f32 { let mut v = 0.0; let mut sc = 64.0; let mut am = 1.0; for o in 0..5 { v += am * noise(x, sc, s + o); sc *= 0.5; am *= 0.6; } v }

fn main() {
    let cells = [192, 96, 96];
    let height = |x: [f32; 3]| x[1] - 45.0 - 12.0 * turbulence([x[0], 0.0, x[2]], 1) - 3.0 * turbulence(x, 99);
    let coarse = |c: [usize; 3]| { let p = c.map(|c| c as f32 * 8.0 + 4.0); height(p) < 20.0 };
    let blocks = Arc::new(Blocks::new(cells, coarse));
    let mut phi = Field::from_fn(blocks.clone(), 3.0f32, |c| height(c.map(|c| c as f32 + 0.5)).clamp(-3.0, 3.0));
    redistance(&mut phi, 4.0);
    let velocity = FaceField::from_fn(blocks.clone(), 0.0f32, |a, c| {
        let p = c.map(|c| c as f32);
        2.0 * turbulence(p, 7 + 100 * a as u64) + 0.005 * hash(c.map(|c| c as i64), a as u64)
    });
    let position = seed(&blocks, 5, |x: [f32; 3]| height(x));
    let mut p = Particles::at(position);
    p.velocity = p.position.iter().map(|&x| { let v = interpolate_faces(&velocity, x); std::array::from_fn(|a| v[a] + 0.02 * hash(x.map(|v| (v * 1000.0) as i64), a as u64)) }).collect();
    let ranges = p.sort_by_block(&blocks, &mut SortWorkspace::default());
    p.truncate(ranges.sorted());
    let n = p.len();
    let near = (0..blocks.len()).filter(|&b| phi.block(b).iter().any(|&v| v < 3.0)).count();
    let surface = phi.values().iter().filter(|v| v.abs() < 1.0).count();
    let mixed = (0..blocks.len()).filter(|&b| phi.block(b).iter().any(|&v| v.abs() < 3.0)).count();
    println!("{} blocks, {} near liquid, {} mixed, {} particles, {} cells within 1 cell of the surface", blocks.len(), near, mixed, n, surface);
    let grid = Grid { origin: [0.0; 3], dx: 0.01, cells };
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("a");
    let zero = FaceField::new(blocks.clone(), 0.0f32);
    let mut f = Frame { frame: 1, time: 0.0, grid, level_set: phi.clone(), velocity: zero.clone(), particles: None, solids: vec![] };
    let a = write_frame(&path, &f).unwrap();
    println!("level set {a} bytes: {:.2} a surface cell, {:.2} bits a mixed cell", a as f64 / surface as f64, 8.0 * a as f64 / (mixed * 512) as f64);
    f.velocity = velocity.clone();
    let b = write_frame(&path, &f).unwrap();
    println!("velocity {} bytes: {:.2} bits a component", b - a, 8.0 * (b - a) as f64 / (near * 512 * 3) as f64);
    f.particles = Some(FrameParticles { position: p.position.clone(), velocity: p.velocity.clone() });
    let t = Instant::now();
    let c = write_frame(&path, &f).unwrap();
    let w = t.elapsed();
    println!("particles {} bytes: {:.2} a particle; whole frame {} MB, written in {:?}", c - b, (c - b) as f64 / n as f64, c / 1_000_000, w);
    let t = Instant::now();
    let back = read_frame::<3>(&path).unwrap();
    println!("read in {:?}", t.elapsed());
    f.particles.as_mut().unwrap().velocity.iter_mut().for_each(|v| *v = [0.0; 3]);
    let d = write_frame(&path, &f).unwrap();
    println!("positions {:.2} a particle, velocities {:.2}", (d - b) as f64 / n as f64, (c - d) as f64 / n as f64);
    drop(back);
    // checkpoint
    p.affine = Some(p.velocity.iter().map(|&v| [v; 3]).collect());
    for v in p.affine.as_mut().unwrap().iter_mut().enumerate() { for (k, x) in v.1.as_flattened_mut().iter_mut().enumerate() { *x = 0.1 * hash([v.0 as i64, k as i64, 0], 3); } }
    let state = (p, phi, velocity);
    let raw = 0;
    let t = Instant::now();
    let v = postcard::to_stdvec(&state).unwrap();
    println!("state {} MB ({raw}), serialised in {:?}", v.len() / 1_000_000, t.elapsed());
    let len = v.len();
    for level in [-5, -1, 1, 2, 3] {
        let t = Instant::now();
        let z = zstd::bulk::compress(&v, level).unwrap();
        println!("  zstd {level}: {:.3} at {:.0} MB/s", z.len() as f64 / len as f64, len as f64 / 1e6 / t.elapsed().as_secs_f64());
    }
    drop(v);
    let t = Instant::now();
    let c = write_checkpoint(&path, &state).unwrap();
    let e = t.elapsed().as_secs_f64();
    println!("checkpoint {} MB written in {e:.2} s, {:.0} MB/s", c / 1_000_000, len as f64 / 1e6 / e);
    let t = Instant::now();
    let s: (Particles<3>, Field<f32, 3>, FaceField<f32, 3>) = read_checkpoint(&path).unwrap();
    let e = t.elapsed().as_secs_f64();
    println!("read in {e:.2} s, {:.0} MB/s {}", len as f64 / 1e6 / e, s == state);
    for _ in 0..2 {
    let t = Instant::now();
    let m = meniscus_core::level_set::surface_mesh(&s.1);
    println!("surface {} vertices {} triangles in {:?}", m.position.len(), m.triangles.len(), t.elapsed());
    }
    let t = Instant::now();
    let m = export::frame_surface(&f, &[]);
    println!("surface export in {:?}", t.elapsed());
    let t = Instant::now();
    export::write_surface_ply(&path, &m).unwrap();
    println!("ply {:?}", t.elapsed());
    let t = Instant::now();
    export::write_surface_obj(&path, &m).unwrap();
    println!("obj {:?}", t.elapsed());
}
