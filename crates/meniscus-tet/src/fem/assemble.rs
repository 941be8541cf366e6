//! The system of a stage: each row is gathered from the tets and faces at its unknown, in ascending order, so that its
//! bits do not depend on how rows are shared out.

use meniscus_core::vector::{add_scaled, dot, sub};

use super::discretisation::Discretisation;
use super::element::{Block, Element, plus_scalar};
use super::materials::Materials;
use super::mesh::{FACES, Mesh, NONE};
use super::paper;
use super::rows::BlockRows;
use super::stabilise::{self, residual_of_forces, residual_of_velocity};
use super::system::System;
use super::tension::{SurfaceEnergy, area_curvature};
use super::unknowns::PressureSpace;
use super::walls::{Frame, WallVertex, frames};

/// What acts on the fluids, the same in all stages of a step.
#[derive(Clone, Copy, Debug)]
pub struct Setting<'a> {
    /// What the labels mean.
    pub materials: &'a Materials,
    /// The vertices at walls.
    pub walls: &'a [WallVertex],
    /// Acceleration by gravity, m/s².
    pub gravity: [f64; 3],
    /// How fast each component shall expand, 1/s, to pay back volume it is owed.
    pub expansion: &'a [f64],
}

/// One implicit solve: from positions and velocities at its base over `dt`.
#[derive(Clone, Copy, Debug)]
pub struct Stage<'a> {
    /// The mesh where its vertices are foreseen at the end; volumes are constrained and energies expanded there.
    pub mesh: Mesh<'a>,
    /// Where the vertices start.
    pub base: &'a [[f64; 3]],
    /// The velocity of each vertex at the start, m/s.
    pub velocities: &'a [[f64; 3]],
    /// The time, s.
    pub dt: f64,
}

/// A tet of fluid that is flat or turned over at the positions foreseen.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("tet {tet} is flat or turned over")]
pub struct TurnedOver {
    /// The tet.
    pub tet: usize,
}

/// Assembles the system of a stage.
pub fn assemble(d: &Discretisation, setting: &Setting<'_>, stage: &Stage<'_>) -> Result<System, TurnedOver> {
    let assembly = Assembly::new(d, setting, stage)?;
    let walls: Vec<_> = assembly.frames.iter().map(Frame::held_part).collect();
    let (momentum, divergence, volumes) = (assembly.momentum(), assembly.divergence(), assembly.volumes());
    let mut system = System {
        force: assembly.force(&momentum, &walls),
        expansion: assembly.expansion(&divergence, &volumes, &walls),
        momentum: assembly.hold_momentum(momentum),
        gradient: assembly.gradient(),
        divergence: assembly.hold_divergence(divergence),
        leak: assembly.leak(),
        masses: assembly.masses(),
        viscous: assembly.viscous(&volumes),
        volumes,
        frames: assembly.frames,
        closed_parts: Vec::new(),
    };
    system.close_parts(&d.part_of);
    system.balance();
    Ok(system)
}

/// A stage with what its rows share.
struct Assembly<'a> {
    d: &'a Discretisation,
    setting: &'a Setting<'a>,
    stage: &'a Stage<'a>,
    elements: Vec<Element>,
    /// Zero in voids, as are the viscosities and the strengths of the stabiliser.
    densities: Vec<f64>,
    viscosities: Vec<f64>,
    strengths: Vec<f64>,
    frames: Vec<Frame>,
    /// Whether each face of each tet lies on a wall.
    on_wall: Vec<[bool; 4]>,
}

