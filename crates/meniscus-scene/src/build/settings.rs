//! Settings that depend on each other or on the dimension.

use meniscus_core::vector::{norm, sub};

use super::Builder;
use crate::content::{Camera, Content, Method, ModesDomain, Show, TransferScheme};
use crate::document::Node;
use crate::setup::{CameraSetup, ParticleSettings, RenderSettings, Transfer};

const USUAL_FLIP_BLEND: f64 = 0.97;

impl<const D: usize> Builder<'_, D> {
    pub(super) fn particles(&mut self, content: &Content, root: &Node) -> Option<ParticleSettings> {
        let (given, node) = (&content.particles, root.at("particles"));
        let transfer = match given.transfer {
            TransferScheme::Flip => Transfer::Flip { blend: given.flip_blend.unwrap_or(USUAL_FLIP_BLEND) },
            TransferScheme::Apic => {
                // With another error about, `transfer` may be one that was not understood.
                if given.flip_blend.is_some() && (node.get("transfer").is_some() || !self.pruned) {
                    let place = node.key("flip_blend").map_or(&node.place, |key| &key.place);
                    let help = "remove `flip_blend`, or add transfer = \"flip\"";
                    let message = "`flip_blend` has no meaning with transfer = \"apic\"";
                    self.problems.error(place, message, "only with transfer = \"flip\"", help);
                }
                Transfer::Apic
            }
        };
        let (least, most) = match (D, &content.fluid) {
            (2, _) | (_, Some(_)) => (2, 8),
            _ => (4, 16),
        };
        let min_per_cell = given.min_per_cell.unwrap_or(least);
        let max_per_cell = given.max_per_cell.unwrap_or(most);
        if min_per_cell > max_per_cell {
            let key = if given.min_per_cell.is_some() { "min_per_cell" } else { "max_per_cell" };
            self.problems.error(
                &node.at(key).place,
                format!("at least {min_per_cell} but at most {max_per_cell} particles in a cell"),
                "the minimum is above the maximum",
                format!("make min_per_cell at most max_per_cell; {least} and {most} are usual in {D}D"),
            );
            return None;
        }
        Some(ParticleSettings { transfer, min_per_cell, max_per_cell })
    }

    pub(super) fn render(&mut self, content: &Content, root: &Node) -> Option<RenderSettings> {
        let (given, node) = (&content.render, root.at("render"));
        let camera = match &given.camera {
            None => None,
            Some(camera) => Some(self.camera(node, camera)?),
        };
        if D == 3 {
            for key in ["show", "streamlines"].iter().filter_map(|key| node.key(key)) {
                let message = format!("`render.{}` is not used in a 3D scene", key.text);
                self.problems.warning(&key.place, message, "only in 2D", "remove it");
            }
        }
        let has_modes = D == 2
            && content.method == Method::Modes
            && content.modes.as_ref().is_none_or(|modes| modes.domain == ModesDomain::Box);
        if given.show == Some(Show::Modes) && !has_modes {
            let message = "`show = \"modes\"` is possible only with the modes of a box in 2D";
            let help = "set it to \"speed\" or \"liquid\", or simulate with method = \"modes\"";
            self.problems.error(&node.at("show").place, message, "no modes to show", help);
            return None;
        }
        Some(RenderSettings {
            width: given.width,
            height: given.height,
            camera,
            show: given.show.unwrap_or(if content.smoke.is_empty() { Show::Speed } else { Show::Liquid }),
            streamlines: given.streamlines.unwrap_or_default(),
        })
    }

    fn camera(&mut self, render: &Node, camera: &Camera) -> Option<CameraSetup> {
        let node = render.at("camera");
        if D == 2 {
            let place = render.key("camera").map_or(&node.place, |key| &key.place);
            let help = "remove `camera`: a 2D picture always shows the whole domain";
            self.problems.error(place, "a 2D scene has no camera", "only in 3D", help);
            return None;
        }
        let (from, to) =
            (self.entries::<3>(node.at("from"), &camera.from), self.entries::<3>(node.at("to"), &camera.to));
        let (from, to) = (from?, to?);
        let view = sub(to, from);
        if norm([view[0], view[2]]) <= 1e-6 * norm(view) {
            let (message, help) = if norm(view) > 0.0 {
                (
                    "the camera looks straight up or down",
                    "move it a little to the side: y is up in the picture",
                )
            } else {
                ("the camera looks at itself", "make `from` and `to` different points")
            };
            self.problems.error(&node.at("to").place, message, "looked at from `from`", help);
            return None;
        }
        Some(CameraSetup { from, to, fov_degrees: camera.fov_degrees })
    }
}
