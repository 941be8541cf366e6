//! Invariants of the coarsening, on random geometry.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use meniscus_core::grid::{Blocks, Slot};
use proptest::prelude::*;

use super::Coarsening;
use super::aggregate::Aggregation;
use super::coarsen::{COUPLING, STIFFNESS};
use crate::operator::{ExtraUnknown, Level, LowRankTerm, Operator, Patch};
use crate::real::Real;

/// A number in [0, 1) from a hash.
fn hash(key: u64) -> f64 {
    let z = key.wrapping_mul(0x9E37_79B9_7F4A_7C15);
    let z = (z ^ (z >> 29)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    ((z ^ (z >> 32)) >> 11) as f64 / (1u64 << 53) as f64
}

/// Random cells, faces, anchors, masses, two extra unknowns and one low-rank term.
fn random_operator<const D: usize>(cells: [usize; D], seed: u64, filled: f64, closed: f64) -> Operator<D> {
    let key = |cell: [i64; D], salt: u64| {
        cell.iter()
            .fold(seed.wrapping_add(salt << 40), |k, &c| k.wrapping_mul(1_000_003).wrapping_add(c as u64))
    };
    let is_unknown = |cell: [i64; D]| {
        (0..D).all(|a| cell[a] >= 0 && cell[a] < cells[a] as i64) && hash(key(cell, 1)) < filled
    };
    let blocks = Arc::new(Blocks::all(cells));
    let fill = |block: usize, patch: &mut Patch<D>| {
        for local in 0..meniscus_core::grid::block_len::<D>() {
            let cell = blocks.cell(Slot { block, local }).map(|c| c as i64);
            if !is_unknown(cell) {
                continue;
            }
            if hash(key(cell, 2)) < 0.05 {
                patch.anchors[local] = 0.5;
            }
            if hash(key(cell, 9)) < 0.3 {
                patch.masses[local] = 0.2;
            }
            for axis in 0..D {
                for side in 0..2 {
                    let (mut other, mut upper) = (cell, cell);
                    other[axis] += 2 * side as i64 - 1;
                    upper[axis] += side as i64;
                    let weight = hash(key(upper, 3 + axis as u64));
                    if is_unknown(other) && weight >= closed {
                        patch.set_face(axis, side, local, weight);
                    }
                }
            }
        }
    };
    let picked = |salt: u64, fraction: f64| -> Vec<usize> {
        let all = (0..blocks.slots()).filter(|&i| {
            let slot = Slot { block: i / 8usize.pow(D as u32), local: i % 8usize.pow(D as u32) };
            is_unknown(blocks.cell(slot).map(|c| c as i64))
        });
        all.filter(|&i| hash(seed.wrapping_mul(7).wrapping_add(salt).wrapping_add(i as u64)) < fraction)
            .collect()
    };
    let extra = |salt| ExtraUnknown {
        couplings: picked(salt, 0.1).into_iter().map(|i| (i, 0.7)).collect(),
        anchor: 0.0,
    };
    let unknowns = picked(1 << 50, 0.1);
    let columns = (0..2 * unknowns.len()).map(|i| hash(i as u64) - 0.5).collect();
    let term = LowRankTerm { inverse_mass: vec![2.0, 0.3, 0.3, 1.0], unknowns, columns };
    Operator::assemble(blocks.clone(), fill, &[extra(1 << 51), extra(1 << 52)], &[term]).expect("valid")
}

/// Every unknown of a level, and the unknowns that share a coarse one.
fn members<T: Real, const D: usize>(
    fine: &Level<T, D>,
    map: &Aggregation<D>,
) -> BTreeMap<usize, BTreeSet<usize>> {
    let mut members: BTreeMap<usize, BTreeSet<usize>> = BTreeMap::new();
    for i in (0..fine.len()).filter(|&i| fine.diagonal(i) > 0.0) {
        match map.target(fine.slots(), i) {
            Some(target) => {
                members.entry(target).or_default().insert(i);
            }
            None => {
                let mut neighbours = 0;
                fine.for_each_neighbour(i, |_, _| neighbours += 1);
                assert_eq!(neighbours, 0, "unknown {i} has neighbours but is not carried on");
                assert!(fine.matrix.low_rank.find_row(i).is_none());
            }
        }
    }
    members
}

fn check_aggregates<T: Real, const D: usize>(
    fine: &Level<T, D>,
    coarse: &Level<f32, D>,
    map: &Aggregation<D>,
) {
    for (target, members) in members(fine, map) {
        assert!(target < coarse.len());
        let first = *members.first().expect("never empty");
        let mut reached = BTreeSet::from([first]);
        let mut queue = vec![first];
        while let Some(i) = queue.pop() {
            fine.for_each_neighbour(i, |j, _| {
                if members.contains(&j) && reached.insert(j) {
                    queue.push(j);
                }
            });
        }
        assert_eq!(reached, members, "unknown {target} holds cells that are not connected inside it");
    }
}

/// The coarse operator is s P^T S P + P^T M P + (F P)^T (F P), entry by entry, with another s for couplings to extra
/// unknowns.
fn check_galerkin<T: Real, const D: usize>(fine: &Level<T, D>, coarse: &Level<f32, D>, map: &Aggregation<D>) {
    let mut expected: BTreeMap<(usize, usize), f64> = BTreeMap::new();
    let mut add = |i: usize, j: usize, value: f64| {
        if let (Some(i), Some(j)) = (map.target(fine.slots(), i), map.target(fine.slots(), j)) {
            *expected.entry((i, j)).or_insert(0.0) += value;
        }
    };
    for i in (0..fine.len()).filter(|&i| fine.diagonal(i) > 0.0) {
        let row = fine.matrix.low_rank.find_row(i);
        let own = fine.diagonal(i) - row.map_or(0.0, |row| fine.matrix.low_rank.row_diagonal(row).f64());
        let mass = fine.hold(i).mass.f64();
        let is_extra = |i: usize| map.target(fine.slots(), i).is_some_and(|target| target >= coarse.slots());
        let mut anchor = own - mass;
        fine.for_each_neighbour(i, |j, weight| {
            anchor -= weight;
            let softened = weight * if is_extra(i) || is_extra(j) { COUPLING } else { STIFFNESS };
            add(i, i, softened);
            add(i, j, -softened);
        });
        add(i, i, STIFFNESS * anchor + mass);
        if let Some(row) = row {
            let mut v = vec![0.0; fine.matrix.dofs];
            fine.matrix.low_rank.push(row, 1.0, &mut v);
            for other in fine.matrix.low_rank.rows_in(0..fine.len()) {
                add(i, fine.matrix.low_rank.row_unknown(other), fine.matrix.low_rank.force(other, &v));
            }
        }
    }
    for i in 0..coarse.len() {
        coarse.for_each_entry(i, |j, value| *expected.entry((i, j)).or_insert(0.0) -= value);
    }
    for ((i, j), gap) in expected {
        let scale = 1.0 + coarse.diagonal(i).max(coarse.diagonal(j));
        assert!(gap.abs() < 1e-5 * scale, "entry ({i}, {j}) is off by {gap}");
    }
}

fn check_hierarchy<const D: usize>(operator: &Operator<D>) {
    let Coarsening { aggregation: map, mut level, .. } = Coarsening::of(&operator.level);
    check_aggregates(&operator.level, &level, &map);
    check_galerkin(&operator.level, &level, &map);
    for _ in 0..3 {
        let Coarsening { aggregation: map, level: next, .. } = Coarsening::of(&level);
        check_aggregates(&level, &next, &map);
        check_galerkin(&level, &next, &map);
        level = next;
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 100, ..ProptestConfig::default() })]

    #[test]
    fn aggregates_are_connected_and_the_coarse_operator_is_galerkin_2d(
        w in 3usize..40, h in 3usize..30, seed in any::<u32>(), filled in 0.3f64..1.0, closed in 0.0f64..0.7,
    ) {
        check_hierarchy(&random_operator([w, h], u64::from(seed), filled, closed));
    }

    #[test]
    fn aggregates_are_connected_and_the_coarse_operator_is_galerkin_3d(
        w in 3usize..14, h in 3usize..12, d in 3usize..18, seed in any::<u32>(), filled in 0.3f64..1.0, closed in 0.0f64..0.7,
    ) {
        check_hierarchy(&random_operator([w, h, d], u64::from(seed), filled, closed));
    }
}