impl<'a> Assembly<'a> {
    fn new(
        d: &'a Discretisation,
        setting: &'a Setting<'a>,
        stage: &'a Stage<'a>,
    ) -> Result<Self, TurnedOver> {
        let mesh = &stage.mesh;
        let elements: Vec<_> = (0..mesh.tets.len()).map(|tet| mesh.element(tet)).collect();
        let fluids: Vec<_> = mesh.labels.iter().map(|&label| setting.materials.fluid(label)).collect();
        if let Some(tet) = (0..elements.len()).find(|&t| fluids[t].is_some() && elements[t].volume <= 0.0) {
            return Err(TurnedOver { tet });
        }
        let strength = |tet: usize| {
            let (density, viscosity) = fluids[tet]?;
            Some(stabilise::strength(density, viscosity, stage.dt, &elements[tet]))
        };
        let strengths = match d.scheme.pressures {
            PressureSpace::Corners => (0..elements.len()).map(|t| strength(t).unwrap_or(0.0)).collect(),
            PressureSpace::Tets => vec![0.0; elements.len()],
        };
        Ok(Self {
            on_wall: wall_faces(mesh, &d.neighbours, setting.walls),
            densities: fluids.iter().map(|f| f.map_or(0.0, |(density, _)| density)).collect(),
            viscosities: fluids.iter().map(|f| f.map_or(0.0, |(_, viscosity)| viscosity)).collect(),
            frames: frames(setting.walls, &d.unknowns.vertices, mesh.positions.len()),
            d,
            setting,
            stage,
            elements,
            strengths,
        })
    }

