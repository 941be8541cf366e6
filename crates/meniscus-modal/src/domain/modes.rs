//! The modes of a domain.

use std::sync::Arc;

use faer::{Mat, Side};
use meniscus_core::nodes::{Node, Nodes};
use meniscus_core::parallel;

use super::circulation::{Circulations, circulations};
use super::eigen::{Eigenmodes, lowest};
use super::error::DomainError;
use super::laplacian::Laplacian;
use super::tensor::Tensor;

/// Eigenvalues that differ by less than this part are one.
const ALIKE: f64 = 1e-7;

/// The modes of a domain: eigenmodes, and for each island one with circulation. A flow is a list of coefficients: for each eigenmode that of its vorticity, in 1/s, which is scaled to a mean square of a
/// quarter, as that of sines in a box, and for each circulation one, in m/s, that adds its square to the sum of w² / λ over eigenmodes.
#[derive(Clone, Debug)]
pub struct Modes {
    nodes: Nodes,
    /// In m².
    area: f64,
    eigenvalues: Vec<f64>,
    /// For each mode at the corners of cells its vorticity if it is an eigenmode, and its stream function if not.
    profiles: Vec<Vec<f64>>,
    /// For each circulation what it adds to the coefficients of eigenmodes that do not turn.
    turning: Vec<Vec<f64>>,
    /// For each circulation that of a flow with a coefficient of one about each island, in m.
    about: Vec<Vec<f64>>,
    tensor: Arc<Tensor>,
}

impl Modes {
    /// Finds the lowest eigenmodes and the circulations of what lies between walls and islands.
    ///
    /// # Errors
    /// If there are more modes than the grid shows.
    pub fn find(nodes: &Nodes, count: usize) -> Result<Self, DomainError> {
        let mut laplacian = Laplacian::new(nodes)?;
        let most = nodes.most_modes();
        if count > most {
            return Err(DomainError::TooMany { count, most });
        }
        let mut eigenmodes = lowest(&mut laplacian, count)?;
        tell_apart(&mut eigenmodes, &laplacian, nodes);
        eigenmodes.keep(count);
        let Circulations { streams, about, turning } =
            circulations(&mut laplacian, nodes.islands, &eigenmodes)?;
        let area = area(nodes);
        let scale = (0.25 * area).sqrt();
        let scaled = |list: &[f64], factor: f64| list.iter().map(|x| factor * x).collect::<Vec<f64>>();
        let profiles = parallel::map(count + streams.len(), |mode| {
            let list = match mode.checked_sub(count) {
                None => eigenmodes.vectors.col_as_slice(mode),
                Some(island) => &streams[island],
            };
            scaled(&laplacian.at_nodes(list), scale)
        });
        let tensor = Tensor::new(&profiles[..count], nodes.cells, 0.25 * area);
        Ok(Self {
            nodes: nodes.clone(),
            area,
            eigenvalues: eigenmodes.values,
            profiles,
            turning,
            about: about.iter().map(|list| scaled(list, scale)).collect(),
            tensor: Arc::new(tensor),
        })
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.profiles.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.profiles.is_empty()
    }

    /// The corners of the cells that they were found on.
    pub fn nodes(&self) -> &Nodes {
        &self.nodes
    }

    /// The area of the fluid, in m².
    pub fn area(&self) -> f64 {
        self.area
    }

    /// λ of each eigenmode, in 1/m², in ascending order.
    pub fn eigenvalues(&self) -> &[f64] {
        &self.eigenvalues
    }

    /// What the circulations of a flow add to the coefficients of eigenmodes without turning.
    pub fn irrotational(&self, flow: &[f64]) -> Vec<f64> {
        irrotational(&self.turning, flow, self.eigenvalues.len())
    }

    /// The integral of half the square of the vorticity of a flow, in m²/s².
    pub fn enstrophy(&self, flow: &[f64]) -> f64 {
        let irrotational = self.irrotational(flow);
        let squares = flow.iter().zip(&irrotational).map(|(b, s)| (b - s) * (b - s));
        0.125 * self.area * squares.sum::<f64>()
    }

    /// The circulation of a flow about each island, in m²/s, counter-clockwise.
    pub fn circulations(&self, flow: &[f64]) -> Vec<f64> {
        let of_island = |island: usize| -> f64 {
            let amplitudes = &flow[self.eigenvalues.len()..];
            self.about.iter().zip(amplitudes).map(|(about, amplitude)| about[island] * amplitude).sum()
        };
        (0..self.nodes.islands).map(of_island).collect()
    }

    /// The flow with a vorticity by the coefficients of eigenmodes and circulations about islands.
    pub fn flow(&self, vorticity: &[f64], circulations: &[f64]) -> Vec<f64> {
        let count = self.eigenvalues.len();
        let mut flow = [vorticity, circulations].concat();
        // Each mode of circulation adds to islands up to its own.
        for island in (0..circulations.len()).rev() {
            let later: f64 =
                (island + 1..circulations.len()).map(|k| self.about[k][island] * flow[count + k]).sum();
            flow[count + island] = (circulations[island] - later) / self.about[island][island];
        }
        let irrotational = self.irrotational(&flow);
        flow.iter_mut().zip(irrotational).for_each(|(to, s)| *to += s);
        flow
    }

