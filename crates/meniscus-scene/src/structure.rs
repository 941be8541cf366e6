//! Checks a document against the schema: keys, types and ranges, each value by itself.
//!
//! What is wrong is reported and pruned from the tree, so that all that remains can be read and checked
//! further: a scene with a slip in one place still hears of what is wrong elsewhere.

use serde_json::Value as Json;

use crate::document::{Node, Value};
use crate::problem::Problems;
use crate::suggest::{list, nearest};

/// No length, time or density of a scene is as large; beyond, products of a few numbers overflow.
const LARGEST: f64 = 1e12;

/// Words of other programs, and what they are called here.
const SYNONYMS: [(&str, &str); 18] = [
    ("ball", "sphere"),
    ("circle", "sphere"),
    ("disc", "sphere"),
    ("disk", "sphere"),
    ("ellipse", "ellipsoid"),
    ("cube", "box"),
    ("cuboid", "box"),
    ("rectangle", "box"),
    ("square", "box"),
    ("plane", "half_space"),
    ("halfspace", "half_space"),
    ("subtract", "difference"),
    ("invert", "complement"),
    ("rotate", "transform"),
    ("translate", "transform"),
    ("scale", "transform"),
    ("resolution", "cells"),
    ("obstacle", "solid"),
];

/// Checks and prunes the root of a document; false if too little remains to be read.
pub(crate) fn check(root: &mut Node, schema: &Json, problems: &mut Problems) -> bool {
    Checker { schema, problems }.check(root, schema, "")
}

struct Checker<'a> {
    schema: &'a Json,
    problems: &'a mut Problems,
}

impl<'a> Checker<'a> {
    /// Whether the value, as far as it is left, can be read. `around` describes what the value is part of, for
    /// values that have no description of their own.
    fn check(&mut self, node: &mut Node, rule: &'a Json, around: &str) -> bool {
        let own = text(rule, "description");
        let rule = self.resolve(rule);
        let help =
            [own, around, text(rule, "description")].into_iter().find(|h| !h.is_empty()).unwrap_or_default();
        if let Some(variants) = rule["oneOf"].as_array() {
            return if variants.iter().all(|v| v["const"].is_string()) {
                let words: Vec<&str> = variants.iter().map(|v| text(v, "const")).collect();
                self.one_of_words(node, &words, help)
            } else if variants.iter().all(|v| v["properties"]["kind"].is_object()) {
                self.tagged(node, variants, help)
            } else {
                self.shape(node, variants, help)
            };
        }
        if let Some(choices) = rule["anyOf"].as_array() {
            let fits = |choice: &&Json| self.may_be(&node.value, choice);
            let choice = choices.iter().find(fits).or(choices.first());
            return choice.is_none_or(|choice| self.check(node, choice, help));
        }
        match text(rule, "type") {
            "object" => self.table(node, rule, help),
            "array" => self.list(node, rule, help),
            "number" => self.number(node, rule, help),
            "integer" => self.integer(node, rule, help),
            "boolean" => {
                matches!(node.value, Value::Boolean(_)) || self.wrong_type(node, "true or false", help)
            }
            _ => matches!(node.value, Value::String(_)) || self.wrong_type(node, "a string in quotes", help),
        }
    }

    /// Whether a value is of the kind that a rule is for.
    fn may_be(&self, value: &Value, rule: &'a Json) -> bool {
        let rule = self.resolve(rule);
        match value {
            Value::Array(_) => text(rule, "type") == "array",
            Value::Table(_) => text(rule, "type") == "object",
            Value::String(_) => text(rule, "type") == "string" || rule["oneOf"][0]["const"].is_string(),
            _ => ["number", "integer", "boolean"].contains(&text(rule, "type")),
        }
    }

