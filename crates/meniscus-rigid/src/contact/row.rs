//! What a contact says of the velocities of bodies.

use meniscus_core::vector::{dot, sub, unit};

use crate::motion::{SIZE, Twist, motions};

/// A point where a body touches something, or nearly so.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Touch<const D: usize> {
    /// The body.
    pub body: usize,
    /// The other body; `None` if it is a solid or a side of the domain.
    pub other: Option<usize>,
    /// Where, in metres.
    pub point: [f64; D],
    /// The direction from the other to the body.
    pub normal: [f64; D],
    /// How far they are from each other, in metres; negative where they overlap.
    pub gap: f64,
    /// The velocity of the other there, in m/s, if it is no body.
    pub velocity: [f64; D],
    /// The coefficient of friction.
    pub friction: f64,
}

/// A combination of the velocities of one or two bodies, and what bounds the impulse that belongs to it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Row {
    /// A body and its part of the row.
    pub parts: [Option<(usize, Twist)>; 2],
    /// What the combination is where the impulse holds it, in m/s.
    pub target: f64,
    pub kind: Kind,
}

/// What a row is about.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Kind {
    /// The bodies part: the impulse does not pull. How fast they may approach: not at all if they touch, else as fast as closes the gap within the step.
    Normal { allowed: f64 },
    /// They slide: the impulse is at most that of the row `normal`, times the coefficient.
    Tangent { normal: usize, friction: f64 },
}

/// How much farther apart than what touches things may be that friction holds, times as far (a twentieth of a cell): what turns opens a gap in each step that closes in the next.
const FRICTION_NEAR: f64 = 25.0;

/// The rows of a contact, the normal first; `number` of it, and `centre` of a body. What is farther than [`FRICTION_NEAR`] has no friction. `slide` is the velocity at which they would slide.
pub(super) fn rows_of<const D: usize>(
    touch: &Touch<D>,
    number: usize,
    near: f64,
    dt: f64,
    centre: impl Fn(usize) -> [f64; D],
    slide: impl Fn(&Row) -> f64,
) -> Vec<Row> {
    let Touch { body, other, point, normal, gap, velocity, friction } = *touch;
    let along = |direction: [f64; D], allowed: f64, kind: Kind| {
        let part = |body: usize, sign: f64| {
            let arm = sub(point, centre(body));
            let mut row = [0.0; SIZE];
            for (axis, component) in direction.iter().enumerate() {
                row.iter_mut().zip(motions(axis, arm)).for_each(|(r, m)| *r += sign * component * m);
            }
            (body, row)
        };
        let parts = [Some(part(body, 1.0)), other.map(|other| part(other, -1.0))];
        Row { parts, target: dot(direction, velocity) - allowed, kind }
    };
    let touches = gap <= near;
    // What touches does not come nearer, whatever the gap: water that is shut in between bodies would have to give way.
    let allowed = if touches { 0.0 } else { gap / dt };
    let mut rows = vec![along(normal, allowed, Kind::Normal { allowed })];
    if gap <= FRICTION_NEAR * near && friction > 0.0 {
        let kind = Kind::Tangent { normal: number, friction };
        let tangents = tangents(normal).map(|direction| along(direction, 0.0, kind));
        // Along the way that they slide, friction is Coulomb's; across it nothing slides.
        let speeds: Vec<f64> = tangents.iter().take(D - 1).map(|row| slide(row) - row.target).collect();
        let speed = speeds.iter().map(|s| s * s).sum::<f64>().sqrt();
        if D == 3 && speed > 0.0 {
            let [first, second] = tangents_in(normal, [speeds[0] / speed, speeds[1] / speed]);
            rows.extend([first, second].map(|direction| along(direction, 0.0, kind)));
        } else {
            rows.extend(tangents.into_iter().take(D - 1));
        }
    }
    rows
}

/// Directions across a normal; in 2D the first.
fn tangents<const D: usize>(normal: [f64; D]) -> [[f64; D]; 2] {
    if D == 2 {
        let first = std::array::from_fn(|a| if a == 0 { normal[1] } else { -normal[0] });
        return [first, [0.0; D]];
    }
    let smallest = (0..D).min_by(|&a, &b| normal[a].abs().total_cmp(&normal[b].abs())).unwrap_or(0);
    let mut axis = [0.0; D];
    axis[smallest] = 1.0;
    let first = unit(cross(normal, axis));
    [first, cross(normal, first)]
}

/// The tangents turned so that the first points along these components, and the second across.
fn tangents_in<const D: usize>(normal: [f64; D], [a, b]: [f64; 2]) -> [[f64; D]; 2] {
    let [first, second] = tangents(normal);
    let combined = |a: f64, b: f64| std::array::from_fn(|k| a * first[k] + b * second[k]);
    [combined(a, b), combined(-b, a)]
}

fn cross<const D: usize>(a: [f64; D], b: [f64; D]) -> [f64; D] {
    std::array::from_fn(|k| a[(k + 1) % D] * b[(k + 2) % D] - a[(k + 2) % D] * b[(k + 1) % D])
}
