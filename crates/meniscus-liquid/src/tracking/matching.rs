//! Which of the old regions the new ones are made of: a bipartite graph (Goldade 2020, section 7.1).

use std::collections::BTreeMap;

use meniscus_core::components::Partition;

/// How many of the samples of new regions came from old ones.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Votes {
    /// By (old, new).
    pub between: BTreeMap<(usize, usize), u32>,
    /// By new region: all of its samples, those from nowhere included.
    pub of_new: BTreeMap<usize, u32>,
}

impl Votes {
    /// Samples of a new region.
    pub fn add(&mut self, old: Option<usize>, new: usize, count: u32) {
        *self.of_new.entry(new).or_insert(0) += count;
        if let Some(old) = old {
            *self.between.entry((old, new)).or_insert(0) += count;
        }
    }

    /// Drops the samples of some new regions.
    pub fn forget(&mut self, is_gone: impl Fn(usize) -> bool) {
        self.between.retain(|&(_, new), _| !is_gone(new));
        self.of_new.retain(|&new, _| !is_gone(new));
    }

    /// The pairs that count: at least [`SHARE`] of the samples of one of the two.
    fn edges(&self) -> Vec<(usize, usize, u32)> {
        let mut of_old: BTreeMap<usize, u32> = BTreeMap::new();
        for (&(old, _), &count) in &self.between {
            *of_old.entry(old).or_insert(0) += count;
        }
        let counts = |&(&(old, new), &count): &(&(usize, usize), &u32)| {
            let least = of_old[&old].min(self.of_new[&new]);
            f64::from(count) >= SHARE * f64::from(least)
        };
        self.between.iter().filter(counts).map(|(&(old, new), &count)| (old, new, count)).collect()
    }
}

/// Fewer votes than this part of those of the smaller region are of samples that came across a film, which is thinner than what a sample is off by: they make no merger.
const SHARE: f64 = 0.05;

/// Old regions and the new ones that they have become: a connected part of the graph.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Family {
    /// The old ones, without those that are open.
    pub old: Vec<usize>,
    /// The new ones, without those that are open.
    pub new: Vec<usize>,
    /// Whether some of the new ones come from open air.
    pub from_open: bool,
    /// Whether some of the old ones have become open air.
    pub to_open: bool,
    /// (old, new) that remain the same: each shares more with the other than with anything else.
    pub same: Vec<(usize, usize)>,
}

/// Divides old and new regions into families. What is `open` keeps no volume: it only leaves a mark on others.
pub fn families(open: [&[bool]; 2], votes: &Votes) -> Vec<Family> {
    let [old_open, new_open] = open;
    let count = old_open.len();
    let edges = votes.edges();
    let mut partition = Partition::new(count + new_open.len());
    for &(old, new, _) in edges.iter().filter(|(old, new, _)| !old_open[*old] && !new_open[*new]) {
        partition.join(old, count + new);
    }
    let (class, classes) = partition.classes();
    let mut families = vec![Family::default(); classes];
    for old in (0..count).filter(|&old| !old_open[old]) {
        families[class[old] as usize].old.push(old);
    }
    for new in (0..new_open.len()).filter(|&new| !new_open[new]) {
        families[class[count + new] as usize].new.push(new);
    }
    for &(old, new, _) in &edges {
        match (old_open[old], new_open[new]) {
            (true, false) => families[class[count + new] as usize].from_open = true,
            (false, true) => families[class[old] as usize].to_open = true,
            _ => {}
        }
    }
    let (best_new, best_old) = best(&edges, open);
    for (&old, &new) in &best_new {
        if best_old.get(&new) == Some(&old) {
            families[class[old] as usize].same.push((old, new));
        }
    }
    families.retain(|family| !family.old.is_empty() || !family.new.is_empty());
    families
}

/// With which new one each old one shares most, and the other way round.
fn best(
    edges: &[(usize, usize, u32)],
    [old_open, new_open]: [&[bool]; 2],
) -> (BTreeMap<usize, usize>, BTreeMap<usize, usize>) {
    let mut best: [BTreeMap<usize, (u32, usize)>; 2] = [BTreeMap::new(), BTreeMap::new()];
    for &(old, new, votes) in edges.iter().filter(|(old, new, _)| !old_open[*old] && !new_open[*new]) {
        for (best, (from, to)) in best.iter_mut().zip([(old, new), (new, old)]) {
            let known = best.entry(from).or_insert((votes, to));
            if votes > known.0 {
                *known = (votes, to);
            }
        }
    }
    let [of_old, of_new] = best.map(|best| best.into_iter().map(|(from, (_, to))| (from, to)).collect());
    (of_old, of_new)
}

