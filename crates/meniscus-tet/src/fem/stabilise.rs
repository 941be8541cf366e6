//! What keeps equal orders of velocity and pressure from locking: the projected-gradient stabiliser, with a little of
//! the residual.

use meniscus_core::vector::{add_scaled, dot};

use super::element::Element;
use super::rows::{BlockRows, Pattern};
use super::unknowns::Unknowns;

/// The share of the residual form. The projected form does not see pressures that are linear in a component, nor does
/// the divergence where the component is a tet or a film of tets; the residual form does.
pub const RESIDUAL_SHARE: f64 = 0.01;

/// tau = 1 / (rho + 12 mu dt / h²), m³/kg: how strongly a tet is stabilised.
pub fn strength(density: f64, viscosity: f64, dt: f64, element: &Element) -> f64 {
    1.0 / (density + 12.0 * viscosity * dt / element.length_squared())
}

/// C = sum over tets of tau times the integral of (grad p - P grad p) . (grad q - P grad q), where P averages the
/// gradients of a component's tets at each corner with weights tau V / 4 (orthogonal subscales, Codina 2000, in each
/// phase), plus `RESIDUAL_SHARE` of that of grad p . grad q. Both vanish for constants; the first does where p is linear
/// in a component.
///
/// `strengths` is zero in voids; `corners` is the pattern of pressures that share a tet, `pattern` its square.
pub fn leak(
    elements: &[Element],
    strengths: &[f64],
    unknowns: &Unknowns,
    corners: &Pattern,
    pattern: &Pattern,
) -> BlockRows<1, 1> {
    let at = |q: usize| unknowns.tets_at_corner.at(q).filter(|&(tet, _)| strengths[tet] > 0.0);
    // Row q holds the weights of each pressure in the average gradient at q, not yet over the sum of weights.
    let average = BlockRows::<3, 1>::gather(corners, |q, row| {
        for (tet, _) in at(q) {
            for (&r, g) in unknowns.corners[tet].iter().zip(elements[tet].volume_gradients) {
                row.add(r, g.map(|g| [0.25 * strengths[tet] * g]));
            }
        }
    });
    let weights: Vec<f64> = (0..corners.rows())
        .map(|q| at(q).map(|(t, _)| 0.25 * strengths[t] * elements[t].volume).sum())
        .collect();

    BlockRows::gather(pattern, |q, row| {
        for (tet, a) in at(q) {
            for (b, &r) in unknowns.corners[tet].iter().enumerate() {
                row.add(r, [[(1.0 + RESIDUAL_SHARE) * strengths[tet] * elements[tet].stiffness(a, b)]]);
            }
        }
        for &i in corners.row(q).iter().filter(|&&i| weights[i as usize] > 0.0) {
            let i = i as usize;
            let Some((_, here)) = average.row(i).find(|&(j, _)| j == q) else { continue };
            let here = here.map(|[g]| -g / weights[i]);
            row.add_ascending(average.row(i).map(|(r, there)| (r, [[dot(here, there.map(|[g]| g))]])));
        }
    })
}

/// How the residual form changes the divergence: a tet adds this to the row of its vertex `a`, times each of its four
/// velocities. With the pressure's part in `leak`, the row is tested with tau grad q . (rho (u - u*) / dt + grad p -
/// rho g), which vanishes in rest and in free fall alike; of grad p - rho g alone, rest would be exact, but a falling
/// drop would be stretched.
pub fn residual_of_velocity(element: &Element, strength: f64, density: f64, a: usize) -> [f64; 3] {
    element.volume_gradients[a].map(|g| 0.25 * RESIDUAL_SHARE * strength * density * g)
}

/// What the residual form adds to the right-hand side at vertex `a`: `velocities` are those before the step.
pub fn residual_of_forces(
    element: &Element,
    strength: f64,
    density: f64,
    velocities: [[f64; 3]; 4],
    impulse: [f64; 3],
    a: usize,
) -> f64 {
    let coasting = velocities.iter().fold([0.0; 3], |sum, &u| add_scaled(sum, 1.0, u));
    let row = residual_of_velocity(element, strength, density, a);
    dot(row, add_scaled(coasting, 4.0, impulse))
}
