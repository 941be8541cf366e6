//! Which edges of a cube the same piece of surface crosses.
//!
//! A cube's *configuration* has a bit for each corner, set where it is liquid; bit `a` of a corner's number
//! says whether it is the upper one along axis `a`. On each face the crossed edges are joined in pairs; a
//! *patch* is a set of edges that are joined directly or through others.
//!
//! A face whose liquid corners are opposite can be joined in two ways. Both cubes at the face must choose
//! the same: we let the liquid corners connect. Where this makes one patch cross the face twice in both
//! cubes, two vertices would share two edges, so there (and only there) the liquid corners are parted. A cube
//! in which a patch crosses a face twice has no other face with a choice, so parting never does the
//! same harm elsewhere (Wenger 2013 proves a similar rule).

/// The most edges that a cube has.
const MOST_EDGES: usize = 12;

/// No patch: the surface does not cross this edge.
const NONE: u8 = u8::MAX;

/// The patches of a cube.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Patches {
    /// How many there are.
    pub(super) count: usize,
    of_edge: [u8; MOST_EDGES],
}

impl Patches {
    /// The patch that crosses an edge, if one does.
    #[inline]
    pub(super) fn crossing(&self, edge: usize) -> Option<usize> {
        let patch = self.of_edge[edge];
        (patch != NONE).then_some(usize::from(patch))
    }
}

/// A face of a cube that one patch crosses twice.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct DoubleFace {
    /// The axis across the face.
    pub(super) axis: usize,
    /// Whether it is the upper face along the axis.
    pub(super) upper: bool,
}

/// The patches of every configuration.
pub(super) struct PatchTable<const D: usize> {
    connected: Vec<Patches>,
    parted: Vec<Patches>,
    double: Vec<Option<DoubleFace>>,
}

impl<const D: usize> PatchTable<D> {
    pub(super) fn new() -> Self {
        let configurations = || 0..1usize << (1 << D);
        let connected: Vec<Patches> = configurations().map(|c| find_patches::<D>(c, None)).collect();
        let double_faces: Vec<Option<Face<D>>> =
            configurations().map(|c| Face::all().find(|f| f.is_crossed_twice(c, &connected[c]))).collect();
        let parted = configurations().map(|c| find_patches(c, double_faces[c])).collect();
        let double = double_faces.iter().map(|face| face.and_then(Face::name)).collect();
        Self { connected, parted, double }
    }

    /// The patches of a configuration, with its double face (if it has one) parted or not.
    #[inline]
    pub(super) fn patches(&self, configuration: u8, parted: bool) -> &Patches {
        let table = if parted { &self.parted } else { &self.connected };
        &table[usize::from(configuration)]
    }

    /// The face that one patch crosses twice.
    #[inline]
    pub(super) fn double_face(&self, configuration: u8) -> Option<DoubleFace> {
        self.double[usize::from(configuration)]
    }
}

/// The number of the edge along `axis` that has the corner at one of its ends: the edges of an axis follow one
/// another, and count through the sides along the axes after it, cyclically.
#[inline]
pub(super) fn edge_at<const D: usize>(axis: usize, corner: usize) -> usize {
    (1..D).fold(axis << (D - 1), |edge, step| edge | (corner >> ((axis + step) % D) & 1) << (step - 1))
}

/// The axis of an edge and its lower corner: the inverse of [`edge_at`].
#[inline]
pub(super) fn edge_ends<const D: usize>(edge: usize) -> (usize, usize) {
    let axis = edge >> (D - 1);
    (axis, (1..D).fold(0, |corner, step| corner | (edge >> (step - 1) & 1) << ((axis + step) % D)))
}

/// The face spanned by two axes from its lowest corner; a square is its own face.
#[derive(Clone, Copy)]
struct Face<const D: usize> {
    axes: [usize; 2],
    lowest: usize,
}

impl<const D: usize> Face<D> {
    fn all() -> impl Iterator<Item = Self> {
        let pairs = (0..D).flat_map(|q| (0..q).map(move |p| [p, q]));
        pairs.flat_map(|axes @ [p, q]| {
            let lowest = (0..1usize << D).filter(move |corner| corner >> p & 1 == 0 && corner >> q & 1 == 0);
            lowest.map(move |lowest| Self { axes, lowest })
        })
    }

    fn corners(&self) -> [usize; 4] {
        let [p, q] = self.axes.map(|axis| 1 << axis);
        [0, p, q, p | q].map(|offset| self.lowest | offset)
    }

    fn edges(&self) -> [usize; 4] {
        let [p, q] = self.axes;
        let highest = self.lowest | 1 << p | 1 << q;
        [
            edge_at::<D>(p, self.lowest),
            edge_at::<D>(p, highest),
            edge_at::<D>(q, self.lowest),
            edge_at::<D>(q, highest),
        ]
    }

