//! Rigid bodies.

use meniscus_core::shape::{RigidTransform, Rotation, Shape};

use super::{Builder, name_or_empty};
use crate::content;
use crate::document::Node;
use crate::setup::BodySetup;

impl<const D: usize> Builder<'_, D> {
    pub(super) fn body(&mut self, node: &Node, body: &content::Body) -> Option<BodySetup<D>> {
        let shape = self.bounded_shape(node, &body.shape);
        let velocity = self.optional_vector(node, "velocity", body.velocity.as_deref(), [0.0; D]);
        let angular_velocity = self.angular_velocity(node, body.angular_velocity.as_deref());
        let weighed = self.density_or_mass(node, body);
        let (shape, weighed) = (shape?, weighed?);
        let Some(of_one) = shape.mass_properties() else {
            let help = "move its parts so that something is left, or make it larger";
            self.problems.error(&node.at("shape").place, "the body has no volume", "nothing inside", help);
            return None;
        };
        let density = match weighed {
            Weighed::Density(density) => density,
            Weighed::Mass(mass) => mass / of_one.volume,
        };
        let to_centre =
            RigidTransform { rotation: Rotation::identity(), translation: of_one.centre.map(|x| -x) };
        let edges = self.wake_edges(node, &body.wake_edges)?;
        Some(BodySetup {
            name: name_or_empty(&body.name),
            shape: shape.transformed(to_centre).ok()?,
            centre: of_one.centre,
            density,
            mass: density * of_one.volume,
            inertia: of_one.inertia.map(|row| row.map(|x| density * x)),
            velocity: velocity?,
            angular_velocity: angular_velocity?,
            friction: body.friction,
            restitution: body.restitution,
            separation: body.separation.unwrap_or(self.separation),
            glass: body.glass,
            wake_edges: edges.into_iter().map(|x| [0, 1].map(|a| x[a] - of_one.centre[a])).collect(),
        })
    }

    fn bounded_shape(&mut self, node: &Node, shape: &content::Shape) -> Option<Shape<D>> {
        let shape = self.shape_in_domain(node, shape)?;
        if shape.bounds().is_finite() {
            return Some(shape);
        }
        let help = "a body must end somewhere: intersect the shape with a box, or make it a [[solid]]";
        self.problems.error(&node.at("shape").place, "the body has no bounds", "reaches to infinity", help);
        None
    }

    fn angular_velocity(&mut self, node: &Node, values: Option<&[f64]>) -> Option<[f64; 3]> {
        let Some(values) = values else { return Some([0.0; 3]) };
        let node = node.at("angular_velocity");
        match (D, values) {
            (2, &[rate]) => Some([0.0, 0.0, rate]),
            (2, _) => {
                let help = "give one number, such as [3.0]: radians a second in the plane, counter-clockwise";
                let message = format!("a 2D body turns in one way, not in {}", values.len());
                self.problems.error(&node.place, message, "one number is wanted", help);
                None
            }
            _ => self.entries::<3>(node, values),
        }
    }

    fn density_or_mass(&mut self, node: &Node, body: &content::Body) -> Option<Weighed> {
        match (body.density, body.mass) {
            (Some(density), None) => Some(Weighed::Density(density)),
            (None, Some(mass)) => Some(Weighed::Mass(mass)),
            (Some(_), Some(_)) => {
                let help = "remove one of them: each follows from the other and the shape's volume";
                let place = node.key("mass").map_or(&node.place, |key| &key.place);
                self.problems.error(place, "the body has both a density and a mass", "one too many", help);
                None
            }
            (None, None) => {
                // What is missing may have been there and wrong.
                if !self.pruned {
                    let help = "add `density` in kg/m3, such as density = 600 for wood, or `mass` in kg";
                    self.problems.error(
                        &node.place,
                        "the body has no weight",
                        "neither density nor mass",
                        help,
                    );
                }
                None
            }
        }
    }
}

enum Weighed {
    Density(f64),
    Mass(f64),
}
