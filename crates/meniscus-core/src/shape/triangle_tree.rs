//! A bounding-volume hierarchy over triangles: nearest distance and winding number.

use super::Bounds;
use super::triangle::{self, Triangle, area_normal, centroid};
use crate::vector::{add_scaled, dot, norm, sub};

/// The most triangles of a leaf. For speed alone.
const LEAF_LEN: usize = 4;

/// How many radii away a node is before only its moments are seen, as in Barill et al. 2018: of winding numbers they leave an error that rounding to whole ones forgives. With 0.5 it does not
/// (`the_tree_agrees_with_brute_force`); 1 is not noticed.
const FAR: f64 = 2.0;

/// Depth-first: the lower child of an inner node follows it directly.
#[derive(Clone, Debug)]
struct Node {
    bounds: Bounds<3>,
    content: Content,
}

#[derive(Clone, Copy, Debug)]
enum Content {
    Leaf { first: u32, len: u32 },
    Inner { upper: u32 },
}

/// Stands for far triangles in the winding number: the moments of their area normals about their centre
/// of area, of order zero and one. The second matters where two sheets that face apart are close.
#[derive(Clone, Debug)]
struct Moments {
    centre: [f64; 3],
    radius: f64,
    area_normal: [f64; 3],
    /// Row `i`: component `i` of the area normals times their offset from the centre.
    first: [[f64; 3]; 3],
}

/// Triangles, sorted into a balanced binary tree of boxes.
#[derive(Clone, Debug)]
pub(super) struct TriangleTree {
    triangles: Vec<Triangle>,
    nodes: Vec<Node>,
    /// One a node, apart because the nearest-distance query does not need them.
    moments: Vec<Moments>,
}

impl TriangleTree {
    /// The tree of at least one triangle.
    pub(super) fn new(mut triangles: Vec<Triangle>) -> Self {
        assert!(!triangles.is_empty());
        let (mut nodes, mut moments) = (Vec::new(), Vec::new());
        build(&mut triangles, 0, &mut nodes, &mut moments);
        Self { triangles, nodes, moments }
    }

    pub(super) fn bounds(&self) -> Bounds<3> {
        self.nodes[0].bounds
    }

    /// The distance to the nearest triangle.
    pub(super) fn distance(&self, point: [f64; 3]) -> f64 {
        let mut nearest_squared = f64::INFINITY;
        self.search(0, point, &mut nearest_squared);
        nearest_squared.sqrt()
    }

    fn search(&self, node: usize, point: [f64; 3], nearest_squared: &mut f64) {
        match self.nodes[node].content {
            Content::Leaf { first, len } => {
                for triangle in &self.triangles[first as usize..][..len as usize] {
                    *nearest_squared = nearest_squared.min(triangle::distance_squared(point, triangle));
                }
            }
            Content::Inner { upper } => {
                let mut children =
                    [node + 1, upper as usize].map(|c| (self.nodes[c].distance_squared(point), c));
                if children[0].0 > children[1].0 {
                    children.swap(0, 1);
                }
                for (distance_squared, child) in children {
                    if distance_squared < *nearest_squared {
                        self.search(child, point, nearest_squared);
                    }
                }
            }
        }
    }

    /// How often a closed surface winds around the point.
    ///
    /// Far parts are seen by their moments (Barill et al. 2018). The number is whole for a closed surface,
    /// so rounding removes that error; where it comes out far from whole, the sum is done over every triangle.
    pub(super) fn winding_number(&self, point: [f64; 3]) -> i32 {
        let mut turns = self.solid_angle(0, point) / (4.0 * std::f64::consts::PI);
        if (turns - turns.round()).abs() > 0.2 {
            turns = self.exact_winding_number(point);
        }
        turns.round() as i32
    }

    /// The winding number summed over every triangle, before rounding.
    pub(super) fn exact_winding_number(&self, point: [f64; 3]) -> f64 {
        let angles = self.triangles.iter().map(|t| triangle::solid_angle(point, t));
        angles.sum::<f64>() / (4.0 * std::f64::consts::PI)
    }

    fn solid_angle(&self, node: usize, point: [f64; 3]) -> f64 {
        if let Some(angle) = self.moments[node].far_solid_angle(point) {
            return angle;
        }
        match self.nodes[node].content {
            Content::Leaf { first, len } => self.triangles[first as usize..][..len as usize]
                .iter()
                .map(|t| triangle::solid_angle(point, t))
                .sum(),
            Content::Inner { upper } => {
                self.solid_angle(node + 1, point) + self.solid_angle(upper as usize, point)
            }
        }
    }
}

