//! The text of a scene with the overrides written into it; comments and layout stay.

use toml_edit::{DocumentMut, InlineTable, Item, Table, Value};

use super::overrides::Override;

/// The text with the overrides, which fit the document.
pub(super) fn text(text: &str, edits: &[Override]) -> Option<String> {
    let mut document: DocumentMut = text.parse().ok()?;
    for edit in edits {
        let steps: Vec<&str> = edit.steps.iter().map(|step| step.text.as_str()).collect();
        set_in_item(document.as_item_mut(), &steps, edit.value_text.parse().ok()?)?;
    }
    Some(document.to_string())
}

fn set_in_item(item: &mut Item, steps: &[&str], value: Value) -> Option<()> {
    let Some((step, rest)) = steps.split_first() else {
        // Keeps the spaces and the comment around the old value.
        let decor = item.as_value().map(|old| old.decor().clone());
        *item = Item::Value(value);
        if let (Some(decor), Some(new)) = (decor, item.as_value_mut()) {
            *new.decor_mut() = decor;
        }
        return Some(());
    };
    match item {
        Item::ArrayOfTables(tables) => {
            let table = tables.get_mut(step.parse().ok()?)?;
            match rest {
                // A whole [[solid]] replaced by a value: its keys are replaced.
                [] => {
                    *table = value.as_inline_table()?.clone().into_table();
                    Some(())
                }
                [key, rest @ ..] => set_in_table(table, key, rest, value),
            }
        }
        Item::Table(table) => set_in_table(table, step, rest, value),
        Item::Value(inner) => set_in_value(inner, steps, value),
        Item::None => None,
    }
}

fn set_in_table(table: &mut Table, key: &str, rest: &[&str], value: Value) -> Option<()> {
    if !table.contains_key(key) {
        let new = if rest.is_empty() { Item::Value(value.clone()) } else { Item::Table(Table::new()) };
        table.insert(key, new);
    }
    set_in_item(table.get_mut(key)?, rest, value)
}

fn set_in_value(target: &mut Value, steps: &[&str], value: Value) -> Option<()> {
    let Some((step, rest)) = steps.split_first() else {
        let decor = target.decor().clone();
        *target = value;
        *target.decor_mut() = decor;
        return Some(());
    };
    match target {
        Value::Array(array) => set_in_value(array.get_mut(step.parse().ok()?)?, rest, value),
        Value::InlineTable(table) => {
            if !table.contains_key(step) {
                let new =
                    if rest.is_empty() { value.clone() } else { Value::InlineTable(InlineTable::new()) };
                table.insert(*step, new);
            }
            set_in_value(table.get_mut(step)?, rest, value)
        }
        _ => None,
    }
}
