//! The word that was probably meant.

/// The known word nearest to `word`, if it is near enough to be a slip.
pub(crate) fn nearest<'a>(word: &str, known: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    // Long words, such as pasted text, are not slips.
    if word.chars().count() > 40 {
        return None;
    }
    let word = word.to_lowercase();
    let allowed = 1 + word.chars().count() / 4;
    let by_distance = known.into_iter().map(|k| (distance(&word, k), k));
    by_distance.filter(|(distance, _)| *distance <= allowed).min_by_key(|(d, _)| *d).map(|(_, k)| k)
}

/// `"a", "b" or "c"`, each between the given quotes.
pub(crate) fn list(words: &[&str], quote: &str, last: &str) -> String {
    let quoted: Vec<String> = words.iter().map(|w| format!("{quote}{w}{quote}")).collect();
    match quoted.split_last() {
        None => String::new(),
        Some((only, [])) => only.clone(),
        Some((end, before)) => format!("{} {last} {end}", before.join(", ")),
    }
}

/// The number of insertions, deletions, replacements and swaps of neighbours that turn `a` into `b`
/// (optimal string alignment).
fn distance(a: &str, b: &str) -> usize {
    let (a, b): (Vec<char>, Vec<char>) = (a.chars().collect(), b.chars().collect());
    let mut rows = vec![vec![0; b.len() + 1]; a.len() + 1];
    for (i, row) in rows.iter_mut().enumerate() {
        row[0] = i;
    }
    rows[0] = (0..=b.len()).collect();
    for i in 1..=a.len() {
        for j in 1..=b.len() {
            let replaced = rows[i - 1][j - 1] + usize::from(a[i - 1] != b[j - 1]);
            let mut best = replaced.min(rows[i - 1][j] + 1).min(rows[i][j - 1] + 1);
            if i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] {
                best = best.min(rows[i - 2][j - 2] + 1);
            }
            rows[i][j] = best;
        }
    }
    rows[a.len()][b.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slips_are_found_and_other_words_are_not() {
        let known = ["cells", "size", "open", "centre", "radius"];
        assert_eq!(nearest("cels", known), Some("cells"));
        assert_eq!(nearest("Cells", known), Some("cells"));
        assert_eq!(nearest("center", known), Some("centre"));
        assert_eq!(nearest("raduis", known), Some("radius"));
        assert_eq!(nearest("viscosity", known), None);
        assert_eq!(nearest(&"x".repeat(100_000), known), None);
    }

    #[test]
    fn lists_read_as_english() {
        assert_eq!(list(&["a"], "`", "or"), "`a`");
        assert_eq!(list(&["a", "b", "c"], "\"", "or"), "\"a\", \"b\" or \"c\"");
    }
}
