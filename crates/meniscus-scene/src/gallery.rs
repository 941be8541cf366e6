//! The built-in scenes.

/// Names and texts, in the order that they are listed in.
const SCENES: [(&str, &str); 36] = [
    ("dam-break", include_str!("../gallery/dam-break.toml")),
    ("fountain", include_str!("../gallery/fountain.toml")),
    ("water-cooler", include_str!("../gallery/water-cooler.toml")),
    ("rising-bubble", include_str!("../gallery/rising-bubble.toml")),
    ("rising-bubble-viscous", include_str!("../gallery/rising-bubble-viscous.toml")),
    ("wall-with-holes", include_str!("../gallery/wall-with-holes.toml")),
    ("moving-platform", include_str!("../gallery/moving-platform.toml")),
    ("bubble-tube", include_str!("../gallery/bubble-tube.toml")),
    ("cube-bubble", include_str!("../gallery/cube-bubble.toml")),
    ("light-bubble", include_str!("../gallery/light-bubble.toml")),
    ("sinking-bubbles", include_str!("../gallery/sinking-bubbles.toml")),
    ("splash-tank", include_str!("../gallery/splash-tank.toml")),
    ("many-densities", include_str!("../gallery/many-densities.toml")),
    ("floating-bottle", include_str!("../gallery/floating-bottle.toml")),
    ("paddle-smoke", include_str!("../gallery/paddle-smoke.toml")),
    ("water-ball", include_str!("../gallery/water-ball.toml")),
    ("dam-break-2d", include_str!("../gallery/dam-break-2d.toml")),
    ("water-cooler-2d", include_str!("../gallery/water-cooler-2d.toml")),
    ("sloshing-2d", include_str!("../gallery/sloshing-2d.toml")),
    ("neutral-drop", include_str!("../gallery/neutral-drop.toml")),
    ("sinking-drop", include_str!("../gallery/sinking-drop.toml")),
    ("drop-in-bowl", include_str!("../gallery/drop-in-bowl.toml")),
    ("water-ball-2d", include_str!("../gallery/water-ball-2d.toml")),
    ("blocked-channel", include_str!("../gallery/blocked-channel.toml")),
    ("rotated-box", include_str!("../gallery/rotated-box.toml")),
    ("hydrostatic-2d", include_str!("../gallery/hydrostatic-2d.toml")),
    ("jet-modes", include_str!("../gallery/jet-modes.toml")),
    ("jet-eigenmodes", include_str!("../gallery/jet-eigenmodes.toml")),
    ("drafting", include_str!("../gallery/drafting.toml")),
    ("wall-image", include_str!("../gallery/wall-image.toml")),
    ("panel", include_str!("../gallery/panel.toml")),
    ("panel-cylinder", include_str!("../gallery/panel-cylinder.toml")),
    ("airfoil", include_str!("../gallery/airfoil.toml")),
    ("reduced-game", include_str!("../gallery/reduced-game.toml")),
    ("islands", include_str!("../gallery/islands.toml")),
    ("vortex-box-3d", include_str!("../gallery/vortex-box-3d.toml")),
];

/// Built-in meshes, as files in the OBJ format.
const MESHES: [(&str, &str); 1] = [("asteroid.obj", include_str!("../gallery/meshes/asteroid.obj"))];

/// What the name of a mesh file begins with if it is built in.
const PREFIX: &str = "gallery:";

/// The text of the built-in mesh that a file name stands for, if it begins like one; an error tells which there are.
pub(crate) fn mesh(file: &str) -> Option<Result<&'static str, String>> {
    let name = file.strip_prefix(PREFIX)?;
    let known = || MESHES.map(|(name, _)| format!("{PREFIX}{name}")).join(", ");
    Some(MESHES.iter().find(|(known, _)| *known == name).map(|(_, text)| *text).ok_or_else(known))
}

/// The names of the built-in scenes.
pub fn names() -> impl Iterator<Item = &'static str> {
    SCENES.iter().map(|(name, _)| *name)
}

/// The TOML text of a built-in scene.
pub fn text(name: &str) -> Option<&'static str> {
    SCENES.iter().find(|(known, _)| *known == name).map(|(_, text)| *text)
}

/// What a built-in scene shows, in one line.
pub fn description(name: &str) -> Option<String> {
    let table: toml::Table = text(name)?.parse().ok()?;
    Some(table.get("description")?.as_str()?.to_owned())
}
