//! Flows about islands.

use super::eigen::Eigenmodes;
use super::error::DomainError;
use super::laplacian::Laplacian;
use crate::flow::dot;

/// For each island a flow with circulation, orthogonal in energy to eigenmodes and to each other.
pub struct Circulations {
    /// Their stream functions, as lists of the Laplacian, with an energy ∫|∇ψ|² of one.
    pub streams: Vec<Vec<f64>>,
    /// The circulation of each about each island.
    pub about: Vec<Vec<f64>>,
    /// The coefficients of the vorticity of each in the eigenmodes, with the sign changed.
    pub turning: Vec<Vec<f64>>,
}

/// The flow without vorticity that goes once about an island, and about no other one.
pub fn potential_flow(laplacian: &mut Laplacian, island: usize) -> Result<Vec<f64>, DomainError> {
    let mut side = vec![0.0; laplacian.len()];
    side[laplacian.island(island)] = 1.0;
    laplacian.solve(&side)
}

/// Finds them: of each potential flow what neither the eigenmodes hold nor the flows before it.
pub fn circulations(
    laplacian: &mut Laplacian,
    islands: usize,
    eigenmodes: &Eigenmodes,
) -> Result<Circulations, DomainError> {
    let (mut streams, mut about) = (Vec::<Vec<f64>>::new(), Vec::<Vec<f64>>::new());
    let mut turning = Vec::<Vec<f64>>::new();
    let mut images = Vec::<Vec<f64>>::new();
    for island in 0..islands {
        let mut stream = potential_flow(laplacian, island)?;
        let mut own: Vec<f64> = (0..islands).map(|other| f64::from(u8::from(other == island))).collect();
        let mut turns = vec![0.0; eigenmodes.values.len()];
        let mut image = vec![0.0; stream.len()];
        // Twice, since the first time leaves what rounding makes.
        for _ in 0..2 {
            laplacian.apply(&stream, &mut image);
            for (mode, value) in eigenmodes.values.iter().enumerate() {
                let vector = eigenmodes.vectors.col_as_slice(mode);
                let part = dot(vector, &image);
                turns[mode] += part;
                subtract(&mut stream, part / value, vector);
            }
            for (other, of_other) in images.iter().enumerate() {
                let part = dot(of_other, &stream);
                subtract(&mut stream, part, &streams[other]);
                subtract(&mut own, part, &about[other]);
                subtract(&mut turns, part, &turning[other]);
            }
        }
        laplacian.apply(&stream, &mut image);
        let size = dot(&stream, &image).sqrt();
        for list in [&mut stream, &mut own, &mut turns, &mut image] {
            list.iter_mut().for_each(|x| *x /= size);
        }
        streams.push(stream);
        about.push(own);
        turning.push(turns);
        images.push(image);
    }
    Ok(Circulations { streams, about, turning })
}

fn subtract(to: &mut [f64], part: f64, of: &[f64]) {
    to.iter_mut().zip(of).for_each(|(to, x)| *to -= part * x);
}
