//! Loops over pieces of work, on all threads.
//!
//! An adaptor of rayon compiles anew, with everything that hands work from thread to thread, for every closure it is given, and
//! compiles the closure several times. These loops compile once for each type of what they fill, and call the closure through a
//! pointer, once a piece: a piece should be a block of cells or a chunk of a vector, hundreds of values. Results come in
//! the order of the pieces, and pieces do not depend on the number of threads: neither do results.

use bytemuck::Zeroable;
use rayon::prelude::*;

/// The values of a piece that has no size of its own.
pub const PIECE: usize = 256;

/// Calls `f` with each number below `count`.
pub fn for_each(count: usize, f: impl Fn(usize) + Sync) {
    each(count, &f);
}

#[inline(never)]
fn each(count: usize, f: &(dyn Fn(usize) + Sync)) {
    (0..count).into_par_iter().for_each(f);
}

/// What `f` gives for each number below `count`, in order.
pub fn map<R: Send>(count: usize, f: impl Fn(usize) -> R + Sync) -> Vec<R> {
    mapped(count, &f)
}

#[inline(never)]
fn mapped<R: Send>(count: usize, f: &(dyn Fn(usize) -> R + Sync)) -> Vec<R> {
    (0..count).into_par_iter().map(f).collect()
}

/// What `f` gives for each number below `count`, in order; `f` works in a scratch that a thread takes from piece to piece.
pub fn map_with<S, R: Send>(
    count: usize,
    scratch: impl Fn() -> S + Sync,
    f: impl Fn(&mut S, usize) -> R + Sync,
) -> Vec<R> {
    mapped_with(count, &scratch, &f)
}

#[inline(never)]
fn mapped_with<S, R: Send>(
    count: usize,
    scratch: &(dyn Fn() -> S + Sync),
    f: &(dyn Fn(&mut S, usize) -> R + Sync),
) -> Vec<R> {
    (0..count).into_par_iter().map_init(scratch, f).collect()
}

/// What `f` gives for each number below `count`, in order, where that is too little work to be a piece.
pub fn map_each<R: Zeroable + Clone + Send>(count: usize, f: impl Fn(usize) -> R + Sync) -> Vec<R> {
    let mut values = vec![R::zeroed(); count];
    for_chunks(&mut values, PIECE, |k, chunk| {
        for (number, value) in (k * PIECE..).zip(chunk) {
            *value = f(number);
        }
    });
    values
}

/// The first that `f` gives for a number below `count`, in the order of the numbers.
pub fn find_first<R: Send>(count: usize, f: impl Fn(usize) -> Option<R> + Sync) -> Option<R> {
    found(count, &f)
}

#[inline(never)]
fn found<R: Send>(count: usize, f: &(dyn Fn(usize) -> Option<R> + Sync)) -> Option<R> {
    (0..count).into_par_iter().find_map_first(f)
}

/// Whether `f` holds for some number below `count`.
pub fn any(count: usize, f: impl Fn(usize) -> bool + Sync) -> bool {
    anywhere(count, &f)
}

#[inline(never)]
fn anywhere(count: usize, f: &(dyn Fn(usize) -> bool + Sync)) -> bool {
    (0..count).into_par_iter().any(f)
}

/// Calls `f` with each value and its number.
pub fn for_each_mut<T: Send>(values: &mut [T], f: impl Fn(usize, &mut T) + Sync) {
    each_mut(values, &f);
}

#[inline(never)]
fn each_mut<T: Send>(values: &mut [T], f: &(dyn Fn(usize, &mut T) + Sync)) {
    values.par_iter_mut().enumerate().for_each(|(k, value)| f(k, value));
}

/// Calls `f` with each chunk of `len` values, the last one may be shorter, and its number.
pub fn for_chunks<T: Send>(values: &mut [T], len: usize, f: impl Fn(usize, &mut [T]) + Sync) {
    chunks(values, len, &f);
}

#[inline(never)]
fn chunks<T: Send>(values: &mut [T], len: usize, f: &(dyn Fn(usize, &mut [T]) + Sync)) {
    values.par_chunks_mut(len).enumerate().for_each(|(k, chunk)| f(k, chunk));
}

/// Calls `f` with each chunk of `len` values and its number; `f` works in a scratch that a thread takes from piece to piece.
pub fn for_chunks_with<S, T: Send>(
    values: &mut [T],
    len: usize,
    scratch: impl Fn() -> S + Sync,
    f: impl Fn(&mut S, usize, &mut [T]) + Sync,
) {
    chunks_with(values, len, &scratch, &f);
}

#[inline(never)]
fn chunks_with<S, T: Send>(
    values: &mut [T],
    len: usize,
    scratch: &(dyn Fn() -> S + Sync),
    f: &(dyn Fn(&mut S, usize, &mut [T]) + Sync),
) {
    let chunks = values.par_chunks_mut(len).enumerate();
    chunks.for_each_init(scratch, |scratch, (k, chunk)| f(scratch, k, chunk));
}

