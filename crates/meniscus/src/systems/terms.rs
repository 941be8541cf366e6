//! A scene in the terms of the liquid's solver.

use meniscus_core::shape::Shape;
use meniscus_linalg::SolveParams;
use meniscus_liquid::{
    AirModel, InitialLiquid, Params, Reduced, SecondFluid, Slip, Smoke, Source, Surroundings, TileSize,
    Tiling, Transfer,
};
use meniscus_scene::{LiquidSetup, RegionFluids, RegionModel, Regions, SecondSetup, Setup, SmokeSetup};

use crate::world::{Step, World, is_active};

/// What surrounds the liquid in a substep.
pub fn surroundings_of<const D: usize>(world: &World<D>, step: Step) -> Surroundings<D> {
    let World { setup, bodies, .. } = world;
    let (from, to) = (step.from, step.to());
    let sinks = setup.sinks.iter().filter(|s| is_active(s.start, s.stop, from));
    Surroundings {
        solids: world.solids(step),
        bodies: bodies.clone(),
        contact: world.ahead(step),
        sources: (world.open_sources(from))
            .map(|k| &setup.sources[k])
            .map(|s| Source { shape: s.shape.clone(), velocity: s.velocity })
            .collect(),
        smoke: (setup.smoke.iter())
            .map(|s| Smoke { shape: s.shape.clone(), fills: fills(s, [from, to]), buoyancy: s.buoyancy })
            .collect(),
        sinks: sinks.map(|s| s.shape.clone()).collect(),
    }
}

/// Whether smoke fills its shape in a substep: once, or all the time until it stops.
pub fn fills<const D: usize>(smoke: &SmokeSetup<D>, [from, to]: [f64; 2]) -> bool {
    match smoke.stop {
        Some(stop) => smoke.start <= from && from < stop,
        None if from == to => smoke.start <= from,
        None => from < smoke.start && smoke.start <= to,
    }
}

/// The liquids, and those of the second kind. Where two of different kinds overlap, the first one counts.
pub fn bodies_of<const D: usize>(
    liquids: &[LiquidSetup<D>],
) -> (Vec<InitialLiquid<D>>, Vec<InitialLiquid<D>>) {
    let (mut first, mut second) = (Vec::new(), Vec::<InitialLiquid<D>>::new());
    for liquid in liquids {
        let LiquidSetup { shape, velocity, is_second } = liquid.clone();
        if is_second {
            second.push(InitialLiquid { shape, velocity });
        } else {
            let taken = second.iter().map(|other| other.shape.clone());
            first.push(InitialLiquid { shape: taken.fold(shape, Shape::difference), velocity });
        }
    }
    (first, second)
}

/// All of space.
pub fn everywhere<const D: usize>() -> Shape<D> {
    Shape::centred_box([0.0; D], [1e15; D]).expect("a sound box")
}

/// The numbers of the solver.
pub fn params_of<const D: usize>(setup: &Setup<D>) -> Params<D> {
    Params {
        open_sides: setup.open,
        sides_separate: setup.separation,
        gravity: setup.gravity,
        density: setup.density,
        viscosity: setup.viscosity,
        walls: match setup.walls {
            meniscus_scene::Walls::Slip => Slip::Free,
            meniscus_scene::Walls::NoSlip => Slip::None,
        },
        slip_sides: setup.slip,
        surface_tension: setup.surface_tension,
        air: match (setup.air, setup.second) {
            (_, Some(SecondSetup { density, viscosity })) => {
                AirModel::TwoPhase(SecondFluid { density, viscosity })
            }
            _ if setup.fluid.is_some() => AirModel::None,
            (meniscus_scene::AirModel::Bubbles, _) => AirModel::Bubbles,
            _ => AirModel::Void,
        },
        transfer: match setup.particles.transfer {
            meniscus_scene::Transfer::Apic => Transfer::Apic,
            meniscus_scene::Transfer::Flip { blend } => Transfer::Flip { blend: blend as f32 },
        },
        particles_per_cell: [setup.particles.min_per_cell as usize, setup.particles.max_per_cell as usize],
        cfl: setup.time.cfl,
        solve: SolveParams {
            tolerance: setup.solver.tolerance,
            max_iterations: setup.solver.max_iterations as usize,
        },
        cut_cells: setup.solver.cut_cells,
        tiling: tiling_of(&setup.regions),
        ..Params::new(setup.grid)
    }
}

fn tiling_of(regions: &Regions) -> Option<Tiling> {
    let size = match regions.model {
        RegionModel::None => return None,
        RegionModel::Single => TileSize::One,
        RegionModel::Tiles => TileSize::Uniform(regions.tile as usize),
        RegionModel::Graded => {
            TileSize::Graded { least: regions.tile as usize, largest: regions.largest as usize }
        }
    };
    let fluids = match regions.fluids {
        RegionFluids::Liquid => Reduced::Liquid,
        RegionFluids::Air => Reduced::Second,
        RegionFluids::Both => Reduced::Both,
    };
    Some(Tiling {
        fluids,
        size,
        surface_band: regions.surface_band as usize,
        interface_band: regions.interface_band.map(|layers| layers as usize),
        solid_band: regions.solid_band as usize,
    })
}
