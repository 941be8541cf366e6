//! What a ray meets: air, water and clear solids, opaque solids, the floor.

use meniscus_core::grid::Grid;
use meniscus_core::shape::Shape;

use super::ray::{Ray, clip_to_box};
use super::solids::Solids;
use super::surface::Surface;
use super::{SolidLook, Style3};
use crate::colour::from_srgb;
use crate::vec3::{Vec3, vec3};
use crate::view::View;

/// What light runs through.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Medium {
    Air,
    Water,
    Glass,
}

impl Medium {
    /// The index of refraction. Glass is closer to water than the real one, so that a container does not
    /// hide what is in it.
    pub fn index(self) -> f32 {
        match self {
            Self::Air => 1.0,
            Self::Water => 1.333,
            Self::Glass => 1.36,
        }
    }
}

/// Where a ray's way through a medium ends.
#[derive(Clone, Copy, Debug)]
pub(super) enum End {
    /// It goes on for ever.
    Sky,
    /// The floor, seen from above.
    Floor { t: f32 },
    /// An opaque solid.
    Solid { t: f32, normal: Vec3 },
    /// Another medium; the normal faces the ray.
    Interface { t: f32, normal: Vec3, next: Medium },
}

impl End {
    /// The length of the way.
    pub fn way(&self) -> f32 {
        match *self {
            Self::Sky => f32::INFINITY,
            Self::Floor { t } | Self::Solid { t, .. } | Self::Interface { t, .. } => t,
        }
    }
}

/// How far from an interface a ray goes on, in cells.
const NUDGE: f32 = 4e-3;

/// The liquid, its solids and the floor, in cells from the domain's lower corner. The floor is the
/// plane of the domain's bottom; water lies on it without air between.
pub(super) struct Scene<'a> {
    pub surface: Surface,
    pub opaque: Solids<'a>,
    pub glass: Solids<'a>,
    /// The domain's upper corner.
    pub upper: Vec3,
}

impl<'a> Scene<'a> {
    pub fn new(view: &View<'a, 3>, style: &Style3) -> Self {
        let looks = style.solids.iter().copied().chain(std::iter::repeat(SolidLook::Auto));
        let is_glass = |solid, look| match look {
            SolidLook::Auto => is_container(solid, view.grid),
            SolidLook::Opaque | SolidLook::Painted(_) => false,
            SolidLook::Glass => true,
        };
        let (mut glass, mut opaque) = (Vec::new(), Vec::new());
        for (solid, look) in view.solids.iter().zip(looks) {
            let colour = match look {
                SolidLook::Painted(srgb) => from_srgb(srgb),
                _ => Vec3::from_array(style.solid_colour),
            };
            if is_glass(solid, look) { &mut glass } else { &mut opaque }.push((solid, colour));
        }
        Self {
            surface: Surface::new(view.level_set),
            opaque: Solids::new(opaque, view.grid),
            glass: Solids::new(glass, view.grid),
            upper: Vec3::from_array(view.grid.cells.map(|n| n as f32)),
        }
    }

    /// The length of the domain's longest side.
    pub fn size(&self) -> f32 {
        self.upper.max_component()
    }

    /// What fills a point.
    pub fn medium(&self, p: Vec3) -> Medium {
        let inside = (p.max(Vec3::ZERO).min(self.upper)) == p;
        if self.glass.contains(p) {
            Medium::Glass
        } else if inside && self.surface.value(p) < 0.0 {
            Medium::Water
        } else {
            Medium::Air
        }
    }

    /// The end of a ray's way through the medium that it starts in.
    pub fn trace(&self, ray: &Ray, medium: Medium) -> End {
        let mut end = End::Sky;
        let mut nearest = f32::INFINITY;
        if ray.direction.y < 0.0 && ray.origin.y > 0.0 {
            nearest = -ray.origin.y / ray.direction.y;
            end = End::Floor { t: nearest };
        }
        if let Some((t, normal)) = self.opaque.first_hit(ray, nearest) {
            nearest = t;
            end = End::Solid { t, normal };
        }
        let boundary = match medium {
            Medium::Air => self.leave_air(ray, nearest),
            Medium::Water => self.leave_water(ray, nearest),
            Medium::Glass => self.leave_glass(ray),
        };
        match boundary {
            // Water and glass stand on the floor: at the same place the floor counts.
            Some(boundary @ End::Interface { t, .. }) if t < nearest - 2.0 * NUDGE => boundary,
            _ => end,
        }
    }

