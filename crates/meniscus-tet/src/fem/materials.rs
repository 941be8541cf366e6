//! What the labels mean: densities, viscosities, tensions.

/// What fills tets of one label.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Material {
    /// An incompressible fluid.
    Fluid {
        /// Density, kg/m³.
        density: f64,
        /// Dynamic viscosity, Pa s.
        viscosity: f64,
    },
    /// Gas without inertia: its pressure is uniform in each component; nothing flows in it.
    Void,
}

/// What lies on one side of a face.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Side {
    /// A tet of this label.
    Label(u8),
    /// The end of the mesh: a wall.
    Wall,
}

/// The materials by label, and the energy of faces between each pair of them.
#[derive(Clone, Debug)]
pub struct Materials {
    kinds: Vec<Material>,
    tensions: Vec<f64>,
}

impl Materials {
    /// Materials by label, without any tension.
    pub fn new(kinds: Vec<Material>) -> Self {
        let sides = kinds.len() + 1;
        Self { kinds, tensions: vec![0.0; sides * sides] }
    }

    /// The same with this tension between a pair, N/m.
    pub fn with_tension(mut self, a: Side, b: Side, tension: f64) -> Self {
        let [there, back] = [self.slot(a, b), self.slot(b, a)];
        self.tensions[there] = tension;
        self.tensions[back] = tension;
        self
    }

    /// What `label` means.
    pub fn of(&self, label: u8) -> Material {
        self.kinds[label as usize]
    }

    /// Whether tets of `label` are void.
    pub fn is_void(&self, label: u8) -> bool {
        self.of(label) == Material::Void
    }

    /// Density and viscosity of `label`; a void has none.
    pub fn fluid(&self, label: u8) -> Option<(f64, f64)> {
        match self.of(label) {
            Material::Fluid { density, viscosity } => Some((density, viscosity)),
            Material::Void => None,
        }
    }

    /// The energy of a face between two sides, J/m².
    pub fn tension(&self, a: Side, b: Side) -> f64 {
        self.tensions[self.slot(a, b)]
    }

    fn slot(&self, a: Side, b: Side) -> usize {
        let index = |side| match side {
            Side::Label(label) => label as usize,
            Side::Wall => self.kinds.len(),
        };
        index(a) * (self.kinds.len() + 1) + index(b)
    }
}