    fn resolve(&self, rule: &'a Json) -> &'a Json {
        match rule["$ref"].as_str().and_then(|r| r.strip_prefix("#/$defs/")) {
            Some(name) => &self.schema["$defs"][name],
            None => rule,
        }
    }

    fn wrong_type(&mut self, node: &Node, expected: &str, about: &str) -> bool {
        let message = format!("{} must be {expected}, not {}", named(node), node.what());
        let is_header = !node.path.contains(['.', '[']);
        let help = match (&node.value, expected) {
            (Value::Table(_), "a list") if is_header => {
                format!("write the header with double brackets, [[{}]], for each of them", node.path)
            }
            (Value::Array(_), "a table") if is_header => {
                format!("there is only one: write the header with single brackets, [{}]", node.path)
            }
            _ => give(expected, about),
        };
        self.problems.error(&node.place, message, format!("this is {}", node.what()), help);
        false
    }

    fn table(&mut self, node: &mut Node, rule: &'a Json, help: &str) -> bool {
        let name = named(node);
        let Value::Table(entries) = &mut node.value else { return self.wrong_type(node, "a table", help) };
        let properties = rule["properties"].as_object();
        let known: Vec<&str> = properties.iter().flat_map(|p| p.keys()).map(String::as_str).collect();
        // Keys that were there, or were meant, and that have been reported.
        let mut reported = Vec::new();
        entries.retain_mut(|(key, value)| match properties.and_then(|p| p.get_key_value(&key.text)) {
            Some((known_key, rule)) => {
                let sound = self.check(value, rule, help);
                if !sound {
                    reported.push(known_key.as_str());
                }
                sound
            }
            None => {
                let meant = synonym(&key.text, &known).or_else(|| nearest(&key.text, known.iter().copied()));
                reported.extend(meant);
                let help = match meant {
                    Some(meant) => format!("did you mean `{meant}`?"),
                    None => self.unknown_key_help(&key.text, &known),
                };
                let message = format!("unknown key `{}` in {name}", shorten(&key.text));
                self.problems.error(&key.place, message, "unknown key", help);
                false
            }
        });
        self.has_required(node, rule, &reported)
    }

    /// Whether the keys that the table must have are there.
    fn has_required(&mut self, node: &Node, rule: &'a Json, reported: &[&str]) -> bool {
        let mut complete = true;
        for key in rule["required"].as_array().into_iter().flatten().filter_map(Json::as_str) {
            if node.get(key).is_some() {
                continue;
            }
            complete = false;
            if !reported.contains(&key) {
                let help =
                    format!("add `{key}`{}", in_brackets(text(&rule["properties"][key], "description")));
                let message = format!("{} has no `{key}`", named(node));
                self.problems.error(&node.place, message, format!("`{key}` is missing"), help);
            }
        }
        complete
    }

    /// Where a key that is no slip belongs.
    fn unknown_key_help(&self, key: &str, known: &[&str]) -> String {
        let root = &self.schema["properties"];
        if root.get(key).is_some() {
            return match text(self.resolve(&root[key]), "type") {
                "array" | "object"
                    if root[key]["$ref"].is_string() || root[key]["items"]["$ref"].is_string() =>
                {
                    format!(
                        "`{key}` is a table of its own; start it with [{key}] or [[{key}]] on a line of its own"
                    )
                }
                _ => format!("`{key}` belongs at the top of the file, before the first [table]"),
            };
        }
        let tables = root.as_object().into_iter().flatten();
        for (table, rule) in tables {
            if self.resolve(rule)["properties"].get(key).is_some() {
                return format!("`{key}` belongs to the table [{table}]");
            }
        }
        format!("remove it; the keys known here are {}", list(known, "`", "and"))
    }

    fn list(&mut self, node: &mut Node, rule: &'a Json, help: &str) -> bool {
        let Value::Array(entries) = &mut node.value else {
            let expected =
                if text(&rule["items"], "type") == "number" { "a list of numbers" } else { "a list" };
            return self.wrong_type(node, expected, help);
        };
        let items = &rule["items"];
        if text(items, "type") == "number" {
            // A vector is of use only as a whole.
            let mut sound = true;
            for entry in entries {
                sound &= self.check(entry, items, help);
            }
            sound
        } else {
            entries.retain_mut(|entry| self.check(entry, items, help));
            true
        }
    }

    fn number(&mut self, node: &Node, rule: &Json, help: &str) -> bool {
        let value = match node.value {
            Value::Float(value) => value,
            Value::Integer(value) => value as f64,
            Value::TooLarge => f64::MAX,
            _ => return self.wrong_type(node, "a number", help),
        };
        let (problem, expected) = if !value.is_finite() {
            ("must be a finite number".to_owned(), format!("a finite number{}", range(rule)))
        } else if let Some(problem) = out_of_range(value, rule) {
            (problem, format!("a number{}", range(rule)))
        } else if value.abs() > LARGEST {
            (format!("must be at most {LARGEST:e} in size"), "a smaller number".to_owned())
        } else {
            return true;
        };
        let help = give(&expected, help);
        self.problems.error(&node.place, format!("{} {problem}", named(node)), problem, help);
        false
    }

    fn integer(&mut self, node: &Node, rule: &Json, about: &str) -> bool {
        let help = give(&format!("a whole number{}", range(rule)), about);
        let (problem, help) = match node.value {
            Value::Integer(value) => match out_of_range(value as f64, rule) {
                Some(problem) => (problem, help),
                None => return true,
            },
            Value::Float(value) if value.fract() == 0.0 && value.abs() < 1e15 => {
                ("must be a whole number, without a point".to_owned(), format!("write {value}"))
            }
            Value::Float(_) => ("must be a whole number".to_owned(), help),
            Value::TooLarge => {
                (out_of_range(f64::MAX, rule).unwrap_or_else(|| "must be at most 1e18".into()), help)
            }
            _ => return self.wrong_type(node, "a whole number", about),
        };
        self.problems.error(&node.place, format!("{} {problem}", named(node)), problem, help);
        false
    }

    fn one_of_words(&mut self, node: &Node, words: &[&str], help: &str) -> bool {
        let expected = list(words, "\"", "or");
        let Value::String(word) = &node.value else { return self.wrong_type(node, &expected, help) };
        if words.contains(&word.as_str()) {
            return true;
        }
        let message = format!("{} must be {expected}, not \"{}\"", named(node), shorten(word));
        let help = match nearest(word, words.iter().copied()) {
            Some(meant) if word.len() > 1 => format!("did you mean \"{meant}\"?"),
            _ => give(&expected, help),
        };
        self.problems.error(&node.place, message, "unknown word", help);
        false
    }

    /// A table whose `kind` says which other keys it has.
    fn tagged(&mut self, node: &mut Node, variants: &'a [Json], help: &str) -> bool {
        let kinds: Vec<&str> = variants.iter().map(|v| text(&v["properties"]["kind"], "const")).collect();
        if !matches!(node.value, Value::Table(_)) {
            return self.wrong_type(node, "a table", help);
        }
        let Some(kind) = node.get("kind") else {
            let message = format!("{} has no `kind`", named(node));
            let help = format!("add `kind`, one of {}", list(&kinds, "\"", "or"));
            self.problems.error(&node.place, message, "`kind` is missing", help);
            return false;
        };
        if !self.one_of_words(kind, &kinds, "what the probe measures") {
            return false;
        }
        let chosen =
            variants.iter().zip(&kinds).find(|(_, k)| matches!(&kind.value, Value::String(w) if w == *k));
        let Some((variant, _)) = chosen else { return false };
        self.table(node, variant, text(variant, "description"))
    }

    /// A table with exactly one key, which names the kind of a shape.
    fn shape(&mut self, node: &mut Node, variants: &'a [Json], help: &str) -> bool {
        let kind_of = |v: &'a Json| v["required"][0].as_str().unwrap_or_default();
        let kinds: Vec<&str> = variants.iter().map(kind_of).collect();
        let name = named(node);
        let Value::Table(entries) = &mut node.value else {
            return self.wrong_type(node, "a shape, which is a table", help);
        };
        if let [(key, value)] = entries.as_mut_slice() {
            if let Some(variant) = variants.iter().find(|v| kind_of(v) == key.text) {
                let inner = &variant["properties"][key.text.as_str()];
                return self.check_variant(value, inner, text(variant, "description"));
            }
            let meant = synonym(&key.text, &kinds).or_else(|| nearest(&key.text, kinds.iter().copied()));
            let help = match meant {
                Some(meant) => format!("did you mean `{meant}`?"),
                None => format!("the shapes are {}", list(&kinds, "`", "and")),
            };
            let message = format!("unknown shape `{}`", shorten(&key.text));
            self.problems.error(&key.place, message, "unknown shape", help);
            return false;
        }
        let known: Vec<&str> =
            entries.iter().map(|(k, _)| k.text.as_str()).filter(|k| kinds.contains(k)).collect();
        let (message, label, help) = match (entries.len(), known.as_slice()) {
            (0, _) => (
                format!("{name} is an empty shape"),
                "no shape in here",
                format!("name its kind: one of {}", list(&kinds, "`", "or")),
            ),
            (_, [first, _second, ..]) => (
                format!("{name} holds several shapes: {}", list(&known, "`", "and")),
                "more than one shape",
                format!("join them by a list, {{ union = [{{ {first} = ... }}, ...] }}"),
            ),
            (_, [only]) => (
                format!("{name} has keys beside its kind `{only}`"),
                "a shape has exactly one key",
                format!("put them inside, {{ {only} = {{ ... }} }}"),
            ),
            (_, []) => (
                format!("{name} does not say what kind of shape it is"),
                "no kind of shape",
                format!(
                    "wrap it in the kind, as in {{ box = {{ ... }} }}; the kinds are {}",
                    list(&kinds, "`", "and")
                ),
            ),
        };
        self.problems.error(&node.place, message, label, help);
        false
    }

    /// What follows the kind of a shape; its own description is that of the shape.
    fn check_variant(&mut self, node: &mut Node, rule: &'a Json, help: &str) -> bool {
        match &node.value {
            Value::Table(_) | Value::Array(_) => self.check(node, rule, help),
            _ => {
                self.wrong_type(node, if text(rule, "type") == "array" { "a list" } else { "a table" }, help)
            }
        }
    }
}

fn text<'a>(rule: &'a Json, key: &str) -> &'a str {
    rule[key].as_str().unwrap_or_default()
}

