//! Values at vertices that follow the complex through its changes.

/// Values at vertices, such as velocities, that belong to whoever calls for repairs. They are linear in every
/// tet, and stay what they are where the complex is edited: a vertex that is new or put elsewhere takes the
/// value that was there.
pub trait VertexValues {
    /// The vertex takes the mean of the values at the sources (itself may be one) by these weights, which sum
    /// to one.
    fn interpolate(&mut self, vertex: u32, sources: &[(u32, f64)]);

    /// The vertices were ordered anew: new vertex `i` is what was `old_of_new[i]`.
    fn permute(&mut self, old_of_new: &[u32]);
}

/// No values.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct NoValues;

impl VertexValues for NoValues {
    fn interpolate(&mut self, _: u32, _: &[(u32, f64)]) {}
    fn permute(&mut self, _: &[u32]) {}
}

/// A vector for each slot of a vertex. Slots that are missing are made.
impl VertexValues for Vec<[f64; 3]> {
    fn interpolate(&mut self, vertex: u32, sources: &[(u32, f64)]) {
        let mean = std::array::from_fn(|i| sources.iter().map(|&(v, w)| w * self[v as usize][i]).sum());
        if self.len() <= vertex as usize {
            self.resize(vertex as usize + 1, [0.0; 3]);
        }
        self[vertex as usize] = mean;
    }

    fn permute(&mut self, old_of_new: &[u32]) {
        *self = old_of_new.iter().map(|&v| self[v as usize]).collect();
    }
}

/// Two kinds of values at once.
impl<A: VertexValues + ?Sized, B: VertexValues + ?Sized> VertexValues for (&mut A, &mut B) {
    fn interpolate(&mut self, vertex: u32, sources: &[(u32, f64)]) {
        self.0.interpolate(vertex, sources);
        self.1.interpolate(vertex, sources);
    }

    fn permute(&mut self, old_of_new: &[u32]) {
        self.0.permute(old_of_new);
        self.1.permute(old_of_new);
    }
}
