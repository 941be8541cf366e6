//! What a signed distance tells: which way is out of a solid, how thick it is, and where a path meets it.

use meniscus_core::vector::{add_scaled, norm, sub, unit};

/// Whether the second of two points is outside of a solid, by its distance, and on the side of the first. From inside a wall that is thinner
/// than `thick` none is.
pub fn sees<const D: usize>(
    distance: impl Fn([f64; D]) -> f64,
    [from, to]: [[f64; D]; 2],
    least_step: f64,
    thick: f64,
) -> bool {
    if distance(to) <= 0.0 {
        return false;
    }
    if distance(from) <= 0.0 {
        return is_thick(&distance, from, least_step, thick);
    }
    meet(distance, [from, to], least_step).is_none()
}

/// Whether a solid is thicker than `thick` at a point inside of it, along the shortest way out.
pub fn is_thick<const D: usize>(
    distance: impl Fn([f64; D]) -> f64,
    inside: [f64; D],
    step: f64,
    thick: f64,
) -> bool {
    let out = shortest_way_out(&distance, inside, 0.1 * step);
    goes_on(distance, inside, out, step, thick)
}

/// Whether a solid goes on for `thick` behind a point inside of it, seen from `out` of it. Another wall may begin behind a gap: all of the way counts.
fn goes_on<const D: usize>(
    distance: impl Fn([f64; D]) -> f64,
    inside: [f64; D],
    out: [f64; D],
    step: f64,
    thick: f64,
) -> bool {
    let mut gone = step;
    while gone < thick {
        let here = distance(add_scaled(inside, -gone, out));
        if here > 0.0 {
            return false;
        }
        gone += (-here).max(step);
    }
    distance(add_scaled(inside, -thick, out)) <= 0.0
}

/// The point where a path from outside meets a solid, just outside of it.
pub fn meet<const D: usize>(
    distance: impl Fn([f64; D]) -> f64,
    [start, end]: [[f64; D]; 2],
    least_step: f64,
) -> Option<[f64; D]> {
    let way = sub(end, start);
    let length = norm(way);
    let (at_start, at_end) = (distance(start), distance(end));
    // What is met is as far from either end as the solid, and not farther from both than they are apart.
    if at_start <= 0.0 || at_end > 0.0 && at_start + at_end > length {
        return None;
    }
    let point = |gone: f64| add_scaled(start, gone / length, way);
    // How far it has gone, and how far the solid is there: outside of it, and inside.
    let (mut outside, mut inside) = ((0.0, at_start), (length, at_end));
    loop {
        let gone = outside.0 + outside.1.max(least_step);
        if gone >= length {
            break;
        }
        let here = distance(point(gone));
        if here <= 0.0 {
            inside = (gone, here);
            break;
        }
        outside = (gone, here);
    }
    if inside.1 > 0.0 {
        return None;
    }
    let near = 1e-4 * least_step;
    while outside.1 > 2.0 * near && inside.0 - outside.0 > near {
        // As if the distance were linear between the two; it is not where the solid is curved.
        let part = (outside.1 - near) / (outside.1 - inside.1);
        let middle = outside.0 + part.clamp(0.05, 0.95) * (inside.0 - outside.0);
        let here = distance(point(middle));
        *(if here > 0.0 { &mut outside } else { &mut inside }) = (middle, here);
    }
    Some(point(outside.0))
}

/// The direction in which the distance grows.
pub fn outwards<const D: usize>(distance: impl Fn([f64; D]) -> f64, at: [f64; D], step: f64) -> [f64; D] {
    unit(slope(distance, at, step))
}

/// What the distance grows by along a step in each direction.
fn slope<const D: usize>(distance: impl Fn([f64; D]) -> f64, at: [f64; D], step: f64) -> [f64; D] {
    std::array::from_fn(|axis| {
        let [mut lower, mut upper] = [at; 2];
        lower[axis] -= 0.5 * step;
        upper[axis] += 0.5 * step;
        distance(upper) - distance(lower)
    })
}

/// The direction of the shortest way out of a wall. In its middle the distance grows either way, and differences across that tell nothing: then the way
/// from a point beside.
pub fn shortest_way_out<const D: usize>(
    distance: &impl Fn([f64; D]) -> f64,
    inside: [f64; D],
    step: f64,
) -> [f64; D] {
    let beside = |axis: usize| {
        let mut point = inside;
        point[axis] += 2.0 * step;
        point
    };
    let slope = |at: [f64; D]| slope(distance, at, step);
    let slopes = || std::iter::once(inside).chain((0..D).map(beside)).map(slope);
    let steeper = |a: &[f64; D], b: &[f64; D]| norm(*a).total_cmp(&norm(*b));
    let clear = slopes().find(|slope| norm(*slope) > 0.9 * step);
    unit(clear.or_else(|| slopes().max_by(steeper)).unwrap_or([0.0; D]))
}
