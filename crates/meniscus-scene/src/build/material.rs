//! What the liquids of a scene are made of.

use super::Builder;
use crate::content::{Content, Fluid, Liquid, Material, Source};
use crate::document::Node;

/// Properties of a liquid.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Properties {
    /// In kg/m3.
    pub density: f64,
    /// In Pa s.
    pub viscosity: f64,
    /// In N/m.
    pub surface_tension: f64,
}

/// What a liquid is without a material and without keys.
const PLAIN: Properties = Properties { density: 1000.0, viscosity: 0.0, surface_tension: 0.0 };

impl Properties {
    pub fn of_liquid(l: &Liquid) -> Self {
        PLAIN.overridden(l.material, l.density, l.viscosity, l.surface_tension)
    }

    /// Of a fluid that fills the domain. It has no surface, whatever its material.
    pub fn of_fluid(f: &Fluid) -> Self {
        Self { density: 1.2, ..PLAIN }.overridden(f.material, f.density, f.viscosity, Some(0.0))
    }

    /// What a source leaves out is as in the fluid or the first liquid.
    pub fn of_source(s: &Source, content: &Content) -> Self {
        let fluid = content.fluid.as_ref().map(Self::of_fluid);
        let base = fluid.unwrap_or_else(|| content.liquid.first().map_or(PLAIN, Self::of_liquid));
        base.overridden(s.material, s.density, s.viscosity, s.surface_tension)
    }

    /// Whether two liquids are of the same kind. Where they touch, the tension is that of the first.
    pub fn is_same_fluid(&self, other: &Self) -> bool {
        self.density == other.density && self.viscosity == other.viscosity
    }

    fn overridden(
        self,
        material: Option<Material>,
        density: Option<f64>,
        viscosity: Option<f64>,
        surface_tension: Option<f64>,
    ) -> Self {
        let [rho, mu, sigma] =
            material.map_or([self.density, self.viscosity, self.surface_tension], Material::properties);
        Self {
            density: density.unwrap_or(rho),
            viscosity: viscosity.unwrap_or(mu),
            surface_tension: surface_tension.unwrap_or(sigma),
        }
    }
}

/// Where a property is said: at its key, at the material, or at the table that says neither.
pub(super) fn said<'a>(table: &'a Node, key: &str) -> &'a Node {
    table.get(key).unwrap_or(table.at("material"))
}

impl<const D: usize> Builder<'_, D> {
    /// What the liquids of the first kind and all sources are made of.
    pub(super) fn substance(&mut self, content: &Content, root: &Node) -> Option<Properties> {
        let (liquids, sources) = (root.at("liquid"), root.at("source"));
        self.first_kind = content.liquid.first().map(Properties::of_liquid);
        let first_kind = self.first_kind;
        let is_first = |l: &Liquid| first_kind.is_some_and(|k| Properties::of_liquid(l).is_same_fluid(&k));
        let of_liquids = content.liquid.iter().enumerate();
        // The tension of a material is that against air; what is said of the second kind beside it must agree.
        let said_of_second = |l: &Liquid| !is_first(l) && l.surface_tension.is_some();
        let tension_of_second: Vec<(&Node, Properties)> = of_liquids
            .clone()
            .filter(|(_, l)| said_of_second(l))
            .map(|(i, l)| (liquids.entry(i), Properties::of_liquid(l)))
            .collect();
        let of_liquids = of_liquids
            .filter(|(_, l)| is_first(l))
            .map(|(i, l)| (liquids.entry(i), Properties::of_liquid(l)));
        // That there is no room for them is told elsewhere.
        let of_liquids = of_liquids.filter(|_| content.fluid.is_none());
        let of_fluid = content.fluid.iter().map(|f| (root.at("fluid"), Properties::of_fluid(f)));
        let of_sources = content
            .source
            .iter()
            .enumerate()
            .map(|(i, s)| (sources.entry(i), Properties::of_source(s, content)));
        let mut all: Vec<(&Node, Properties)> = of_fluid.chain(of_liquids).chain(of_sources).collect();
        let density = self.agreed(&all, "density", "densities", "kg/m3", |p| p.density);
        let viscosity = self.agreed(&all, "viscosity", "viscosities", "Pa s", |p| p.viscosity);
        all.extend(tension_of_second);
        let tension = self.agreed(&all, "surface_tension", "surface tensions", "N/m", |p| p.surface_tension);
        Some(Properties { density: density?, viscosity: viscosity?, surface_tension: tension? })
    }

    /// The value of a property that all must agree on.
    fn agreed(
        &mut self,
        all: &[(&Node, Properties)],
        key: &str,
        plural: &str,
        unit: &str,
        value: impl Fn(&Properties) -> f64,
    ) -> Option<f64> {
        let usual = value(&PLAIN);
        let Some(((first, properties), others)) = all.split_first() else { return Some(usual) };
        let wanted = value(properties);
        let mut same = true;
        for (node, other) in
            others.iter().map(|(node, p)| (node, value(p))).filter(|(_, other)| *other != wanted)
        {
            same = false;
            // A key that was wrong has been reported and is gone: what is left without it says nothing.
            if self.pruned && (first.get(key).is_none() || node.get(key).is_none()) {
                continue;
            }
            let name = key.replace('_', " ");
            self.problems.error(
                &said(node, key).place,
                format!("liquids of different {plural}, {wanted} and {other} {unit}"),
                format!("another {name}"),
                format!("give the first liquid, those of its kind and all sources the same {name} ({usual} if left out)"),
            );
            self.problems.also_at(&said(first, key).place, &format!("the first {name}"));
        }
        same.then_some(wanted)
    }
}
