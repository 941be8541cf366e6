//! The JSON schema of scene files: for editors, and for our own check of the structure.

use std::sync::OnceLock;

use serde_json::{Map, Value, json};

use crate::content::Content;

/// The JSON schema of the file format.
pub fn schema() -> Value {
    built().clone()
}

/// The schema, made once.
pub(crate) fn built() -> &'static Value {
    static SCHEMA: OnceLock<Value> = OnceLock::new();
    SCHEMA.get_or_init(|| {
        let mut schema = schemars::schema_for!(Content).to_value();
        tidy(&mut schema);
        schema
    })
}

/// The reference, where it or null may be given.
fn optional_reference(fields: &Map<String, Value>) -> Option<Map<String, Value>> {
    match fields.get("anyOf")?.as_array()?.as_slice() {
        [Value::Object(reference), null] if null["type"] == "null" => Some(reference.clone()),
        _ => None,
    }
}

/// Takes out what TOML does not have (null) and the line breaks of source comments, and says that vectors have
/// two or three entries where nothing else is said.
fn tidy(schema: &mut Value) {
    match schema {
        Value::Object(fields) => {
            if let Some(text) = fields.get("description").and_then(Value::as_str) {
                fields["description"] = json!(text.replace('\n', " "));
            }
            let is_vector = fields.get("items").is_some_and(|items| items["type"] == "number");
            if is_vector && !fields.contains_key("minItems") {
                fields.extend([("minItems".to_owned(), json!(2)), ("maxItems".to_owned(), json!(3))]);
            }
            if fields.get("default") == Some(&Value::Null) {
                fields.remove("default");
            }
            if let Some(Value::Array(types)) = fields.get("type") {
                fields["type"] = types[0].clone();
            }
            if let Some(reference) = optional_reference(fields) {
                fields.remove("anyOf");
                fields.extend(reference);
            }
            fields.values_mut().for_each(tidy);
        }
        Value::Array(entries) => entries.iter_mut().for_each(tidy),
        _ => {}
    }
}