    /// The flow nearest to a field of velocities, which need not heed walls and islands, and may have a part that is a gradient: eigenmodes nearest in energy, and the circulation that it has about
    /// islands.
    pub fn nearest(&self, velocity: impl Fn([f64; 2]) -> [f64; 2]) -> Result<Vec<f64>, DomainError> {
        let laplacian = Laplacian::new(&self.nodes)?;
        let sums = laplacian.differences(&self.nodes, velocity);
        let count = self.eigenvalues.len();
        let at_nodes = laplacian.at_nodes(&sums);
        // Islands have many corners, and one sum.
        let is_fluid = |node: usize| self.nodes.of[node] == Node::Fluid;
        let mut flow = vec![0.0; self.len()];
        let about: Vec<f64> = (0..self.nodes.islands).map(|island| sums[laplacian.island(island)]).collect();
        for (to, profile) in flow.iter_mut().zip(&self.profiles[..count]) {
            let in_fluid: f64 =
                (0..profile.len()).filter(|&k| is_fluid(k)).map(|k| profile[k] * at_nodes[k]).sum();
            let on_islands: f64 =
                self.first_corners().iter().zip(&about).map(|(&corner, about)| profile[corner] * about).sum();
            *to = (in_fluid + on_islands) / (0.25 * self.area);
        }
        // The ways to an island lead round it at a distance of half of them: less the vorticity within is what goes about the island itself. It is little, and so the second time is enough.
        let mut circulations = about.clone();
        for _ in 0..2 {
            let of_circulations = self.flow(&vec![0.0; count], &circulations);
            flow[count..].copy_from_slice(&of_circulations[count..]);
            let irrotational = self.irrotational(&flow);
            for (island, &corner) in self.first_corners().iter().enumerate() {
                let vorticity: f64 =
                    (0..count).map(|k| (flow[k] - irrotational[k]) * self.profiles[k][corner]).sum();
                circulations[island] =
                    about[island] - laplacian.masses()[laplacian.island(island)] * vorticity;
            }
        }
        let of_circulations = self.flow(&vec![0.0; count], &circulations);
        flow[count..].copy_from_slice(&of_circulations[count..]);
        Ok(flow)
    }

    /// A corner in each island.
    fn first_corners(&self) -> Vec<usize> {
        let first = |island| self.nodes.of.iter().position(|of| *of == Node::Island(island));
        (0..self.nodes.islands).map(|island| first(island).expect("islands have corners")).collect()
    }

    /// The stream function of a flow at the corners of cells, in lists by x.
    pub fn streams(&self, flow: &[f64]) -> Vec<f64> {
        let stream = |(k, coefficient): (usize, &f64)| match self.eigenvalues.get(k) {
            Some(eigenvalue) => coefficient / eigenvalue,
            None => *coefficient,
        };
        let factors: Vec<f64> = flow.iter().enumerate().map(stream).collect();
        self.sums(&factors)
    }

    /// The vorticity of a flow there.
    pub fn vorticity(&self, flow: &[f64]) -> Vec<f64> {
        let irrotational = self.irrotational(flow);
        let turning: Vec<f64> = flow.iter().zip(irrotational).map(|(b, s)| b - s).collect();
        self.sums(&turning)
    }

    /// The sum of the first profiles, each with a factor.
    fn sums(&self, factors: &[f64]) -> Vec<f64> {
        const PIECE: usize = 2048;
        let mut sums = vec![0.0; self.nodes.of.len()];
        parallel::for_chunks(&mut sums, PIECE, |number, sums| {
            let first = number * PIECE;
            for (profile, factor) in self.profiles.iter().zip(factors) {
                let profile = &profile[first..first + sums.len()];
                sums.iter_mut().zip(profile).for_each(|(sum, x)| *sum += factor * x);
            }
        });
        sums
    }

    /// The stream function of a flow at one corner.
    pub(super) fn stream_at(&self, flow: &[f64], node: usize) -> f64 {
        let of_mode = |(k, coefficient): (usize, &f64)| {
            let value = coefficient * self.profiles[k][node];
            self.eigenvalues.get(k).map_or(value, |eigenvalue| value / eigenvalue)
        };
        flow.iter().enumerate().map(of_mode).sum()
    }

    pub(super) fn profiles(&self) -> &[Vec<f64>] {
        &self.profiles
    }

    pub(super) fn turning(&self) -> &[Vec<f64>] {
        &self.turning
    }

    pub(super) fn tensor(&self) -> &Arc<Tensor> {
        &self.tensor
    }
}