impl Family {
    /// The volumes that the new ones should have, by eq. 26: the sum of the old ones, shared as the new volumes are.
    /// What has come from open air, or let some of its own out, should have the volume that it has.
    pub fn rest_volumes(&self, old_rest: &[f64], new_volume: &[f64]) -> Vec<(usize, f64)> {
        if self.from_open || self.to_open {
            return self.new.iter().map(|&new| (new, new_volume[new])).collect();
        }
        let rest: f64 = self.old.iter().map(|&old| old_rest[old]).sum();
        let volume: f64 = self.new.iter().map(|&new| new_volume[new]).sum();
        let share = |new: usize| {
            if volume > 0.0 { new_volume[new] / volume } else { 1.0 / self.new.len() as f64 }
        };
        self.new.iter().map(|&new| (new, rest * share(new))).collect()
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn votes(between: &[((usize, usize), u32)]) -> Votes {
        let mut votes = Votes::default();
        for &((old, new), count) in between {
            votes.add(Some(old), new, count);
        }
        votes
    }

    /// Figure 15 of Goldade 2020: A splits and merges in part with B, C goes on, H comes from nowhere.
    #[test]
    fn a_bubble_splits_while_it_merges_in_part_with_another() {
        let mut votes = votes(&[((0, 0), 40), ((0, 1), 30), ((1, 1), 50), ((2, 2), 10)]);
        votes.add(None, 3, 4);
        let found = families([&[false; 3], &[false; 4]], &votes);
        assert_eq!(found.len(), 3);
        assert_eq!((&found[0].old[..], &found[0].new[..]), (&[0, 1][..], &[0, 1][..]));
        assert_eq!(found[0].same, [(0, 0), (1, 1)]);
        assert_eq!(
            (&found[1].old[..], &found[1].new[..], &found[1].same[..]),
            (&[2][..], &[2][..], &[(2, 2)][..])
        );
        assert_eq!((&found[2].old[..], &found[2].new[..]), (&[][..], &[3][..]));
        // 3 + 5 are shared as 1 to 3.
        assert_eq!(found[0].rest_volumes(&[3.0, 5.0, 2.0], &[1.0, 3.0, 2.2, 0.1]), [(0, 2.0), (1, 6.0)]);
        assert_eq!(found[2].rest_volumes(&[3.0, 5.0, 2.0], &[1.0, 3.0, 2.2, 0.1]), [(3, 0.0)]);
    }

    #[test]
    fn a_few_samples_across_a_film_are_no_merger() {
        let found =
            families([&[false; 2], &[false; 2]], &votes(&[((0, 0), 100), ((0, 1), 4), ((1, 1), 100)]));
        assert_eq!(found.iter().map(|f| f.same.clone()).collect::<Vec<_>>(), [[(0, 0)], [(1, 1)]]);
    }

    #[test]
    fn open_air_takes_a_bubble_and_gives_another_without_joining_the_two() {
        let open = [true, false];
        let burst_and_birth = votes(&[((0, 0), 500), ((1, 0), 20), ((0, 1), 12)]);
        let found = families([&open, &open], &burst_and_birth);
        assert_eq!(found.len(), 2);
        assert!(found[0].old == [1] && found[0].new.is_empty() && found[0].to_open && !found[0].from_open);
        assert!(found[1].new == [1] && found[1].old.is_empty() && found[1].from_open && !found[1].to_open);
        assert_eq!(found[1].rest_volumes(&[0.0, 7.0], &[900.0, 6.5]), [(1, 6.5)]);
    }

    proptest! {
        /// Whatever happens among closed regions, the sum of the rest volumes is that of the regions that live on.
        #[test]
        fn rest_volumes_are_shared_and_never_made(
            pairs in proptest::collection::vec(((0usize..6, 0usize..6), 1u32..40), 0..20),
            rest in proptest::array::uniform6(0.0..5.0f64),
            volume in proptest::array::uniform6(0.0..5.0f64),
        ) {
            let found = families([&[false; 6], &[false; 6]], &votes(&pairs));
            for family in &found {
                let before: f64 = family.old.iter().map(|&old| rest[old]).sum();
                let after: f64 = family.rest_volumes(&rest, &volume).iter().map(|(_, rest)| rest).sum();
                let kept = if family.new.is_empty() { 0.0 } else { before };
                prop_assert!((after - kept).abs() < 1e-12);
                prop_assert!(family.same.iter().all(|(o, n)| family.old.contains(o) && family.new.contains(n)));
            }
            let mut all: Vec<usize> = found.iter().flat_map(|f| f.new.clone()).collect();
            all.sort_unstable();
            prop_assert_eq!(all, (0..6).collect::<Vec<_>>());
        }
    }
}
