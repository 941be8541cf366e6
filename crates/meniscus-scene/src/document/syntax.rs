//! What is wrong with text that is not TOML.

use crate::problem::{Place, Problems};

/// Reports the first error: those that follow mostly come from it.
pub(crate) fn report(
    source: usize,
    offset: usize,
    text: &str,
    errors: &[toml::de::Error],
    problems: &mut Problems,
) {
    let span = |e: &toml::de::Error| e.span().unwrap_or(0..0);
    let Some(first) = errors.iter().min_by_key(|e| span(e).start) else { return };
    let (what, found) = (first.message(), &text[valid(text, span(first))]);
    let (message, label, help) = explain(what, found);
    let place = span(first);
    problems.error(&Place { source, span: place.start + offset..place.end + offset }, message, label, help);
}

/// The span, cut to the text and to whole characters.
fn valid(text: &str, span: std::ops::Range<usize>) -> std::ops::Range<usize> {
    let boundary = |mut at: usize| {
        at = at.min(text.len());
        while !text.is_char_boundary(at) {
            at -= 1;
        }
        at
    };
    let start = boundary(span.start);
    start..boundary(span.end).max(start)
}

/// The message, the label and the fix.
fn explain(what: &str, found: &str) -> (String, String, String) {
    let (problem, expected) = what.split_once(", expected ").unwrap_or((what, ""));
    let label = if expected.is_empty() { "here".to_owned() } else { format!("expected {expected}") };
    let (message, label, help) = match problem {
        "duplicate key" => (
            format!("`{found}` is given twice"),
            "the second time".into(),
            "remove one of the two; for a second liquid or solid write the header with double brackets, such as [[solid]]"
                .into(),
        ),
        "invalid boolean" | "string values must be quoted" => (
            format!("`{found}` is not a value"),
            "not a number, a quoted string, true or false".into(),
            format!("put words in quotes, as in \"{}\"; write several values as a list, as in [1, 2]", found.trim()),
        ),
        "key with no value" => (
            "a key has no value".into(),
            "expected `=` and a value".into(),
            "write `key = value`, one on each line; a line that starts with # is a comment".into(),
        ),
        _ if problem.contains("recurs") => (
            "tables or lists are nested too deeply".into(),
            "too deep from here".into(),
            "write shapes with fewer levels; `union` and `intersection` take any number of shapes in one list".into(),
        ),
        _ if problem.contains("string") => (
            "a string has no end, or a character that it may not have".into(),
            label,
            "put strings in double quotes on one line, as in \"text\", and write \\\\ for a backslash".into(),
        ),
        _ if problem.starts_with("unclosed") => {
            (format!("{problem}: the closing character is missing"), label, "add the closing character".into())
        }
        _ if problem.starts_with("missing comma") => (
            problem.into(),
            label,
            "put a comma between the entries; is the closing bracket of the list missing?".into(),
        ),
        _ if problem.contains("mantissa") || problem.contains("number") || problem.contains("digit") => (
            format!("not a number: {problem}"),
            label,
            "write numbers with digits on both sides of the point, as in 0.5 or 1e-3".into(),
        ),
        _ => (
            format!("the text is not TOML: {problem}"),
            label,
            "scenes are written in TOML, see https://toml.io; those of the gallery are examples".into(),
        ),
    };
    (message, label, help)
}