/// How a message names a value.
fn named(node: &Node) -> String {
    if node.path.is_empty() { "the scene".into() } else { format!("`{}`", shorten(&node.path)) }
}

fn shorten(word: &str) -> String {
    const LONGEST: usize = 60;
    if word.chars().count() <= LONGEST {
        word.escape_debug().to_string().replace("\\\"", "\"").replace("\\'", "'")
    } else {
        word.chars().take(LONGEST).flat_map(char::escape_debug).chain("...".chars()).collect()
    }
}

/// The fix for a value: what it must be, and what it is about.
fn give(expected: &str, about: &str) -> String {
    format!("give {expected}{}", in_brackets(about))
}

/// A description, ready to follow other words.
fn in_brackets(description: &str) -> String {
    let mut chars = description.trim_end_matches('.').chars();
    match chars.next() {
        Some(first) => format!(" ({}{})", first.to_lowercase(), chars.as_str()),
        None => String::new(),
    }
}

fn synonym<'a>(word: &str, known: &[&'a str]) -> Option<&'a str> {
    let (_, here) = SYNONYMS.iter().find(|(elsewhere, _)| word.eq_ignore_ascii_case(elsewhere))?;
    known.iter().copied().find(|k| k == here)
}

/// How a number breaks the limits of its rule.
fn out_of_range(value: f64, rule: &Json) -> Option<String> {
    let limit = |key: &str| rule[key].as_f64();
    if limit("exclusiveMinimum").is_some_and(|limit| value <= limit) {
        return Some("must be greater than zero".into());
    }
    if let Some(limit) = limit("minimum").filter(|limit| value < *limit) {
        return Some(format!("must be at least {limit}"));
    }
    limit("maximum").filter(|limit| value > *limit).map(|limit| format!("must be at most {limit}"))
}

