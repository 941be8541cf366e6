//! The text of a scene as a tree of values that know their place, before it is known to be a scene.

mod effective;
mod overrides;
mod syntax;

use std::ops::Range;

use toml::Spanned;
use toml::de::{DeArray, DeTable, DeValue};

use crate::problem::{Place, Problems};

/// Reads the text and applies the overrides to it. Gives the tree and the effective text.
pub(crate) fn read(text: &str, overrides: &[String], problems: &mut Problems) -> Option<(Node, String)> {
    let (table, errors) = DeTable::parse_recoverable(text);
    if !errors.is_empty() {
        syntax::report(0, 0, text, &errors, problems);
        return None;
    }
    let source = Text { source: 0, offset: 0 };
    let mut root =
        Node { value: source.table(table.get_ref()), place: source.place(0..0), path: String::new() };

    let mut edits = Vec::new();
    for (index, text) in overrides.iter().enumerate() {
        if let Some(edit) = overrides::Override::parse(index + 1, text, problems)
            && edit.apply(&mut root, problems)
        {
            edits.push(edit);
        }
    }
    root.name("");
    let effective = match edits.as_slice() {
        [] => text.to_owned(),
        // Without the comments where the layout cannot be kept.
        edits => effective::text(text, edits).or_else(|| toml::to_string(&root.to_toml()).ok())?,
    };
    Some((root, effective))
}

/// A value of the document and where it stands.
#[derive(Clone, Debug)]
pub(crate) struct Node {
    pub value: Value,
    /// The value; for a table with a header, the header.
    pub place: Place,
    /// How overrides name it, such as `solid[1].motion`.
    pub path: String,
}

#[derive(Clone, Debug)]
pub(crate) enum Value {
    String(String),
    Integer(i64),
    /// An integer beyond 64 bits, or a float beyond what a float can hold.
    TooLarge,
    Float(f64),
    Boolean(bool),
    Datetime,
    Array(Vec<Node>),
    Table(Vec<(Key, Node)>),
}

#[derive(Clone, Debug)]
pub(crate) struct Key {
    pub text: String,
    pub place: Place,
}

impl Node {
    /// The value of a key, if this is a table that has it.
    pub fn get(&self, key: &str) -> Option<&Node> {
        match &self.value {
            Value::Table(entries) => entries.iter().find(|(k, _)| k.text == key).map(|(_, node)| node),
            _ => None,
        }
    }

    /// The value of a key, or this table itself to point at where the value is missing.
    pub fn at(&self, key: &str) -> &Node {
        self.get(key).unwrap_or(self)
    }

    /// The entry of a list, or the list itself.
    pub fn entry(&self, index: usize) -> &Node {
        match &self.value {
            Value::Array(entries) => entries.get(index).unwrap_or(self),
            _ => self,
        }
    }

    /// The key with its place, if this is a table that has it.
    pub fn key(&self, key: &str) -> Option<&Key> {
        match &self.value {
            Value::Table(entries) => entries.iter().find(|(k, _)| k.text == key).map(|(k, _)| k),
            _ => None,
        }
    }

    /// For a message: what the value is.
    pub fn what(&self) -> &'static str {
        match &self.value {
            Value::String(_) => "a string",
            Value::Integer(_) | Value::Float(_) | Value::TooLarge => "a number",
            Value::Boolean(_) => "a boolean",
            Value::Datetime => "a date",
            Value::Array(_) => "a list",
            Value::Table(_) => "a table",
        }
    }

    /// The value without places. What does not fit in TOML's numbers must have been refused before.
    pub fn to_toml(&self) -> toml::Value {
        match &self.value {
            Value::String(text) => text.as_str().into(),
            Value::Integer(number) => (*number).into(),
            Value::Float(number) => (*number).into(),
            Value::Boolean(word) => (*word).into(),
            Value::TooLarge | Value::Datetime => f64::NAN.into(),
            Value::Array(entries) => toml::Value::Array(entries.iter().map(Self::to_toml).collect()),
            Value::Table(entries) => {
                toml::Value::Table(entries.iter().map(|(k, v)| (k.text.clone(), v.to_toml())).collect())
            }
        }
    }

    /// Gives this node and all below their paths.
    fn name(&mut self, path: &str) {
        self.path = path.into();
        match &mut self.value {
            Value::Array(entries) => {
                for (index, entry) in entries.iter_mut().enumerate() {
                    entry.name(&format!("{path}[{index}]"));
                }
            }
            Value::Table(entries) => {
                let dot = if path.is_empty() { "" } else { "." };
                for (key, entry) in entries {
                    entry.name(&format!("{path}{dot}{}", key.text));
                }
            }
            _ => {}
        }
    }
}

/// One of the texts, or a piece of it from `offset`, that values are read from.
#[derive(Clone, Copy)]
struct Text {
    source: usize,
    offset: usize,
}

impl Text {
    fn place(self, span: Range<usize>) -> Place {
        Place { source: self.source, span: span.start + self.offset..span.end + self.offset }
    }

    fn node(self, value: &Spanned<DeValue<'_>>) -> Node {
        let place = self.place(value.span());
        Node { value: self.value(value.get_ref()), place, path: String::new() }
    }

    fn value(self, value: &DeValue<'_>) -> Value {
        match value {
            DeValue::String(text) => Value::String(text.to_string()),
            DeValue::Integer(number) => {
                i64::from_str_radix(number.as_str(), number.radix()).map_or(Value::TooLarge, Value::Integer)
            }
            DeValue::Float(number) => match number.as_str().parse::<f64>() {
                Ok(value) if value.is_infinite() && !number.as_str().contains("inf") => Value::TooLarge,
                Ok(value) => Value::Float(value),
                Err(_) => Value::TooLarge,
            },
            DeValue::Boolean(word) => Value::Boolean(*word),
            DeValue::Datetime(_) => Value::Datetime,
            DeValue::Array(array) => Value::Array(self.array(array)),
            DeValue::Table(table) => self.table(table),
        }
    }

    fn array(self, array: &DeArray<'_>) -> Vec<Node> {
        array.iter().map(|entry| self.node(entry)).collect()
    }

    fn table(self, table: &DeTable<'_>) -> Value {
        let key = |k: &Spanned<_>, text: String| Key { text, place: self.place(k.span()) };
        Value::Table(table.iter().map(|(k, v)| (key(k, k.get_ref().to_string()), self.node(v))).collect())
    }
}
