//! The stabiliser of Misztal and others 2012, to compare with: it lets volume leak between tets of one fluid.

use meniscus_core::vector::norm;

use super::element::Element;
use super::mesh::NONE;
use super::rows::{BlockRows, Pattern};

/// Minus S (eq. 31, 32, 45): differences of pressures of neighbours of one label, times (4/3) A² / ((V + V') rho).
///
/// `neighbours` names the tet across each face, `densities` is zero in voids, `pressures` names each tet's pressure.
pub fn leak(
    elements: &[Element],
    densities: &[f64],
    labels: &[u8],
    neighbours: &[[u32; 4]],
    pressures: &[[u32; 4]],
    pattern: &Pattern,
) -> BlockRows<1, 1> {
    let mut tet_of = vec![NONE; pattern.rows()];
    for (tet, pressure) in pressures.iter().enumerate().filter(|&(tet, _)| densities[tet] > 0.0) {
        tet_of[pressure[0] as usize] = tet as u32;
    }
    BlockRows::gather(pattern, |q, row| {
        if tet_of[q] == NONE {
            return;
        }
        let tet = tet_of[q] as usize;
        for (face, &next) in neighbours[tet].iter().enumerate() {
            if next == NONE || labels[next as usize] != labels[tet] {
                continue;
            }
            let area = 3.0 * norm(elements[tet].volume_gradients[face]);
            let volumes = elements[tet].volume + elements[next as usize].volume;
            let flux = 4.0 / 3.0 * area * area / (volumes * densities[tet]);
            row.add(q as u32, [[flux]]);
            row.add(pressures[next as usize][0], [[-flux]]);
        }
    })
}

/// The pattern of pressures of neighbours.
pub fn pattern(pressures: &[[u32; 4]], count: usize, neighbours: &[[u32; 4]]) -> Pattern {
    let mut tets_of = vec![Vec::new(); count];
    for (tet, pressure) in pressures.iter().enumerate().filter(|(_, p)| p[0] != NONE) {
        tets_of[pressure[0] as usize].push(tet);
    }
    Pattern::new(count, |q, row| {
        row.push(q as u32);
        for &tet in &tets_of[q] {
            let next = neighbours[tet].iter().filter(|&&t| t != NONE);
            row.extend(next.map(|&t| pressures[t as usize][0]).filter(|&p| p != NONE));
        }
    })
}