    fn is_crossed_twice(&self, configuration: usize, patches: &Patches) -> bool {
        let edges = self.edges();
        edges.iter().all(|&e| is_crossed::<D>(configuration, e))
            && edges.iter().all(|&e| patches.crossing(e) == patches.crossing(edges[0]))
    }

    /// Where the face lies on a cube; a square has no neighbour across itself.
    fn name(self) -> Option<DoubleFace> {
        let axis = (0..D).find(|axis| !self.axes.contains(axis))?;
        Some(DoubleFace { axis, upper: self.lowest >> axis & 1 == 1 })
    }
}

fn is_crossed<const D: usize>(configuration: usize, edge: usize) -> bool {
    let (axis, corner) = edge_ends::<D>(edge);
    (configuration >> corner ^ configuration >> (corner | 1 << axis)) & 1 == 1
}

/// The patches of a configuration whose faces connect their liquid corners, all but `parted`.
fn find_patches<const D: usize>(configuration: usize, parted: Option<Face<D>>) -> Patches {
    let edge_count = D << (D - 1);
    // Each crossed edge starts as its own patch; joined ones take the lower name.
    let mut name: [usize; MOST_EDGES] = std::array::from_fn(|edge| edge);
    let mut join = |a: usize, b: usize| {
        let (low, high) = (name[a].min(name[b]), name[a].max(name[b]));
        name.iter_mut().filter(|name| **name == high).for_each(|name| *name = low);
    };
    for face in Face::<D>::all() {
        let crossed: Vec<usize> =
            face.edges().into_iter().filter(|&e| is_crossed::<D>(configuration, e)).collect();
        match crossed[..] {
            [a, b] => join(a, b),
            [_, _, _, _] => {
                let is_parted = parted.is_some_and(|p| (p.axes, p.lowest) == (face.axes, face.lowest));
                // The surface cuts off the corners of the kind that is not connected.
                let cut_off = usize::from(is_parted);
                for corner in face.corners() {
                    if configuration >> corner & 1 == cut_off {
                        join(edge_at::<D>(face.axes[0], corner), edge_at::<D>(face.axes[1], corner));
                    }
                }
            }
            _ => {}
        }
    }
    let mut patches = Patches { count: 0, of_edge: [NONE; MOST_EDGES] };
    for edge in (0..edge_count).filter(|&e| is_crossed::<D>(configuration, e)) {
        if name[edge] == edge {
            patches.of_edge[edge] = patches.count as u8;
            patches.count += 1;
        } else {
            patches.of_edge[edge] = patches.of_edge[name[edge]];
        }
    }
    patches
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn edges_and_their_ends_are_inverse() {
        fn check<const D: usize>() {
            for edge in 0..D << (D - 1) {
                let (axis, corner) = edge_ends::<D>(edge);
                assert_eq!(edge_at::<D>(axis, corner), edge);
                assert_eq!(edge_at::<D>(axis, corner | 1 << axis), edge);
            }
        }
        check::<2>();
        check::<3>();
    }

    #[test]
    fn a_cube_that_a_patch_crosses_twice_at_a_face_has_no_other_choice() {
        let table = PatchTable::<3>::new();
        let mut doubles = 0;
        for configuration in 0..=255u8 {
            let c = usize::from(configuration);
            let twice =
                |patches: &Patches| Face::<3>::all().filter(|f| f.is_crossed_twice(c, patches)).count();
            if table.double_face(configuration).is_some() {
                doubles += 1;
                let choices = Face::<3>::all().filter(|f| f.edges().iter().all(|&e| is_crossed::<3>(c, e)));
                assert_eq!(choices.count(), 1);
                assert_eq!(table.patches(configuration, true).count, 2);
            }
            assert_eq!(twice(&table.parted[c]), 0);
        }
        // On each of 6 faces, two opposite corners (2 ways) alone or with one neighbour off the face.
        assert_eq!(doubles, 6 * 2 * 3);
    }

    #[test]
    fn patches_are_what_the_eye_sees() {
        let cube = PatchTable::<3>::new();
        for (configuration, count) in
            [(0, 0), (255, 0), (1, 1), (0b1000_0001, 2), (0b0110_1001, 4), (0b1001_0110, 4), (0b1111, 1)]
        {
            assert_eq!(cube.patches(configuration, false).count, count, "{configuration:b}");
        }
        let square = PatchTable::<2>::new();
        for (configuration, count) in [(0, 0), (15, 0), (1, 1), (3, 1), (7, 1), (6, 2), (9, 2)] {
            assert_eq!(square.patches(configuration, false).count, count, "{configuration:b}");
        }
    }
}
