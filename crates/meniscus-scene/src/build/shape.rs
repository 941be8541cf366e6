//! Shapes of a scene, and the meshes that they read.

use std::any::Any;
use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use meniscus_core::shape::{ClosedMesh, Polygon, PolygonError, Shape, TriangleMesh};
use meniscus_core::vector::norm;
use meniscus_io::{ReadMeshError, obj, read_mesh};

use super::search::{Meeting, below};
use super::{Builder, centre_or_origin};
use crate::content;
use crate::document::Node;
use crate::gallery;
use crate::motion::turned_about;

/// The mesh files of a scene, each read and checked once.
pub(super) struct Meshes<'a> {
    folder: &'a Path,
    /// By path and the bits of the factors that it is scaled by.
    read: HashMap<(PathBuf, [u64; 3]), Result<Arc<ClosedMesh>, MeshProblem>>,
}

/// Why a mesh is of no use: message, label and fix.
#[derive(Clone)]
struct MeshProblem {
    message: String,
    label: &'static str,
    help: String,
}

impl<'a> Meshes<'a> {
    pub fn new(folder: &'a Path) -> Self {
        Self { folder, read: HashMap::new() }
    }

    /// What paths are relative to.
    pub fn folder(&self) -> &'a Path {
        self.folder
    }

    fn get(&mut self, file: &str, scale: [f64; 3]) -> Result<Arc<ClosedMesh>, MeshProblem> {
        let path = self.folder.join(file);
        let folder = self.folder;
        self.read
            .entry((path.clone(), scale.map(f64::to_bits)))
            .or_insert_with(|| read(file, &path, scale).map(Arc::new).map_err(|e| e.explained(file, folder)))
            .clone()
    }
}

enum LoadError {
    Read(ReadMeshError),
    Mesh(meniscus_core::shape::MeshError),
    NotBuiltIn { known: String },
}

/// Reads a file, or a built-in mesh.
fn read(file: &str, path: &Path, scale: [f64; 3]) -> Result<ClosedMesh, LoadError> {
    ClosedMesh::new(read_triangles(file, path, scale)?).map_err(LoadError::Mesh)
}

fn read_triangles(file: &str, path: &Path, scale: [f64; 3]) -> Result<TriangleMesh, LoadError> {
    let mesh = match gallery::mesh(file) {
        Some(Ok(text)) => obj::parse(text.as_bytes()).expect("built-in meshes are sound"),
        Some(Err(known)) => return Err(LoadError::NotBuiltIn { known }),
        None => read_mesh(path).map_err(LoadError::Read)?,
    };
    let TriangleMesh { mut vertices, triangles } = mesh;
    for vertex in &mut vertices {
        *vertex = std::array::from_fn(|a| scale[a] * vertex[a]);
    }
    Ok(TriangleMesh { vertices, triangles })
}

impl LoadError {
    fn explained(self, file: &str, folder: &Path) -> MeshProblem {
        match self {
            Self::Read(ReadMeshError::Io { source, .. }) if source.kind() == std::io::ErrorKind::NotFound => {
                let folder = if folder.as_os_str().is_empty() { Path::new(".") } else { folder };
                MeshProblem {
                    message: format!("there is no mesh file `{file}`"),
                    label: "not found",
                    help: format!(
                        "the path is relative to the folder of the scene, {}; give the name of an .obj, .ply or .stl file",
                        folder.display()
                    ),
                }
            }
            Self::Read(ReadMeshError::Io { source, .. }) => MeshProblem {
                message: format!("cannot read the mesh file `{file}`: {source}"),
                label: "cannot be read",
                help: "check that it is a file and that you may read it".into(),
            },
            Self::Read(ReadMeshError::UnknownExtension { .. }) => MeshProblem {
                message: format!("`{file}` is not a known kind of mesh file"),
                label: "unknown extension",
                help: "a mesh file must end in .obj, .ply or .stl; convert it to one of these formats".into(),
            },
            Self::Read(ReadMeshError::Parse { error, .. }) => MeshProblem {
                message: format!("the mesh file `{file}` is broken at {error}"),
                label: "broken file",
                help: "export the mesh again, or mend the file at that place".into(),
            },
            Self::Read(other) => MeshProblem {
                message: other.to_string(),
                label: "cannot be read",
                help: "give another .obj, .ply or .stl file".into(),
            },
            Self::NotBuiltIn { known } => MeshProblem {
                message: format!("there is no built-in mesh `{file}`"),
                label: "not known",
                help: format!("built-in meshes are {known}"),
            },
            Self::Mesh(error) => {
                let text = error.to_string();
                let (what, fix) = text.split_once("; ").unwrap_or((&text, "close the surface of the mesh"));
                MeshProblem {
                    message: format!("`{file}`: {what}"),
                    label: "not a closed surface",
                    help: fix.into(),
                }
            }
        }
    }
}

