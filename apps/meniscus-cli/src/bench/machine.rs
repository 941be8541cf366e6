//! What this machine can do, measured in the same run as what it did.

use std::time::Instant;

use rayon::prelude::*;

/// Elements of each triad array: three arrays of 512 MiB, beyond any cache.
const TRIAD_LEN: usize = 1 << 26;

/// The bandwidth of a STREAM triad a = b + s c, in GB/s (1e9 bytes), best of five, counting the two
/// reads and the write.
pub fn triad_gb_s() -> f64 {
    let chunk = 1 << 16;
    let filled = |value: f64| -> Vec<f64> { (0..TRIAD_LEN).into_par_iter().map(|_| value).collect() };
    let (mut a, b, c) = (filled(0.0), filled(1.0), filled(2.0));
    let mut best = f64::INFINITY;
    for round in 0..5 {
        let s = f64::from(round) + 0.5;
        let start = Instant::now();
        a.par_chunks_mut(chunk).zip(b.par_chunks(chunk)).zip(c.par_chunks(chunk)).for_each(|((a, b), c)| {
            for i in 0..a.len() {
                a[i] = b[i] + s * c[i];
            }
        });
        best = best.min(start.elapsed().as_secs_f64());
        std::hint::black_box(&a);
    }
    (3 * size_of::<f64>() * TRIAD_LEN) as f64 / best / 1e9
}

/// The most memory that this process has held, in MB (1e6 bytes), where the system tells.
pub fn peak_mb() -> Option<f64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find(|line| line.starts_with("VmHWM:"))?;
    let kib: f64 = line.split_whitespace().nth(1)?.parse().ok()?;
    Some(kib * 1024.0 / 1e6)
}