/// What `f` gives for each chunk of `len` values, the last one may be shorter, and its number.
pub fn map_chunks<T: Send, R: Send>(
    values: &mut [T],
    len: usize,
    f: impl Fn(usize, &mut [T]) -> R + Sync,
) -> Vec<R> {
    mapped_chunks(values, len, &f)
}

#[inline(never)]
fn mapped_chunks<T: Send, R: Send>(
    values: &mut [T],
    len: usize,
    f: &(dyn Fn(usize, &mut [T]) -> R + Sync),
) -> Vec<R> {
    values.par_chunks_mut(len).enumerate().map(|(k, chunk)| f(k, chunk)).collect()
}

/// What `f` gives for each chunk of `len` values and its number; `f` works in a scratch that a thread takes from piece to piece.
pub fn map_chunks_with<S, T: Send, R: Send>(
    values: &mut [T],
    len: usize,
    scratch: impl Fn() -> S + Sync,
    f: impl Fn(&mut S, usize, &mut [T]) -> R + Sync,
) -> Vec<R> {
    mapped_chunks_with(values, len, &scratch, &f)
}

#[inline(never)]
fn mapped_chunks_with<S, T: Send, R: Send>(
    values: &mut [T],
    len: usize,
    scratch: &(dyn Fn() -> S + Sync),
    f: &(dyn Fn(&mut S, usize, &mut [T]) -> R + Sync),
) -> Vec<R> {
    let chunks = values.par_chunks_mut(len).enumerate();
    chunks.map_init(scratch, |scratch, (k, chunk)| f(scratch, k, chunk)).collect()
}

/// What `f` gives for each of some parts, which may be of any length, and its number; `f` works in a scratch that a thread
/// takes from piece to piece.
pub fn map_parts_with<S, P: Send, R: Send>(
    parts: Vec<P>,
    scratch: impl Fn() -> S + Sync,
    f: impl Fn(&mut S, usize, P) -> R + Sync,
) -> Vec<R> {
    mapped_parts_with(parts, &scratch, &f)
}

#[inline(never)]
fn mapped_parts_with<S, P: Send, R: Send>(
    parts: Vec<P>,
    scratch: &(dyn Fn() -> S + Sync),
    f: &(dyn Fn(&mut S, usize, P) -> R + Sync),
) -> Vec<R> {
    let parts = parts.into_par_iter().enumerate();
    parts.map_init(scratch, |scratch, (k, part)| f(scratch, k, part)).collect()
}

type OfBoth<'a, T, U, R> = dyn Fn(usize, &mut [T], &mut [U]) -> R + Sync + 'a;

/// Calls `f` with chunks of two lists side by side, so many values of each, and their number.
pub fn for_both_chunks<T: Send, U: Send>(
    [t_len, u_len]: [usize; 2],
    t: &mut [T],
    u: &mut [U],
    f: impl Fn(usize, &mut [T], &mut [U]) + Sync,
) {
    both_chunks([t_len, u_len], t, u, &f);
}

#[inline(never)]
fn both_chunks<T: Send, U: Send>([t_len, u_len]: [usize; 2], t: &mut [T], u: &mut [U], f: &OfBoth<T, U, ()>) {
    let chunks = t.par_chunks_mut(t_len).zip(u.par_chunks_mut(u_len)).enumerate();
    chunks.for_each(|(k, (t, u))| f(k, t, u));
}

/// The chunk of this number: what [`for_chunks`] would give of a list that is only read.
pub fn chunk<T>(values: &[T], len: usize, number: usize) -> &[T] {
    let first = number * len;
    &values[first..values.len().min(first + len)]
}

/// What `f` gives for chunks of two lists side by side, so many values of each, and their number.
pub fn map_both_chunks<T: Send, U: Send, R: Send>(
    [t_len, u_len]: [usize; 2],
    t: &mut [T],
    u: &mut [U],
    f: impl Fn(usize, &mut [T], &mut [U]) -> R + Sync,
) -> Vec<R> {
    mapped_both_chunks([t_len, u_len], t, u, &f)
}

#[inline(never)]
fn mapped_both_chunks<T: Send, U: Send, R: Send>(
    [t_len, u_len]: [usize; 2],
    t: &mut [T],
    u: &mut [U],
    f: &OfBoth<T, U, R>,
) -> Vec<R> {
    let chunks = t.par_chunks_mut(t_len).zip(u.par_chunks_mut(u_len)).enumerate();
    chunks.map(|(k, (t, u))| f(k, t, u)).collect()
}

