//! Overrides: `path=value`, applied to the document before it is checked.

use toml::de::DeValue;

use super::{Key, Node, Text, Value, syntax};
use crate::problem::{Place, Problems};

/// As deep as TOML files may be.
const MOST_STEPS: usize = 80;

/// One override, such as `solid[0].motion.repeat=true`.
pub(super) struct Override {
    pub steps: Vec<Step>,
    /// The value as TOML text.
    pub value_text: String,
    value: Node,
}

/// A key or an index on the way to a value.
pub(super) struct Step {
    pub text: String,
    place: Place,
}

impl Override {
    /// Reads the override that is `text`, the one with number `source` from 1.
    pub fn parse(source: usize, text: &str, problems: &mut Problems) -> Option<Self> {
        let whole = Place { source, span: 0..text.len() };
        let usage = "write path=value, as in domain.cells=128 or solid[0].name=\"paddle\"";
        let Some((path, value)) = text.split_once('=') else {
            problems.error(&whole, "an override needs a value", "there is no `=` here", usage);
            return None;
        };
        let steps = steps(source, path);
        if let Some(empty) = steps.iter().find(|step| step.text.is_empty()) {
            let place = if path.trim().is_empty() { &whole } else { &empty.place };
            problems.error(place, "the path of an override has an empty part", "a name is missing", usage);
            return None;
        }
        if steps.len() > MOST_STEPS {
            let message = format!("the path of an override has {} parts", steps.len());
            problems.error(&steps[MOST_STEPS].place, message, "too deep from here", usage);
            return None;
        }
        let (value_text, value) = read_value(source, path.len() + 1, value, problems)?;
        Some(Self { steps, value_text, value })
    }

    /// Puts the value in its place, or says why there is no such place.
    pub fn apply(&self, root: &mut Node, problems: &mut Problems) -> bool {
        let (last, before) = self.steps.split_last().expect("a path has at least one step");
        let mut node = root;
        for step in before {
            let table =
                || Node { value: Value::Table(Vec::new()), place: step.place.clone(), path: String::new() };
            let Some(next) = step.child(node, table, problems) else { return false };
            node = next;
        }
        let Some(target) = last.child(node, || self.value.clone(), problems) else { return false };
        *target = self.value.clone();
        true
    }
}

impl Step {
    /// The value that this step leads to from `node`. A table gets the key with the value of `make` if it has none.
    fn child<'a>(
        &self,
        node: &'a mut Node,
        make: impl FnOnce() -> Node,
        problems: &mut Problems,
    ) -> Option<&'a mut Node> {
        let what = node.what();
        match &mut node.value {
            Value::Table(entries) => {
                let known = entries.iter().position(|(key, _)| key.text == self.text);
                let index = known.unwrap_or_else(|| {
                    entries.push((Key { text: self.text.clone(), place: self.place.clone() }, make()));
                    entries.len() - 1
                });
                Some(&mut entries[index].1)
            }
            Value::Array(entries) => {
                let count = entries.len();
                match self.text.parse::<usize>() {
                    Ok(index) if index < count => Some(&mut entries[index]),
                    Ok(_) => {
                        let help = match count {
                            0 => "the list is empty".to_owned(),
                            1 => "its only entry has the number 0".to_owned(),
                            _ => format!("its entries are 0 to {}", count - 1),
                        };
                        problems.error(&self.place, "the list has no such entry", "no such entry", help);
                        None
                    }
                    Err(_) => {
                        let message = "a list needs the number of an entry, not a name";
                        let help =
                            format!("put the number of the entry, from 0, before it: [0].{}", self.text);
                        problems.error(&self.place, message, "not a number", help);
                        None
                    }
                }
            }
            _ => {
                let message = format!("there is nothing below {what}");
                let help = "end the path before this part, and give the value after the `=`";
                problems.error(&self.place, message, "leads nowhere", help);
                None
            }
        }
    }
}

/// Splits `solid[0].name` or `solid.0.name`.
fn steps(source: usize, path: &str) -> Vec<Step> {
    let mut steps = Vec::new();
    let mut start = 0;
    for piece in path.split(['.', '[']) {
        let text = piece.trim().trim_end_matches(']').trim();
        let at = start + piece.len() - piece.trim_start().len();
        steps.push(Step {
            text: text.trim_matches('"').to_owned(),
            place: Place { source, span: at..at + text.len() },
        });
        start += piece.len() + 1;
    }
    steps
}

/// The value as TOML text and as a node; words that are not TOML become strings.
fn read_value(source: usize, offset: usize, text: &str, problems: &mut Problems) -> Option<(String, Node)> {
    let word = text.trim();
    if word.is_empty() {
        let help = "give a value, as in domain.cells=128; an empty string is \"\"";
        let whole = Place { source, span: 0..offset };
        problems.error(&whole, "an override needs a value", "nothing after `=`", help);
        return None;
    }
    let start = offset + text.len() - text.trim_start().len();
    let (value, errors) = DeValue::parse_recoverable(word);
    if errors.is_empty() {
        return Some((word.to_owned(), Text { source, offset: start }.node(&value)));
    }
    if word.starts_with(|c: char| c.is_alphabetic() || c == '_') || is_side(word) {
        let place = Place { source, span: start..start + word.len() };
        let node = Node { value: Value::String(word.to_owned()), place, path: String::new() };
        return Some((toml::Value::from(word).to_string(), node));
    }
    syntax::report(source, start, word, &errors, problems);
    None
}

/// Sides such as +x start with a sign, like numbers.
fn is_side(word: &str) -> bool {
    matches!(word, "-x" | "+x" | "-y" | "+y" | "-z" | "+z")
}
