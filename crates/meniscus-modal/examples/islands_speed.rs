//! How long the modes between islands take to find, and a step.
#![allow(clippy::print_stdout, reason = "this is what it is for")]

use std::time::Instant;

use meniscus_core::nodes::Nodes;
use meniscus_core::shape::Shape;
use meniscus_modal::domain::{Dynamics, Modes};
use meniscus_modal::flow::{Advection, Integrator, Stages};

fn main() {
    let disc = |x: f64, y: f64, r: f64| Shape::sphere([x, y], r).expect("a disc");
    let solids = [disc(0.3, 0.3, 0.1), disc(0.7, 0.35, 0.07), disc(0.55, 0.7, 0.12)];
    for (cells, count) in [(128, 100), (256, 100), (256, 200)] {
        let nodes = Nodes::new([cells; 2], 1.0 / cells as f64, &solids).expect("sound");
        let started = Instant::now();
        let modes = Modes::find(&nodes, count).expect("found");
        println!("{count} modes on {cells}²: {:.2} s", started.elapsed().as_secs_f64());
        let (mut dynamics, mut stages) = (Dynamics::new(&modes), Stages::default());
        let mut flow: Vec<f64> = (0..modes.len()).map(|k| (k as f64 * 1.7).sin()).collect();
        let scale = dynamics.energy(&flow).sqrt();
        flow.iter_mut().for_each(|w| *w *= 0.5 / scale);
        let steps = 200;
        let (started, mut substeps) = (Instant::now(), 0);
        for _ in 0..steps {
            substeps += stages
                .advance(&mut dynamics, Integrator::Conserving, &mut flow, 0.002)
                .expect("slow")
                .substeps;
        }
        let seconds = started.elapsed().as_secs_f64();
        println!("a step: {:.3} ms", 1e3 * seconds / f64::from(u32::try_from(substeps).expect("few")));
    }
}
