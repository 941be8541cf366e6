//! Meshes that tests begin with.

use super::Complex;

/// A box of `cells` cubes of side one from the origin, each of six tets around its diagonal (Kuhn), labelled
/// by their centres. Walls are numbered 0 to 5: low and high x, y, z.
pub(crate) fn kuhn(cells: [usize; 3], label: impl Fn([f64; 3]) -> u8) -> Complex {
    let nodes = cells.map(|c| c + 1);
    let index = |q: [usize; 3]| ((q[0] * nodes[1] + q[1]) * nodes[2] + q[2]) as u32;
    let positions: Vec<[f64; 3]> = indices(nodes).map(|q| q.map(|c| c as f64)).collect();
    let mut tets = Vec::new();
    for cell in indices(cells) {
        for order in [[0, 1, 2], [1, 2, 0], [2, 0, 1], [0, 2, 1], [2, 1, 0], [1, 0, 2]] {
            let mut corner = cell;
            let mut corners = [index(cell); 4];
            for (k, axis) in order.into_iter().enumerate() {
                corner[axis] += 1;
                corners[k + 1] = index(corner);
            }
            // Odd orders of the axes turn the tet over.
            if (order[1] + 3 - order[0]) % 3 == 2 {
                corners.swap(2, 3);
            }
            let centre =
                std::array::from_fn(|i| corners.iter().map(|&v| positions[v as usize][i]).sum::<f64>() / 4.0);
            tets.push((corners, label(centre)));
        }
    }
    let walls = positions.clone();
    Complex::new(positions, &tets, |face| {
        let on = |axis: usize, value: f64| face.iter().all(|&v| walls[v as usize][axis] == value);
        let side = |s: usize| on(s / 2, if s.is_multiple_of(2) { 0.0 } else { cells[s / 2] as f64 });
        (0..6).find(|&s| side(s)).expect("a side of the box") as u8
    })
    .expect("a complex")
}

fn indices(n: [usize; 3]) -> impl Iterator<Item = [usize; 3]> {
    (0..n[0]).flat_map(move |i| (0..n[1]).flat_map(move |j| (0..n[2]).map(move |k| [i, j, k])))
}
