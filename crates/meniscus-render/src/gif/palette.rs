//! A palette for a picture: median cut, then a few rounds of k-means.

/// Colours of a palette; one more index means "as before".
const COLOURS: usize = 255;

/// Bits of a channel that tell colours apart.
const BITS: u32 = 5;

const ROUNDS: usize = 3;

/// At most [`COLOURS`] colours and an index for pixels that stay as they are.
pub(super) struct Palette {
    colours: Vec<[u8; 3]>,
}

/// Pixels of nearly the same colour.
#[derive(Clone, Copy)]
struct Bin {
    colour: [f32; 3],
    count: f32,
}

impl Palette {
    pub fn new(pixels: impl Iterator<Item = [u8; 3]>) -> Self {
        let bins = histogram(pixels);
        let mut centres = median_cut(bins.clone());
        for _ in 0..ROUNDS {
            centres = k_means_round(&bins, &centres);
        }
        Self { colours: centres.iter().map(|c| c.map(|x| (x + 0.5) as u8)).collect() }
    }

    /// The index of pixels that stay as they are.
    pub fn transparent(&self) -> u8 {
        self.colours.len() as u8
    }

    /// Three bytes for each colour, the unused last one included.
    pub fn bytes(&self) -> Vec<u8> {
        self.colours.iter().copied().chain([[0; 3]]).flatten().collect()
    }

    /// A look-up of the nearest colours, which remembers what it found.
    pub fn nearest(&self) -> Nearest<'_> {
        Nearest { colours: &self.colours, found: vec![u16::MAX; 1 << 18] }
    }
}

/// See [`Palette::nearest`].
pub(super) struct Nearest<'a> {
    colours: &'a [[u8; 3]],
    found: Vec<u16>,
}

impl Nearest<'_> {
    /// The index of the nearest colour, for colours told apart by six bits a channel.
    pub fn index(&mut self, colour: [u8; 3]) -> u8 {
        let key = colour.iter().fold(0, |key, &c| key << 6 | usize::from(c >> 2));
        if self.found[key] == u16::MAX {
            let centres = self.colours.iter().map(|c| c.map(f32::from));
            self.found[key] = nearest(centres, colour.map(f32::from)) as u16;
        }
        self.found[key] as u8
    }
}

fn histogram(pixels: impl Iterator<Item = [u8; 3]>) -> Vec<Bin> {
    let mut bins = vec![Bin { colour: [0.0; 3], count: 0.0 }; 1 << (3 * BITS)];
    for pixel in pixels {
        let key = pixel.iter().fold(0, |key, &c| key << BITS | usize::from(c >> (8 - BITS)));
        let bin = &mut bins[key];
        bin.count += 1.0;
        // A running mean keeps its precision for any number of pixels.
        for c in 0..3 {
            bin.colour[c] += (f32::from(pixel[c]) - bin.colour[c]) / bin.count;
        }
    }
    bins.retain(|bin| bin.count > 0.0);
    // Large even areas matter, but not in proportion: small bright things need colours too.
    bins.iter_mut().for_each(|bin| bin.count = bin.count.powf(0.6));
    bins
}

/// Splits the box with the largest spread at its mean until there are enough.
fn median_cut(bins: Vec<Bin>) -> Vec<[f32; 3]> {
    if bins.is_empty() {
        return vec![[0.0; 3]];
    }
    let mut boxes = vec![Spread::of(bins)];
    while boxes.len() < COLOURS {
        let widest = (0..boxes.len()).max_by(|&a, &b| boxes[a].amount.total_cmp(&boxes[b].amount));
        let Some(widest) = widest.filter(|&k| boxes[k].amount > 0.0) else { break };
        let Spread { bins, mean, axis, .. } = boxes.swap_remove(widest);
        let (low, high): (Vec<Bin>, Vec<Bin>) = bins.into_iter().partition(|b| b.colour[axis] < mean[axis]);
        boxes.extend([low, high].into_iter().filter(|half| !half.is_empty()).map(Spread::of));
    }
    boxes.into_iter().map(|b| b.mean).collect()
}

/// Bins with their mean and how far they spread along the widest axis.
struct Spread {
    bins: Vec<Bin>,
    mean: [f32; 3],
    axis: usize,
    amount: f32,
}

impl Spread {
    fn of(bins: Vec<Bin>) -> Self {
        let mean = mean(&bins);
        let spread: [f32; 3] = std::array::from_fn(|c| {
            bins.iter().map(|b| b.count * (b.colour[c] - mean[c]).powi(2)).sum::<f32>() * WEIGHTS[c]
        });
        let axis = (0..3).max_by(|&a, &b| spread[a].total_cmp(&spread[b])).unwrap_or(0);
        let amount = if bins.len() > 1 { spread[axis] } else { 0.0 };
        Self { bins, mean, axis, amount }
    }
}

fn mean(bins: &[Bin]) -> [f32; 3] {
    let count: f32 = bins.iter().map(|b| b.count).sum();
    std::array::from_fn(|c| bins.iter().map(|b| b.count * b.colour[c]).sum::<f32>() / count)
}

fn k_means_round(bins: &[Bin], centres: &[[f32; 3]]) -> Vec<[f32; 3]> {
    let mut sums = vec![([0.0f32; 3], 0.0f32); centres.len()];
    for bin in bins {
        let (sum, count) = &mut sums[nearest(centres.iter().copied(), bin.colour)];
        for c in 0..3 {
            sum[c] += bin.count * bin.colour[c];
        }
        *count += bin.count;
    }
    let moved = sums.iter().zip(centres);
    moved.map(|((sum, count), old)| if *count > 0.0 { sum.map(|s| s / count) } else { *old }).collect()
}

/// How much the eye minds a difference in red, green and blue.
const WEIGHTS: [f32; 3] = [0.30, 0.50, 0.20];

fn nearest(centres: impl Iterator<Item = [f32; 3]>, colour: [f32; 3]) -> usize {
    let mut best = (0, f32::INFINITY);
    for (k, centre) in centres.enumerate() {
        let distance: f32 = (0..3).map(|c| WEIGHTS[c] * (centre[c] - colour[c]).powi(2)).sum();
        if distance < best.1 {
            best = (k, distance);
        }
    }
    best.0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn few_colours_are_kept_exactly() {
        let colours = [[0, 0, 0], [255, 255, 255], [13, 77, 200], [13, 90, 200]];
        let palette = Palette::new(colours.into_iter().cycle().take(1000));
        let mut nearest = palette.nearest();
        for colour in colours {
            assert_eq!(palette.colours[usize::from(nearest.index(colour))], colour);
        }
    }

    #[test]
    fn a_gradient_is_met_closely() {
        let gradient = |k: usize| [(k / 4) as u8, (255 - k / 4) as u8, 128];
        let palette = Palette::new((0..1024).map(gradient));
        let mut nearest = palette.nearest();
        for k in 0..1024 {
            let found = palette.colours[usize::from(nearest.index(gradient(k)))];
            assert!((0..3).all(|c| found[c].abs_diff(gradient(k)[c]) <= 6), "{found:?} for {k}");
        }
    }
}
