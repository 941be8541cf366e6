use meniscus_cli::bench::poisson::*;
use meniscus_linalg::*;
use std::time::Instant;
fn main() {
    let pool = rayon::ThreadPoolBuilder::new()
        .num_threads(std::env::args().nth(1).unwrap().parse().unwrap())
        .build()
        .unwrap();
    pool.install(|| {
        let s = PoissonSystem::standard(Variant::A, 128);
        for _ in 0..60 {
            let t = Instant::now();
            let op = s.operator().unwrap();
            let a = t.elapsed();
            let t = Instant::now();
            let sv = Solver::new(op);
            println!("assemble {:?} hierarchy {:?}", a, t.elapsed());
            drop(sv);
        }
    });
}