    /// The tets of fluid at a velocity.
    fn fluid_tets(&self, node: usize) -> impl Iterator<Item = (usize, usize)> + '_ {
        self.d.unknowns.tets_at_node.at(node).filter(|&(tet, _)| self.densities[tet] > 0.0)
    }

    /// The faces at a velocity that resist by their curvature: those whose tension is positive.
    fn resisting_facets(&self, node: usize) -> impl Iterator<Item = (usize, usize)> + '_ {
        let implicit = self.d.scheme.surface_energy == SurfaceEnergy::SecondOrder;
        let surface = &self.d.surface;
        surface.facets_at_node.at(node).filter(move |&(f, _)| implicit && surface.facets[f].tension > 0.0)
    }

    fn curvature(&self, facet: usize, a: usize, b: usize) -> Block {
        let surface = &self.d.surface;
        let tension = surface.facets[facet].tension;
        area_curvature(surface.corners(facet, self.stage.mesh.positions), a, b)
            .map(|row| row.map(|h| tension * h))
    }

    /// In the frames' coordinates, as if nothing were held.
    fn momentum(&self) -> BlockRows<3, 3> {
        let (unknowns, dt) = (&self.d.unknowns, self.stage.dt);
        BlockRows::gather(&self.d.velocities, |node, row| {
            for (tet, a) in self.fluid_tets(node) {
                let element = &self.elements[tet];
                let mass = self.densities[tet] * element.volume;
                for (b, &column) in unknowns.nodes[tet].iter().enumerate() {
                    let inertia = mass * self.d.scheme.mass.share(a, b);
                    let block = element.viscous_block(a, b, dt * self.viscosities[tet]);
                    row.add(column, plus_scalar(block, inertia));
                }
            }
            for (facet, a) in self.resisting_facets(node) {
                for (b, &column) in
                    self.d.surface.nodes[facet].iter().enumerate().filter(|&(_, &n)| n != NONE)
                {
                    row.add(column, self.curvature(facet, a, b).map(|r| r.map(|h| dt * dt * h)));
                }
            }
            for (&column, block) in row.columns.iter().zip(row.blocks.iter_mut()) {
                *block = self.frames[node].enter_rows(self.frames[column as usize].enter_columns(*block));
            }
        })
    }

    /// Takes the held rows and columns away; what is left of them is the size of the diagonal.
    fn hold_momentum(&self, mut momentum: BlockRows<3, 3>) -> BlockRows<3, 3> {
        let BlockRows { pattern, blocks } = &mut momentum;
        for (node, frame) in self.frames.iter().enumerate() {
            for place in pattern.starts[node]..pattern.starts[node + 1] {
                let column = pattern.columns[place] as usize;
                let held = self.frames[column].without_held_columns(frame.without_held_rows(blocks[place]));
                blocks[place] =
                    if column == node { frame.with_held_diagonal(held, size(&blocks[place])) } else { held };
            }
        }
        momentum
    }

    fn gradient(&self) -> BlockRows<3, 1> {
        let unknowns = &self.d.unknowns;
        BlockRows::gather(&self.d.gradient, |node, row| {
            for (tet, a) in unknowns.tets_at_node.at(node) {
                let push = self.elements[tet].volume_gradients[a];
                for (q, &pressure) in unknowns.corners[tet].iter().enumerate().filter(|&(_, &p)| p != NONE) {
                    let along_wall = self.wall_reaction(tet, a, q);
                    row.add(pressure, add_scaled(along_wall, 0.25, push).map(|g| [g]));
                }
            }
            let frame = &self.frames[node];
            for block in row.blocks.iter_mut() {
                *block = frame.without_held_rows(frame.enter_rows(*block));
            }
        })
    }

    /// What a wall's faces take from the push of pressure `q` on the vertex `a` of a tet: minus the integral of
    /// phi_q phi_a n over them, along the directions that are free at the vertex. A wall pushes along its normal only;
    /// where it is curved, its flat faces' normals are not the vertex's, and a fluid would not rest at it. For volumes
    /// it means that nothing flows through the wall, though its faces cut corners.
    fn wall_reaction(&self, tet: usize, a: usize, q: usize) -> [f64; 3] {
        let mut reaction = [0.0; 3];
        for face in (0..4).filter(|&face| self.on_wall[tet][face] && face != a && face != q) {
            let weight = if a == q { 0.5 } else { 0.25 };
            reaction = add_scaled(reaction, weight, self.elements[tet].volume_gradients[face]);
        }
        let node = self.d.unknowns.nodes[tet][a];
        if node == NONE { reaction } else { self.frames[node as usize].free_part(reaction) }
    }

    /// In the frames' coordinates, as if nothing were held.
    fn divergence(&self) -> BlockRows<1, 3> {
        let unknowns = &self.d.unknowns;
        BlockRows::gather(&self.d.divergence, |pressure, row| {
            for (tet, q) in unknowns.tets_at_corner.at(pressure) {
                let (element, density) = (&self.elements[tet], self.densities[tet]);
                let residual = residual_of_velocity(element, self.strengths[tet], density, q);
                for (b, &node) in unknowns.nodes[tet].iter().enumerate().filter(|&(_, &n)| n != NONE) {
                    let flux = add_scaled(self.wall_reaction(tet, b, q), 0.25, element.volume_gradients[b]);
                    row.add(node, [add_scaled(flux, 1.0, residual)]);
                }
            }
            for (&column, block) in row.columns.iter().zip(row.blocks.iter_mut()) {
                *block = self.frames[column as usize].enter_columns(*block);
            }
        })
    }

    fn hold_divergence(&self, mut divergence: BlockRows<1, 3>) -> BlockRows<1, 3> {
        for (&column, block) in divergence.pattern.columns.iter().zip(&mut divergence.blocks) {
            *block = self.frames[column as usize].without_held_columns(*block);
        }
        divergence
    }

    fn leak(&self) -> BlockRows<1, 1> {
        let (d, unknowns) = (self.d, &self.d.unknowns);
        match d.scheme.pressures {
            PressureSpace::Corners => {
                stabilise::leak(&self.elements, &self.strengths, unknowns, &d.corners, &d.leak)
            }
            PressureSpace::Tets => paper::leak(
                &self.elements,
                &self.densities,
                self.stage.mesh.labels,
                &d.neighbours,
                &unknowns.corners,
                &d.leak,
            ),
        }
    }

    /// In the frames' coordinates, less what the walls' own motion takes.
    fn force(&self, momentum: &BlockRows<3, 3>, walls: &[[f64; 3]]) -> Vec<[f64; 3]> {
        let stage = self.stage;
        let tensions = self.d.surface.forces(stage.mesh.positions, self.d.scheme.tension_force);
        let force = |(node, frame): (usize, &Frame)| {
            let pushed = add_scaled(self.momentum_before(node), stage.dt, tensions[node]);
            let free = sub(frame.enter(pushed), momentum.row_times(node, walls));
            let diagonal =
                momentum.row(node).find(|&(column, _)| column == node).map_or(0.0, |(_, b)| size(b));
            std::array::from_fn(|k| if k < frame.held { diagonal * walls[node][k] } else { free[k] })
        };
        self.frames.iter().enumerate().map(force).collect()
    }

    /// The momentum before the stage with the impulses of gravity and of the surface's curvature, in world coordinates.
    fn momentum_before(&self, node: usize) -> [f64; 3] {
        let (stage, tets, scheme) = (self.stage, self.stage.mesh.tets, &self.d.scheme);
        let mut momentum = [0.0; 3];
        for (tet, a) in self.fluid_tets(node) {
            let mass = self.densities[tet] * self.elements[tet].volume;
            for (b, &vertex) in tets[tet].iter().enumerate() {
                let velocity = stage.velocities[vertex as usize];
                momentum = add_scaled(momentum, mass * scheme.mass.share(a, b), velocity);
            }
            momentum = add_scaled(momentum, 0.25 * mass * stage.dt, self.setting.gravity);
        }
        for (facet, a) in self.resisting_facets(node) {
            for (b, &vertex) in self.d.surface.facets[facet].vertices.iter().enumerate() {
                let v = vertex as usize;
                let back = sub(stage.base[v], stage.mesh.positions[v]);
                momentum =
                    add_scaled(momentum, -stage.dt, self.curvature(facet, a, b).map(|row| dot(row, back)));
            }
        }
        momentum
    }

    /// The share of its tets' mass at each velocity.
    fn masses(&self) -> Vec<f64> {
        let mass = |(tet, _): (usize, usize)| 0.25 * self.densities[tet] * self.elements[tet].volume;
        (0..self.d.velocity_count()).map(|node| self.fluid_tets(node).map(mass).sum()).collect()
    }

    /// dt times the mean viscosity at each pressure over its volume.
    fn viscous(&self, volumes: &[f64]) -> Vec<f64> {
        let at = |q: usize| {
            let tets = self.d.unknowns.tets_at_corner.at(q);
            let sum: f64 = tets.map(|(t, _)| 0.25 * self.viscosities[t] * self.elements[t].volume).sum();
            self.stage.dt * sum / (volumes[q] * volumes[q])
        };
        (0..volumes.len()).map(at).collect()
    }

    /// The share of its tets' volume at each pressure.
    fn volumes(&self) -> Vec<f64> {
        let volume = |(tet, _): (usize, usize)| 0.25 * self.elements[tet].volume;
        (0..self.d.pressure_count()).map(|q| self.d.unknowns.tets_at_corner.at(q).map(volume).sum()).collect()
    }

    /// The wanted expansion, what the residual form asks for, and what the walls' own motion takes.
    fn expansion(&self, divergence: &BlockRows<1, 3>, volumes: &[f64], walls: &[[f64; 3]]) -> Vec<f64> {
        let (unknowns, stage) = (&self.d.unknowns, self.stage);
        let impulse = self.setting.gravity.map(|g| g * stage.dt);
        let at = |q: usize| {
            let wanted = self.setting.expansion[unknowns.component_of[q] as usize] * volumes[q];
            let residual: f64 = unknowns
                .tets_at_corner
                .at(q)
                .map(|(tet, a)| {
                    let velocities = stage.mesh.tets[tet].map(|v| stage.velocities[v as usize]);
                    let (element, density) = (&self.elements[tet], self.densities[tet]);
                    residual_of_forces(element, self.strengths[tet], density, velocities, impulse, a)
                })
                .sum();
            wanted + residual - divergence.row_times(q, walls)[0]
        };
        (0..volumes.len()).map(at).collect()
    }
}

/// The faces at the end of the mesh whose vertices are all held in some direction.
fn wall_faces(mesh: &Mesh<'_>, neighbours: &[[u32; 4]], walls: &[WallVertex]) -> Vec<[bool; 4]> {
    let mut is_held = vec![false; mesh.positions.len()];
    for wall in walls {
        is_held[wall.vertex as usize] = wall.held > 0;
    }
    let on_wall = |(tet, across): (&[u32; 4], &[u32; 4])| {
        std::array::from_fn(|k| across[k] == NONE && FACES[k].iter().all(|&a| is_held[tet[a] as usize]))
    };
    mesh.tets.iter().zip(neighbours).map(on_wall).collect()
}

/// The mean of a block's diagonal.
fn size(block: &Block) -> f64 {
    (block[0][0] + block[1][1] + block[2][2]) / 3.0
}
