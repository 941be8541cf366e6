//! Times of set-up and V-cycles at the size of a hundred thousand tets, and to the solution. Of several rounds the shortest counts.

use std::time::Instant;

use super::*;
use crate::saddle::{Case, System};

/// Milliseconds a round, and the last result: of one thread alone those that it has run, where the system tells, as others may run beside it.
fn time<T>(rounds: usize, mut f: impl FnMut() -> T) -> (f64, T) {
    let begin = Instant::now();
    let clock = || {
        let told = std::fs::read_to_string("/proc/thread-self/schedstat").ok();
        let told = told.filter(|_| rayon::current_num_threads() == 1);
        let nanoseconds = told.and_then(|told| told.split(' ').next()?.parse::<f64>().ok());
        nanoseconds.map_or_else(|| 1e3 * begin.elapsed().as_secs_f64(), |n| 1e-6 * n)
    };
    let start = clock();
    let mut result = f();
    for _ in 1..rounds {
        result = f();
    }
    ((clock() - start) / rounds as f64, result)
}

fn on<T: Send>(threads: usize, f: impl FnOnce() -> T + Send) -> T {
    rayon::ThreadPoolBuilder::new().num_threads(threads).build().expect("a pool").install(f)
}

const THREADS: [usize; 2] = [1, 2];

fn measure<const R: usize, const K: usize>(
    name: &str,
    matrix: &Bsr<R, R>,
    candidates: &[Block<R, K>],
    params: AmgParams,
) {
    let (rows, stored) = (matrix.pattern().rows(), matrix.pattern().len());
    println!("{name}: {rows} rows, {:.1} blocks a row, {params:?}", stored as f64 / rows as f64);
    let mut b = vec![0.0; matrix.height()];
    matrix.apply(&Random(3).vector(b.len()), &mut b);
    for threads in THREADS {
        on(threads, || {
            let mut y = vec![0.0; b.len()];
            let (product, ()) = time(100, || matrix.apply(&b, &mut y));
            let (set_up, mut amg) = time(5, || Amg::new(matrix, candidates, &params).expect("definite"));
            let (refresh, ()) = time(5, || amg.refresh(matrix).expect("as before"));
            let (cycle, ()) = time(100, || amg.apply(&b, &mut y));
            let (solution, (_, info)) = time(3, || solve(matrix, &mut amg, &b, 1e-6));
            let sizes = amg.sizes().iter().map(|size| size[0]).collect::<Vec<_>>();
            let all: usize = amg.sizes().iter().map(|size| size[1]).sum();
            println!(
                "  {threads} threads: product {product:.2}, set-up {set_up:.1}, refreshed {refresh:.1}, cycle {cycle:.2}, \
                 solution {solution:.1} ms, {} iterations, {sizes:?}, complexity {:.2}",
                info.iterations,
                all as f64 / amg.sizes()[0][1] as f64
            );
        });
    }
}

#[test]
#[ignore = "measures times"]
fn long_times_at_a_hundred_thousand_tets() {
    let params = AmgParams::default();
    let still = Case { n: 26, densities: [1.0, 1000.0], viscous: 0.0, capillary: 0.0 };
    let system = System::new(still);
    let schur = system.schur(&system.a.diagonal());
    measure("two phases", &schur, &ones(&schur), params);
    for (viscous, capillary) in [(1.0, 0.0), (0.0, 1.0)] {
        let system = System::new(Case { viscous, capillary, ..still });
        let candidates = motions(&system.mesh, |v, axis| system.mesh.at_wall(v, axis));
        let params = AmgParams { strength: 0.02, max_coarse: 300, ..params };
        measure(&format!("viscous {viscous} capillary {capillary}"), &system.a, &candidates, params);
    }
    let mesh = kuhn(26);
    let params = AmgParams { strength: 0.04, ..params };
    measure("elastic", &elasticity(&mesh, |_| 1.0), &elastic_candidates(&mesh), params);
}
