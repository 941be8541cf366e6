//! Changes of the text of a scene, which keep all else of it as it was written.

use toml_edit::{Array, ArrayOfTables, DocumentMut, InlineTable, Item, Table, Value, value};

use crate::input::Setting;

/// The text of a scene that is changed.
#[derive(Clone, Debug)]
pub struct Text(DocumentMut);

/// Where a body is, and how it moves.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Pose {
    /// The centre of its mass, in m.
    pub centre: [f64; 2],
    /// By how much it has turned, counter-clockwise.
    pub angle: f64,
    /// In m/s.
    pub velocity: [f64; 2],
    /// In radians a second.
    pub spin: f64,
}

impl Text {
    /// The text of a valid scene. What has no name in it gets that by which it is known, so that it keeps it when others go.
    pub fn new(text: &str) -> Self {
        let document = text.parse().expect("a valid scene is a document");
        let mut text = Self(document);
        for kind in ["body", "solid"] {
            name_all(&mut text.0[kind], kind);
        }
        if text.0.contains_key("modes") {
            name_all(&mut text.0["modes"]["enrich"], "drawn");
        }
        text
    }

    /// Adds a mode.
    pub fn add_mode(&mut self, name: &str, points: &[[f64; 2]], width: f64) {
        let mut stroke = InlineTable::new();
        stroke.insert("points", points.iter().copied().map(pair).collect::<Array>().into());
        stroke.insert("width", width.into());
        let mut mode = Table::new();
        mode["name"] = value(name);
        mode["stroke"] = value(stroke);
        self.list(&["modes", "enrich"]).push(mode);
    }

    /// Adds a body.
    pub fn add_body(&mut self, name: &str, at: [f64; 2], density: f64, radius: f64, is_box: bool) {
        let mut measures = InlineTable::new();
        let kind = if is_box {
            measures.insert("from", pair(at.map(|x| rounded(x - radius))).into());
            measures.insert("to", pair(at.map(|x| rounded(x + radius))).into());
            "box"
        } else {
            measures.insert("centre", pair(at).into());
            measures.insert("radius", radius.into());
            "sphere"
        };
        let mut shape = InlineTable::new();
        shape.insert(kind, measures.into());
        let mut body = Table::new();
        body["name"] = value(name);
        body["shape"] = value(shape);
        body["density"] = value(density);
        body["restitution"] = value(0.2);
        self.list(&["body"]).push(body);
    }

    /// Takes what has a name out of a list; says whether it was there.
    pub fn remove(&mut self, path: &[&str], name: &str) -> bool {
        let list = self.list(path);
        let found = list.iter().position(|table| name_of(table) == Some(name));
        if let Some(place) = found {
            list.remove(place);
        }
        found.is_some()
    }

    /// Changes a setting.
    pub fn set(&mut self, setting: Setting, to: f64) {
        match setting {
            Setting::Modes => self.table("modes")["count"] = value(to.round() as i64),
            Setting::Viscosity => self.table("fluid")["viscosity"] = value(to),
            Setting::Shedding => self.table("modes")["shed_time"] = value(to),
        }
    }

    /// Puts bodies where they are now; `moves` tells from where to where the shape of each has to be moved.
    pub fn put_bodies(&mut self, now: impl Fn(&str) -> Option<(Pose, [f64; 2])>) {
        for body in self.list(&["body"]).iter_mut() {
            let Some((pose, start)) = name_of(body).and_then(&now) else { continue };
            let shape = body["shape"].as_value().expect("a body has a shape").clone();
            body["shape"] = value(moved(shape, &pose, start));
            body["velocity"] = value(pair(pose.velocity));
            body["angular_velocity"] = value(Array::from_iter([pose.spin]));
        }
    }

    fn table(&mut self, key: &str) -> &mut Item {
        self.0.entry(key).or_insert(Item::Table(Table::new()))
    }

    /// The tables of a list, which need not be there.
    fn list(&mut self, path: &[&str]) -> &mut ArrayOfTables {
        let (last, parents) = path.split_last().expect("a path");
        let mut item = self.0.as_item_mut();
        for parent in parents {
            item = &mut item[*parent];
            if item.is_none() {
                *item = Item::Table(Table::new());
            }
        }
        let list = &mut item[*last];
        if let Some(inline) = list.as_array().cloned() {
            // An inline list of tables is one too.
            let tables = inline.into_iter().filter_map(|entry| match entry {
                Value::InlineTable(table) => Some(table.into_table()),
                _ => None,
            });
            *list = Item::ArrayOfTables(tables.collect());
        }
        if list.is_none() {
            *list = Item::ArrayOfTables(ArrayOfTables::new());
        }
        list.as_array_of_tables_mut().expect("a list of tables")
    }
}

impl std::fmt::Display for Text {
    fn fmt(&self, f: &mut std::fmt::Formatter) -> std::fmt::Result {
        self.0.fmt(f)
    }
}

fn name_of(table: &Table) -> Option<&str> {
    table.get("name").and_then(Item::as_str)
}

fn name_all(list: &mut Item, kind: &str) {
    let Some(tables) = list.as_array_of_tables_mut() else { return };
    for (index, table) in tables.iter_mut().enumerate() {
        if name_of(table).is_none() {
            table["name"] = value(format!("{kind}-{}", index + 1));
        }
    }
}

fn pair([x, y]: [f64; 2]) -> Array {
    Array::from_iter([x, y])
}

fn rounded(x: f64) -> f64 {
    (x * 1e6).round() / 1e6
}

/// A shape whose body began with its centre of mass at `start`. A ball is written where it is; others are turned and moved.
fn moved(mut shape: Value, pose: &Pose, start: [f64; 2]) -> Value {
    let sphere = shape.as_inline_table_mut().and_then(|shape| shape.get_mut("sphere"));
    if let Some(sphere) = sphere.and_then(Value::as_inline_table_mut) {
        sphere.insert("centre", pair(pose.centre).into());
        return shape;
    }
    let mut transform = InlineTable::new();
    transform.insert("shape", shape);
    transform.insert("degrees", pose.angle.to_degrees().into());
    transform.insert("pivot", pair(start).into());
    transform.insert("translate", pair([0, 1].map(|axis| pose.centre[axis] - start[axis])).into());
    let mut outer = InlineTable::new();
    outer.insert("transform", transform.into());
    outer.into()
}