/// The limits of a rule, ready to follow "a number".
fn range(rule: &Json) -> String {
    let limit = |key: &str| rule[key].as_f64();
    match (limit("exclusiveMinimum"), limit("minimum"), limit("maximum")) {
        (Some(_), _, Some(most)) => format!(" greater than zero and at most {most}"),
        (Some(_), _, None) => " greater than zero".into(),
        (None, Some(least), Some(most)) => format!(" from {least} to {most}"),
        (None, Some(least), None) => format!(" of at least {least}"),
        (None, None, Some(most)) => format!(" of at most {most}"),
        (None, None, None) => String::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What [`Checker`] understands, and what says nothing about a value or is checked later (lengths of vectors).
    const KEYWORDS: [&str; 20] = [
        "$defs",
        "$ref",
        "$schema",
        "additionalProperties",
        "anyOf",
        "const",
        "default",
        "description",
        "exclusiveMinimum",
        "format",
        "items",
        "maxItems",
        "maximum",
        "minItems",
        "minimum",
        "oneOf",
        "properties",
        "required",
        "title",
        "type",
    ];

    fn visit(rule: &Json, path: &str) {
        for (key, value) in rule.as_object().into_iter().flatten() {
            assert!(KEYWORDS.contains(&key.as_str()), "{path}: the keyword {key} is not checked");
            match (key.as_str(), value) {
                ("$defs" | "properties", Json::Object(rules)) => {
                    rules.iter().for_each(|(name, rule)| visit(rule, &format!("{path}/{name}")));
                }
                ("oneOf" | "anyOf", Json::Array(rules)) => rules.iter().for_each(|rule| visit(rule, path)),
                ("items", rule) => visit(rule, path),
                ("type", Json::String(_)) | ("additionalProperties", Json::Bool(false)) => {}
                ("type" | "additionalProperties", other) => panic!("{path}: {key} is {other}"),
                _ => {}
            }
        }
    }

    #[test]
    fn the_schema_uses_no_keyword_that_is_not_checked() {
        visit(crate::schema::built(), "");
    }

    #[test]
    fn every_key_is_described() {
        let tables = crate::schema::built()["$defs"].as_object().expect("definitions");
        for (table, rule) in tables {
            for (key, rule) in rule["properties"].as_object().into_iter().flatten() {
                assert!(
                    text(rule, "description").len() > 10,
                    "{table}.{key} has no description to help with"
                );
            }
        }
    }
}