/// What the circulations of a flow, which come after a number of eigenmodes, add to the coefficients of these.
pub(super) fn irrotational(turning: &[Vec<f64>], flow: &[f64], eigenmodes: usize) -> Vec<f64> {
    let mut sums = vec![0.0; eigenmodes];
    for (turning, amplitude) in turning.iter().zip(&flow[eigenmodes..]) {
        sums.iter_mut().zip(turning).for_each(|(sum, turns)| *sum += amplitude * turns);
    }
    sums
}

impl Eigenmodes {
    fn keep(&mut self, count: usize) {
        self.values.truncate(count);
        self.vectors.resize_with(self.vectors.nrows(), count, |_, _| 0.0);
    }
}

/// Of modes that share an eigenvalue any mixture is a mode. Makes them those that differ the most in how much of their energy is along x, first those with the least, and gives all modes the sign that
/// they have at their first crest: so they are the same but for rounding, however they were found.
fn tell_apart(eigenmodes: &mut Eigenmodes, laplacian: &Laplacian, nodes: &Nodes) {
    let Eigenmodes { values, vectors } = eigenmodes;
    let mut first = 0;
    while first < values.len() {
        let end = (first + 1..values.len())
            .find(|&k| values[k] > (1.0 + ALIKE) * values[k - 1])
            .unwrap_or(values.len());
        if end - first > 1 {
            turn(vectors, first, end, laplacian, nodes);
        }
        first = end;
    }
    for column in 0..values.len() {
        let at_nodes = laplacian.at_nodes(vectors.col_as_slice(column));
        let crest = at_nodes.iter().fold(0.0, |most: f64, x| most.max(x.abs()));
        let sign = at_nodes.iter().find(|x| x.abs() > 0.5 * crest).map_or(1.0, |x| x.signum());
        vectors.col_as_slice_mut(column).iter_mut().for_each(|x| *x *= sign);
    }
}

/// Turns some columns within their span. More weight far from the origin tells rooms apart that are alike.
fn turn(vectors: &mut Mat<f64>, first: usize, end: usize, laplacian: &Laplacian, nodes: &Nodes) {
    let at_nodes: Vec<Vec<f64>> =
        (first..end).map(|column| laplacian.at_nodes(vectors.col_as_slice(column))).collect();
    let ny = nodes.counts()[1];
    let weight = |node: usize| {
        let [i, j] = [node / ny, node % ny];
        1.0 + 0.1 * i as f64 / nodes.cells[0] as f64 + 0.05 * j as f64 / nodes.cells[1] as f64
    };
    let along = Mat::from_fn(end - first, end - first, |i, j| {
        Laplacian::along_x(nodes, &at_nodes[i], &at_nodes[j], weight)
    });
    let eigen = along.self_adjoint_eigen(Side::Lower).expect("numbers");
    let old: Vec<Vec<f64>> = (first..end).map(|column| vectors.col_as_slice(column).to_vec()).collect();
    for column in first..end {
        let to = vectors.col_as_slice_mut(column);
        to.fill(0.0);
        for (k, from) in old.iter().enumerate() {
            let factor = eigen.U()[(k, column - first)];
            to.iter_mut().zip(from).for_each(|(to, x)| *to += factor * x);
        }
    }
}

/// The area between walls and islands: of the part of each cell between the corners in the fluid and the places where walls cut the ways from these.
fn area(nodes: &Nodes) -> f64 {
    let ny = nodes.counts()[1];
    let mut cells = 0.0;
    for i in 0..nodes.cells[0] {
        for j in 0..nodes.cells[1] {
            let corner = i * ny + j;
            let around = [corner, corner + ny, corner + ny + 1, corner + 1];
            let places = [[0.0, 0.0], [1.0, 0.0], [1.0, 1.0], [0.0, 1.0]];
            let open = [
                nodes.open[0][corner],
                nodes.open[1][corner + ny],
                nodes.open[0][corner + 1],
                nodes.open[1][corner],
            ];
            let is_on_side = |node: usize| {
                let at = [node / ny, node % ny];
                (0..2).any(|axis| at[axis] == 0 || at[axis] == nodes.cells[axis])
            };
            let is_open = |node: &usize| nodes.of[*node] == Node::Fluid;
            // A corner of the box.
            if around.iter().any(is_open)
                && around.iter().all(|node| is_open(node) || is_on_side(*node))
                && open.iter().all(|&part| part == 0.0 || part == 1.0)
            {
                cells += 1.0;
                continue;
            }
            let mut polygon = Vec::new();
            for k in 0..4 {
                let next = (k + 1) % 4;
                let [here, there] = [k, next].map(|k| is_open(&around[k]));
                if here {
                    polygon.push(places[k]);
                }
                if here != there {
                    let part = if here { open[k] } else { 1.0 - open[k] };
                    polygon.push([0, 1].map(|a| places[k][a] + part * (places[next][a] - places[k][a])));
                }
            }
            let twice: f64 = (0..polygon.len())
                .map(|k| {
                    let ([x, y], [s, t]) = (polygon[k], polygon[(k + 1) % polygon.len()]);
                    x * t - s * y
                })
                .sum();
            cells += 0.5 * twice;
        }
    }
    cells * nodes.dx * nodes.dx
}