    fn leave_air(&self, ray: &Ray, to: f32) -> Option<End> {
        let glass = self.glass.first_hit(ray, to);
        let to = glass.map_or(to, |(t, _)| t);
        let water = clip_to_box(ray, Vec3::ZERO, self.upper).and_then(|[enter, leave]| {
            if enter.0 > 0.0 && enter.0 < to && self.surface.value(ray.at(enter.0)) < 0.0 {
                return Some(enter);
            }
            let t = self.surface.first_crossing(ray, enter.0, leave.0.min(to), false)?;
            Some((t, self.surface_normal(ray, t)))
        });
        let (next, (t, normal)) = match water {
            Some(hit) => (Medium::Water, hit),
            None => (Medium::Glass, glass?),
        };
        Some(End::Interface { t, normal: facing(normal, ray), next })
    }

    fn leave_water(&self, ray: &Ray, to: f32) -> Option<End> {
        let glass = self.glass.first_hit(ray, to);
        let to = glass.map_or(to, |(t, _)| t);
        let [_, leave] = clip_to_box(ray, Vec3::ZERO, self.upper)?;
        let (next, (t, normal)) = match self.surface.first_crossing(ray, 0.0, leave.0.min(to), true) {
            Some(t) => (Medium::Air, (t, self.surface_normal(ray, t))),
            None => glass.map_or((Medium::Air, leave), |hit| (Medium::Glass, hit)),
        };
        Some(End::Interface { t, normal: facing(normal, ray), next })
    }

    fn leave_glass(&self, ray: &Ray) -> Option<End> {
        let (t, normal) = self.glass.exit(ray)?;
        let beyond = ray.at(t) + normal * 0.05;
        let next = if self.medium(beyond) == Medium::Water { Medium::Water } else { Medium::Air };
        Some(End::Interface { t, normal: facing(normal, ray), next })
    }

    fn surface_normal(&self, ray: &Ray, t: f32) -> Vec3 {
        self.surface.normal(ray.at(t)).unwrap_or(-ray.direction)
    }

    /// The length of a straight way that lies in water, before the way leaves the domain.
    pub fn wet_length(&self, ray: &Ray) -> f32 {
        let Some([_, leave]) = clip_to_box(ray, Vec3::ZERO, self.upper) else { return 0.0 };
        let mut wet = self.surface.value(ray.origin) < 0.0;
        let (mut t, mut sum) = (0.0, 0.0);
        for _ in 0..8 {
            let next = self.surface.first_crossing(ray, t, leave.0, wet);
            let until = next.unwrap_or(leave.0);
            sum += if wet { until - t } else { 0.0 };
            if next.is_none() {
                break;
            }
            (t, wet) = (until + 2.0 * NUDGE, !wet);
        }
        sum
    }
}

/// The normal on the ray's side.
fn facing(normal: Vec3, ray: &Ray) -> Vec3 {
    if normal.dot(ray.direction) <= 0.0 { normal } else { -normal }
}

/// A ray that goes on from a point of an interface to the side that `normal` points to.
pub(super) fn leave(p: Vec3, normal: Vec3, direction: Vec3) -> Ray {
    Ray { origin: p + normal * NUDGE, direction }
}

/// A solid that spans nearly all of the domain along every axis holds the liquid: to see it, one must see
/// through the solid.
fn is_container(solid: &Shape<3>, grid: &Grid<3>) -> bool {
    let bounds = solid.bounds();
    (0..3).all(|axis| {
        let (low, high) = (grid.origin[axis], grid.origin[axis] + grid.cells[axis] as f64 * grid.dx);
        bounds.upper[axis].min(high) - bounds.lower[axis].max(low) > 0.7 * (high - low)
    })
}

/// Upwards.
pub(super) const UP: Vec3 = vec3(0.0, 1.0, 0.0);
