//! Velocities between islands, as they are shown.

use meniscus_core::nodes::{Node, Nodes};
use meniscus_core::parallel;

use super::modes::Modes;
use crate::tracers::Velocities;

/// A wall that is nearer than this part of a cell is taken with the corner behind: what is between is too little to tell a slope from.
const NEAR: f64 = 0.25;

impl Modes {
    /// The velocity of a flow at a point in the fluid, linear along each axis between the corners of cells.
    pub fn velocity(&self, flow: &[f64], x: [f64; 2]) -> [f64; 2] {
        let nodes = self.nodes();
        let ny = nodes.counts()[1];
        let along = [0, 1].map(|axis| (x[axis] / nodes.dx).clamp(0.0, nodes.cells[axis] as f64));
        let cell = [0, 1].map(|axis| (along[axis] as usize).min(nodes.cells[axis] - 1));
        let mut velocity = [0.0; 2];
        for corner in 0..4_usize {
            let upper = [corner & 1, corner >> 1];
            let weight: f64 = (0..2)
                .map(|axis| {
                    let part = along[axis] - cell[axis] as f64;
                    if upper[axis] == 1 { part } else { 1.0 - part }
                })
                .product();
            let node = (cell[0] + upper[0]) * ny + cell[1] + upper[1];
            let at_node = velocity_at(nodes, node, &|node| self.stream_at(flow, node));
            (0..2).for_each(|axis| velocity[axis] += weight * at_node[axis]);
        }
        velocity
    }

    /// The velocities of a flow at the corners of all cells, by its stream function there.
    pub fn velocities(&self, streams: &[f64]) -> Velocities {
        let nodes = self.nodes();
        let size = nodes.cells.map(|count| count as f64 * nodes.dx);
        let values = parallel::map_each(streams.len(), |node| {
            velocity_at(nodes, node, &|node| streams[node]).map(|v| v as f32)
        });
        Velocities::at_nodes(size, nodes.cells, values)
    }
}

/// The velocity at a corner by stream functions at corners; in solids the mean of those around it.
fn velocity_at(nodes: &Nodes, node: usize, stream: &dyn Fn(usize) -> f64) -> [f64; 2] {
    if nodes.of[node] == Node::Fluid {
        let [along_x, along_y] = [0, 1].map(|axis| slope(nodes, node, axis, stream));
        return [along_y, -along_x];
    }
    let ny = nodes.counts()[1];
    let [i, j] = [node / ny, node % ny];
    let (mut sum, mut count) = ([0.0; 2], 0.0);
    for x in i.saturating_sub(1)..=(i + 1).min(nodes.cells[0]) {
        for y in j.saturating_sub(1)..=(j + 1).min(nodes.cells[1]) {
            let beside = x * ny + y;
            if nodes.of[beside] == Node::Fluid {
                let [along_x, along_y] = [0, 1].map(|axis| slope(nodes, beside, axis, stream));
                sum = [sum[0] + along_y, sum[1] - along_x];
                count += 1.0;
            }
        }
    }
    // Along a side of the box nothing passes it.
    if i == 0 || i == nodes.cells[0] {
        sum[0] = 0.0;
    }
    if j == 0 || j == nodes.cells[1] {
        sum[1] = 0.0;
    }
    if count > 0.0 { sum.map(|s| s / count) } else { sum }
}

/// The slope of a stream function at a corner in the fluid, between what is on either side: a corner or, nearer, a wall.
fn slope(nodes: &Nodes, node: usize, axis: usize, stream: &dyn Fn(usize) -> f64) -> f64 {
    let before = nodes.previous(node, axis).map(|to| (to, nodes.open[axis][to]));
    let after = nodes.next(node, axis).map(|to| (to, nodes.open[axis][node]));
    let (Some((before, back)), Some((after, ahead))) = (before, after) else { return 0.0 };
    let [a, here, b] = [before, node, after].map(stream);
    if back.min(ahead) < NEAR {
        return (b - a) / ((back + ahead) * nodes.dx);
    }
    // The parabola through all three.
    let (behind, before) = ((here - a) / back, (b - here) / ahead);
    (back * before + ahead * behind) / ((back + ahead) * nodes.dx)
}