impl<const D: usize> Builder<'_, D> {
    /// The shape at the key `shape`, of which some part must lie in the domain.
    pub(super) fn shape_in_domain(&mut self, node: &Node, shape: &content::Shape) -> Option<Shape<D>> {
        let node = node.at("shape");
        let built = self.shape(node, shape)?;
        if self.is_outside(&built) {
            let size: Vec<String> =
                self.domain.upper.iter().map(|x| format!("{}", (x * 1e9).round() / 1e9)).collect();
            self.problems.error(
                &node.place,
                "the shape is empty, or lies wholly outside the domain",
                "nothing in the domain",
                format!(
                    "the domain reaches from the origin to [{}]; move the shape or enlarge domain.size",
                    size.join(", ")
                ),
            );
            return None;
        }
        Some(built)
    }

    fn is_outside(&mut self, shape: &Shape<D>) -> bool {
        let inside = shape.bounds().intersection(self.domain);
        if inside.is_empty() || inside.extent().contains(&0.0) {
            return true;
        }
        let (dx, budget) = (self.grid.dx, &mut self.budget);
        below(self.domain, 0.0, dx, budget, |p| shape.signed_distance(p)) == Meeting::Nowhere
    }

    pub(super) fn shape(&mut self, node: &Node, shape: &content::Shape) -> Option<Shape<D>> {
        use content::Shape as S;
        match shape {
            S::Box(b) => self.box_between(node.at("box"), b),
            S::Sphere(s) => {
                let node = node.at("sphere");
                let centre = self.vector(node.at("centre"), &s.centre)?;
                self.made(node, Shape::sphere(centre, s.radius))
            }
            S::Ellipsoid(e) => {
                let node = node.at("ellipsoid");
                let (centre, radii) =
                    (self.vector(node.at("centre"), &e.centre), self.vector(node.at("radii"), &e.radii));
                self.made(node, Shape::ellipsoid(centre?, radii?))
            }
            S::Cylinder(c) => self.cylinder(node.at("cylinder"), c),
            S::Capsule(c) => {
                let node = node.at("capsule");
                let (from, to) = (self.vector(node.at("from"), &c.from), self.vector(node.at("to"), &c.to));
                self.made(node, Shape::capsule(from?, to?, c.radius))
            }
            S::HalfSpace(h) => self.half_space(node.at("half_space"), h),
            S::Polygon(p) => self.polygon(node.at("polygon"), p),
            S::Mesh(m) => self.mesh(node.at("mesh"), m),
            S::Union(shapes) => {
                let shapes = self.shapes(node.at("union"), "union", 1, shapes)?;
                self.made(node, Shape::union(shapes))
            }
            S::Intersection(shapes) => {
                let shapes = self.shapes(node.at("intersection"), "intersection", 1, shapes)?;
                self.made(node, Shape::intersection(shapes))
            }
            S::Difference(shapes) => {
                let shapes = self.shapes(node.at("difference"), "difference", 2, shapes)?;
                shapes.into_iter().reduce(Shape::difference)
            }
            S::Complement(inner) => Some(self.shape(node.at("complement"), inner)?.complement()),
            S::Transform(t) => self.transform(node.at("transform"), t),
            S::Shell(s) => {
                let node = node.at("shell");
                let inner = self.shape(node.at("shape"), &s.shape)?;
                self.made(node, inner.shell(s.thickness))
            }
        }
    }

    /// All shapes of a list, which must have some.
    fn shapes(
        &mut self,
        node: &Node,
        kind: &str,
        least: usize,
        shapes: &[content::Shape],
    ) -> Option<Vec<Shape<D>>> {
        let built = self.each(Some(node), shapes, Self::shape);
        if shapes.len() >= least {
            return built;
        }
        // A list that lost an entry to an earlier error is not to blame.
        if !self.pruned {
            let (few, help) = match least {
                1 => ("no shapes", "list at least one shape"),
                _ => ("too few shapes", "list at least two: the first one, and what is taken from it"),
            };
            self.problems.error(&node.place, format!("a {kind} of {few}"), few, help);
        }
        None
    }

    fn box_between(&mut self, node: &Node, b: &content::BoxShape) -> Option<Shape<D>> {
        let (from, to) = (self.vector(node.at("from"), &b.from), self.vector(node.at("to"), &b.to));
        let (from, to) = (from?, to?);
        let mut sound = true;
        for axis in (0..D).filter(|&a| from[a] >= to[a]) {
            sound = false;
            let name = ["x", "y", "z"][axis];
            let (message, help) = if from[axis] == to[axis] {
                (format!("the box has no thickness along {name}"), "make `to` larger than `from`".to_owned())
            } else {
                (
                    format!(
                        "the box is inverted along {name}: `from` is {}, `to` is {}",
                        from[axis], to[axis]
                    ),
                    format!("swap the {name} of `from` and `to`: `from` is the lower corner"),
                )
            };
            let place = &node.at("to").entry(axis).place;
            self.problems.error(place, message, format!("must be larger than {}", from[axis]), help);
            self.problems.also_at(&node.at("from").entry(axis).place, "the lower corner");
        }
        if sound { self.made(node, Shape::box_between(from, to)) } else { None }
    }

    fn cylinder(&mut self, node: &Node, c: &content::Cylinder) -> Option<Shape<D>> {
        let (from, to) = (self.vector(node.at("from"), &c.from), self.vector(node.at("to"), &c.to));
        let (from, to) = (from?, to?);
        if from == to {
            let help = "give two different points; they are the centres of its flat ends";
            let message = "the cylinder has no length: `from` and `to` are the same point";
            self.problems.error(&node.at("to").place, message, "the same as `from`", help);
            return None;
        }
        self.made(node, Shape::cylinder(from, to, c.radius))
    }

    fn half_space(&mut self, node: &Node, h: &content::HalfSpace) -> Option<Shape<D>> {
        let (point, normal) =
            (self.vector(node.at("point"), &h.point), self.vector(node.at("normal"), &h.normal));
        let (point, normal) = (point?, normal?);
        if normal == [0.0; D] {
            let up = if D == 2 { "[0, 1]" } else { "[0, 1, 0]" };
            let help = format!("give the direction out of the shape; {up} keeps what is below the point");
            self.problems.error(&node.at("normal").place, "the normal has no direction", "all zero", help);
            return None;
        }
        self.made(node, Shape::half_space(point, normal))
    }

    fn mesh(&mut self, node: &Node, m: &content::MeshShape) -> Option<Shape<D>> {
        if D == 2 {
            return self.outline_of_mesh(node, m);
        }
        let scale = self.scale::<3>(node, &m.scale)?;
        match self.meshes.get(&m.file, scale) {
            Ok(mesh) => (&Shape::mesh(mesh) as &dyn Any).downcast_ref::<Shape<D>>().cloned(),
            Err(MeshProblem { message, label, help }) => {
                self.problems.error(&node.at("file").place, message, label, help);
                None
            }
        }
    }

    /// In 2D the outline of a flat mesh.
    fn outline_of_mesh(&mut self, node: &Node, m: &content::MeshShape) -> Option<Shape<D>> {
        let [x, y] = self.scale::<2>(node, &m.scale)?;
        let folder = self.meshes.folder();
        match read_triangles(&m.file, &folder.join(&m.file), [x, y, 1.0]) {
            Ok(mesh) => self.of_polygon(node, Polygon::of_flat_mesh(&mesh.welded())),
            Err(error) => {
                let MeshProblem { message, label, help } = error.explained(&m.file, folder);
                self.problems.error(&node.at("file").place, message, label, help);
                None
            }
        }
    }

    fn polygon(&mut self, node: &Node, p: &content::Polygon) -> Option<Shape<D>> {
        if D != 2 {
            let help = "use the other shapes, or give domain.size two entries to make the scene 2D";
            self.problems.error(&node.place, "a 3D scene cannot hold a polygon", "polygons are flat", help);
            return None;
        }
        let list = node.at("points");
        let points = p.points.iter().enumerate();
        let points: Option<Vec<[f64; 2]>> =
            points.map(|(k, point)| self.entries::<2>(list.entry(k), point)).collect();
        self.of_polygon(list, Polygon::new(points?))
    }

    fn of_polygon(&mut self, node: &Node, polygon: Result<Polygon, PolygonError>) -> Option<Shape<D>> {
        let shape = polygon.map(|polygon| {
            let shape: &dyn Any = &Shape::polygon(polygon);
            shape.downcast_ref::<Shape<D>>().expect("a shape in the plane").clone()
        });
        self.made(node, shape.map_err(Into::into))
    }

    fn transform(&mut self, node: &Node, t: &content::Transform) -> Option<Shape<D>> {
        let translate = self.optional_vector(node, "translate", t.translate.as_deref(), [0.0; D]);
        let axis = self.rotation_axis(node, t.axis.as_deref());
        let scale = self.scale::<D>(node, &t.scale);
        let shape = self.shape(node.at("shape"), &t.shape);
        let pivot = shape.as_ref().map_or([0.0; D], centre_or_origin);
        let pivot = self.optional_vector(node, "pivot", t.pivot.as_deref(), pivot)?;
        let shape = self.scaled(node, shape?, scale?, pivot)?;
        self.made(node, shape.transformed(turned_about(pivot, axis?, t.degrees, translate?)))
    }

    /// The factors of the key `scale`.
    fn scale<const N: usize>(&mut self, node: &Node, scale: &content::Scale) -> Option<[f64; N]> {
        match scale {
            content::Scale::Even(factor) => Some([*factor; N]),
            content::Scale::ByAxis(factors) => self.entries(node.at("scale"), factors),
        }
    }

    fn scaled(
        &mut self,
        node: &Node,
        shape: Shape<D>,
        factors: [f64; D],
        pivot: [f64; D],
    ) -> Option<Shape<D>> {
        // What is not scaled keeps its numbers to the last bit.
        if factors == [1.0; D] {
            return Some(shape);
        }
        self.made(node.at("scale"), shape.scaled(factors, pivot))
    }

    /// The axis of a rotation: z unless the key `axis` says otherwise, which only 3D scenes can.
    pub(super) fn rotation_axis(&mut self, node: &Node, axis: Option<&[f64]>) -> Option<[f64; 3]> {
        let Some(axis) = axis else { return Some([0.0, 0.0, 1.0]) };
        if D == 2 {
            let place = node.key("axis").map_or(&node.place, |key| &key.place);
            let help = "remove `axis`: in 2D all rotations are in the plane, counter-clockwise";
            self.problems.error(place, "a 2D scene has no axis of rotation", "only in 3D", help);
            return None;
        }
        let axis = self.entries::<3>(node.at("axis"), axis)?;
        if norm(axis) > 0.0 {
            return Some(axis);
        }
        let help = "give a direction, such as [0, 1, 0] to turn about the vertical";
        self.problems.error(&node.at("axis").place, "the axis has no direction", "all zero", help);
        None
    }

    /// The shape, or a report of what our own checks let through, such as lengths that underflow.
    fn made(
        &mut self,
        node: &Node,
        shape: Result<Shape<D>, meniscus_core::shape::ShapeError>,
    ) -> Option<Shape<D>> {
        shape
            .map_err(|error| {
                let text = error.to_string();
                let (what, fix) = text.split_once("; ").unwrap_or((&text, "give other numbers"));
                self.problems.error(&node.place, what, "this shape", fix);
            })
            .ok()
    }
}