/// What `f` gives for each piece of a list that is only read.
pub fn map_pieces<T: Sync, R: Send>(values: &[T], f: impl Fn(&[T]) -> R + Sync) -> Vec<R> {
    map(values.len().div_ceil(PIECE), |k| f(chunk(values, PIECE, k)))
}

/// Calls `f` with each value, where that is too little work to be a piece.
pub fn update<T: Send>(values: &mut [T], f: impl Fn(&mut T) + Sync) {
    for_chunks(values, PIECE, |_, chunk| chunk.iter_mut().for_each(&f));
}

/// Calls `f` with each value and its companion in a list as long, where that is too little work to be a piece.
pub fn update_by<T: Send, U: Sync>(values: &mut [T], others: &[U], f: impl Fn(&mut T, &U) + Sync) {
    assert_eq!(values.len(), others.len(), "every value has a companion");
    for_chunks(values, PIECE, |k, values| {
        values.iter_mut().zip(chunk(others, PIECE, k)).for_each(|(value, other)| f(value, other));
    });
}

/// The numbers of a piece of [`gather`]: few, as for some of them `f` may have a lot to do.
const FEW: usize = 64;

/// All that `f` gives for the numbers below `count`, in order, where that is too little work to be a piece.
pub fn gather<I: IntoIterator<Item: Send>>(count: usize, f: impl Fn(usize) -> I + Sync) -> Vec<I::Item> {
    let piece = |k: usize| (k * FEW..count.min((k + 1) * FEW)).flat_map(&f).collect();
    joined(map(count.div_ceil(FEW), piece))
}

#[inline(never)]
fn joined<R>(parts: Vec<Vec<R>>) -> Vec<R> {
    let mut all = Vec::with_capacity(parts.iter().map(Vec::len).sum());
    parts.into_iter().for_each(|part| all.extend(part));
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn results_come_in_order() {
        assert_eq!(map(1000, |k| 3 * k), (0..1000).map(|k| 3 * k).collect::<Vec<_>>());
        let squares = map_with(100, Vec::new, |scratch, k| {
            scratch.push(k);
            scratch.last().map_or(0, |k| k * k)
        });
        assert_eq!(squares, (0..100).map(|k| k * k).collect::<Vec<_>>());
        assert_eq!(map_each(1000, |k| 3 * k), map(1000, |k| 3 * k));
        assert_eq!(find_first(100, |k| (k % 7 == 6).then_some(k)), Some(6));
        assert_eq!(find_first(0, Some), None);
        assert!(any(10, |k| k == 9) && !any(10, |k| k == 10));
        let thirds = gather(1000, |k| k.is_multiple_of(3).then_some(k));
        assert_eq!(thirds, (0..1000).step_by(3).collect::<Vec<_>>());
        assert_eq!(map_pieces(&thirds, |piece| piece[0]), [0, 3 * PIECE]);
    }

    #[test]
    fn chunks_cover_a_list_and_know_their_numbers() {
        let mut values = vec![0; 1003];
        for_chunks(&mut values, 10, |k, chunk| chunk.fill(k));
        assert!((0..1003).all(|i| values[i] == i / 10));
        assert_eq!(map_chunks(&mut values, 10, |_, chunk| chunk.len()).iter().sum::<usize>(), 1003);
        let lens = map_chunks_with(&mut values, 500, || 1000, |scratch, k, chunk| *scratch * k + chunk.len());
        assert_eq!(lens, [500, 1500, 2003]);
        let parts = vec![&values[..2], &[], &values[2..]];
        let lens = map_parts_with(parts, || 1000, |scratch, k, part| *scratch * k + part.len());
        assert_eq!(lens, [2, 1000, 3001]);
        assert_eq!(chunk(&values, 10, 100), [100; 3]);
        let mut others = vec![0; 202];
        for_both_chunks([10, 2], &mut values, &mut others, |k, values, others| {
            others.fill(values.iter().sum::<usize>() + k);
        });
        assert!((0..200).all(|i| others[i] == 11 * (i / 2)));
        for_chunks_with(&mut values, 10, || 1, |one, _, chunk| chunk.fill(*one));
        for_each_mut(&mut values, |k, value| *value += k);
        assert!((0..1003).all(|i| values[i] == 1 + i));
        let firsts = map_chunks_with(&mut values, 10, || 1, |one, _, chunk| chunk[0] - *one);
        assert_eq!(firsts, (0..1003).step_by(10).collect::<Vec<_>>());
        let sums = map_both_chunks([500, 100], &mut values, &mut others, |k, values, others| {
            values.len() + others.len() + k
        });
        assert_eq!(sums, [600, 601, 7]);
        let companions = values.clone();
        update(&mut values, |value| *value *= 2);
        update_by(&mut values, &companions, |value, companion| *value -= companion);
        assert_eq!(values, companions);
    }
}