/// Appends the subtree of `triangles`, the first of which is number `first` of all, and sorts them
/// into the order of its leaves: halves by the median of their centroids along the longest axis.
fn build(triangles: &mut [Triangle], first: usize, nodes: &mut Vec<Node>, moments: &mut Vec<Moments>) {
    let bounds = Bounds::of_points(triangles.iter().flatten().copied());
    moments.push(Moments::new(triangles, &bounds));
    let node = nodes.len();
    let content = Content::Leaf { first: first as u32, len: triangles.len() as u32 };
    nodes.push(Node { bounds, content });
    if triangles.len() > LEAF_LEN {
        let extent = Bounds::of_points(triangles.iter().map(centroid)).extent();
        let axis = (0..3).fold(0, |longest, a| if extent[a] > extent[longest] { a } else { longest });
        let middle = triangles.len() / 2;
        let key = |t: &Triangle| t[0][axis] + t[1][axis] + t[2][axis];
        triangles.select_nth_unstable_by(middle, |s, t| key(s).total_cmp(&key(t)));
        let (lower, upper) = triangles.split_at_mut(middle);
        build(lower, first, nodes, moments);
        nodes[node].content = Content::Inner { upper: nodes.len() as u32 };
        build(upper, first + middle, nodes, moments);
    }
}

impl Node {
    fn distance_squared(&self, point: [f64; 3]) -> f64 {
        let Bounds { lower, upper } = &self.bounds;
        let gap: [f64; 3] = std::array::from_fn(|a| (lower[a] - point[a]).max(point[a] - upper[a]).max(0.0));
        dot(gap, gap)
    }
}

impl Moments {
    fn new(triangles: &[Triangle], bounds: &Bounds<3>) -> Self {
        let middle = bounds.centre();
        let (mut sum, mut area, mut arms) = ([0.0; 3], 0.0, [0.0; 3]);
        for triangle in triangles {
            let normal = area_normal(triangle);
            sum = add_scaled(sum, 1.0, normal);
            area += norm(normal);
            arms = add_scaled(arms, norm(normal), sub(centroid(triangle), middle));
        }
        let centre = if area > 0.0 { add_scaled(middle, 1.0 / area, arms) } else { middle };
        let mut first = [[0.0; 3]; 3];
        for triangle in triangles {
            let (normal, arm) = (area_normal(triangle), sub(centroid(triangle), centre));
            first = std::array::from_fn(|i| add_scaled(first[i], normal[i], arm));
        }
        let reach: [f64; 3] =
            std::array::from_fn(|a| (bounds.upper[a] - centre[a]).max(centre[a] - bounds.lower[a]));
        Self { centre, radius: norm(reach), area_normal: sum, first }
    }

    /// The solid angle seen from a point, if that is far: the Taylor series of `n . r / |r|^3` about the
    /// centre.
    fn far_solid_angle(&self, point: [f64; 3]) -> Option<f64> {
        let r = sub(self.centre, point);
        let distance_squared = dot(r, r);
        if distance_squared <= (FAR * self.radius).powi(2) {
            return None;
        }
        let trace = self.first[0][0] + self.first[1][1] + self.first[2][2];
        let along = dot(r, self.first.map(|row| dot(row, r)));
        let sum = dot(self.area_normal, r) + trace - 3.0 * along / distance_squared;
        Some(sum / (distance_squared * distance_squared.sqrt()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What the moments leave out falls with the fourth power of the distance.
    #[test]
    fn far_triangles_are_seen_to_second_order() {
        let point =
            |i: i32| std::array::from_fn(|a| (f64::from(i) * [0.754_877, 0.569_840, 0.430_159][a]).fract());
        let triangles: Vec<Triangle> =
            (0..20).map(|i| [point(3 * i), point(3 * i + 1), point(3 * i + 2)]).collect();
        let tree = TriangleTree::new(triangles);
        let error = |distance: f64| {
            let eye = [0.5 + distance * 0.48, 0.5 - distance * 0.6, 0.5 + distance * 0.64];
            let exact = tree.exact_winding_number(eye) * 4.0 * std::f64::consts::PI;
            (tree.moments[0].far_solid_angle(eye).unwrap() - exact).abs()
        };
        let ratio = error(20.0) / error(40.0);
        assert!((13.0..20.0).contains(&ratio), "{ratio}");
    }
}
