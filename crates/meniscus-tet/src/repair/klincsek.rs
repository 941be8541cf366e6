//! The best triangulation of a polygon, by dynamic programming (Klincsek 1980).

/// Triangles by places of their vertices in the polygon, in its order.
pub(super) type Triangulation = Vec<[usize; 3]>;

/// The triangulation of a polygon with `n >= 2` vertices whose worst triangle is best, and how good that is;
/// without triangles everything is good.
pub(super) fn best_triangulation(n: usize, measure: impl Fn([usize; 3]) -> f64) -> (f64, Triangulation) {
    // Of the part between vertices s and e: how good its worst triangle can be, and the third vertex of the
    // triangle at its chord.
    let mut best = vec![(f64::INFINITY, 0); n * n];
    for gap in 2..n {
        for s in 0..n - gap {
            let e = s + gap;
            let candidate = |m: usize| (measure([s, m, e]).min(best[s * n + m].0).min(best[m * n + e].0), m);
            let better = |a: (f64, usize), b: (f64, usize)| if b.0 > a.0 { b } else { a };
            best[s * n + e] = (s + 1..e).map(candidate).fold((f64::NEG_INFINITY, s + 1), better);
        }
    }
    let mut triangles = Vec::with_capacity(n.saturating_sub(2));
    let mut open = vec![(0, n - 1)];
    while let Some((s, e)) = open.pop() {
        if e - s >= 2 {
            let m = best[s * n + e].1;
            triangles.push([s, m, e]);
            open.extend([(s, m), (m, e)]);
        }
    }
    (best[n - 1].0, triangles)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// All triangulations of the part of a polygon between two vertices.
    fn all(s: usize, e: usize) -> Vec<Triangulation> {
        if e - s < 2 {
            return vec![Vec::new()];
        }
        let mut triangulations = Vec::new();
        for m in s + 1..e {
            for left in all(s, m) {
                for right in all(m, e) {
                    triangulations.push([vec![[s, m, e]], left.clone(), right].concat());
                }
            }
        }
        triangulations
    }

    #[test]
    fn no_other_triangulation_is_better() {
        for n in 3..8 {
            for seed in 0..20 {
                let measure =
                    |[a, b, c]: [usize; 3]| (((a * 49 + b * 7 + c + 343 * seed) * 7919) % 1009) as f64;
                let worst = |t: &Triangulation| t.iter().map(|&t| measure(t)).fold(f64::INFINITY, f64::min);
                let brute = all(0, n - 1).iter().map(worst).fold(f64::NEG_INFINITY, f64::max);
                let (value, triangles) = best_triangulation(n, measure);
                assert_eq!(value, brute);
                assert_eq!(worst(&triangles), brute);
                assert_eq!(triangles.len(), n - 2);
            }
        }
    }
}
