//! The reference of scene files for readers: the schema as a page of Markdown, with examples.

use std::fmt::Write;

use serde_json::Value;

use crate::schema;
use crate::suggest::list;

const INTRODUCTION: &str = r#"# Scene files

Generated from the types in crates/meniscus-scene; do not edit

A scene file says what there is, and how it is simulated, written and drawn. It is a [TOML](https://toml.io) file.

- Units are SI: lengths in metres, times in seconds. Angles are in degrees.
- y is up. The domain reaches from the origin to `domain.size`; two numbers there make a 2D scene, three a 3D one.
- A *vector* has a number for each dimension: `[x, y]` in 2D, `[x, y, z]` in 3D.
- A key that is marked **required** must be given. An unknown key is an error. A scene needs a liquid, a source or a fluid.
- `[name]` starts a table that a scene has at most once, `[[name]]` one that it may have any number of times.

This is a complete scene:

"#;

const EXAMPLE: &str = r#"description = "A column of water collapses and runs into a step"

[domain]
size = [1.0, 0.5]         # metres; two numbers, so it is 2D
cells = 64                # along the longest side
open = ["+y"]             # no lid

[time]
frames = 48               # two seconds
fps = 24.0

[[liquid]]
shape = { box = { from = [0.0, 0.0], to = [0.3, 0.4] } }

[[solid]]
name = "step"
shape = { box = { from = [0.7, 0.0], to = [1.0, 0.1] } }

[[probe]]
name = "level"
kind = "height"
at = [0.5]
"#;

const COMMANDS: &str = r#"`meniscus check` says what is wrong with a scene, and `--set path=value` changes a setting without changing the file:

```sh
meniscus check step.toml
meniscus run step.toml --set domain.cells=128 --set particles.transfer=flip
meniscus run step.toml -o out/low-step --set "solid[0].shape.box.to=[1.0, 0.2]"
```

The path names a key by its tables. Entries of lists have numbers, from 0. The value is TOML, or a word without quotes.
A key that the file does not have is added. `--set` can be given again, and the last one counts.

`meniscus scenes` lists scenes to begin with, and `meniscus scenes NAME` prints one. `meniscus scenes --schema` prints a
JSON schema, with which editors complete and check scene files.

These are the tables; their examples below make up one 3D scene.
"#;

/// What the sections begin with, in their order. The name of a table is its path; one kind of a table of several kinds
/// is named after it. The texts together are one scene.
const EXAMPLES: [(&str, &str); 34] = [
    ("", "description = \"A gate opens in front of a wheel\"\ngravity = [0, -9.81, 0]\n"),
    ("domain", "[domain]\nsize = [2, 1, 1]\ncells = 64\nopen = [\"+y\"]\nwalls = \"no-slip\"\n"),
    ("time", "[time]\nframes = 96\nfps = 24\n"),
    (
        "liquid",
        "[[liquid]]\nshape = { box = { from = [0, 0, 0], to = [0.5, 0.6, 1] } }\nmaterial = \"oil\"\nviscosity = 0.5\n",
    ),
    (
        "source",
        r#"[[source]]
name = "jet"
shape = { cylinder = { from = [0.1, 0.8, 0.5], to = [0.2, 0.8, 0.5], radius = 0.05 } }
velocity = [1, 0, 0]
stop = 2
"#,
    ),
    (
        "sink",
        "[[sink]]\nname = \"drain\"\nshape = { box = { from = [1.9, 0, 0], to = [2, 0.1, 1] } }\nstart = 1\n",
    ),
    ("solid", "[[solid]]\nname = \"gate\"\nshape = { box = { from = [0.5, 0, 0], to = [0.6, 0.8, 1] } }\n"),
    (
        "solid.motion",
        r#"# After the [[solid]] that moves: the gate is lifted.
[solid.motion]
interpolation = "smooth"
keyframes = [{ time = 0.5 }, { time = 1, translation = [0, 0.7, 0] }]
"#,
    ),
    (
        "solid.motion.keyframes",
        r#"[[solid]]
name = "wheel"
shape = { box = { from = [1.3, 0.1, 0.2], to = [1.4, 0.5, 0.8] } }

# One turn in two seconds about the vertical through the middle, again and again.
[solid.motion]
axis = [0, 1, 0]
repeat = true
keyframes = [
    { time = 0 },
    { time = 2, degrees = 360 },
]
"#,
    ),
    (
        "body",
        "[[body]]\nname = \"cork\"\nshape = { sphere = { centre = [1.7, 0.5, 0.5], radius = 0.15 } }\ndensity = 240\nrestitution = 0.3\n",
    ),
    ("probe.pressure", "[[probe]]\nkind = \"pressure\"\nname = \"gauge\"\nat = [0.1, 0.1, 0.5]\n"),
    ("probe.velocity", "[[probe]]\nkind = \"velocity\"\nname = \"speed\"\nat = [0.1, 0.1, 0.5]\n"),
    ("probe.height", "[[probe]]\nkind = \"height\"\nname = \"level\"\nat = [1.0, 0.5]\n"),
    ("probe.underside", "[[probe]]\nkind = \"underside\"\nname = \"roof\"\nat = [1.0, 0.5]\n"),
    ("probe.flux", "[[probe]]\nkind = \"flux\"\nname = \"flow\"\nfrom = [1, 0, 0]\nto = [1, 1, 1]\n"),
    ("probe.front", "[[probe]]\nkind = \"front\"\nname = \"front\"\ndirection = \"+x\"\nleast = 0.03\n"),
    (
        "probe.volume",
        "[[probe]]\nkind = \"volume\"\nname = \"behind\"\nshape = { box = { from = [0.6, 0, 0], to = [2, 1, 1] } }\n",
    ),
    (
        "probe.mean-velocity",
        "[[probe]]\nkind = \"mean-velocity\"\nname = \"drift\"\nshape = { sphere = { centre = [1, 0.3, 0.5], radius = 0.2 } }\n",
    ),
    (
        "probe.energy",
        "[[probe]]\nkind = \"energy\"\nname = \"splash\"\nshape = { half_space = { point = [0, 0.6, 0], normal = [0, -1, 0] } }\n",
    ),
    ("fluid", "# Instead of all [[liquid]] and of [air]:\n# [fluid]\n# density = 1.2\n"),
    ("fluid.wave", "# After [fluid], in 2D:\n# [[fluid.wave]]\n# half_waves = [2, 1]\n# vorticity = 3.0\n"),
    (
        "fluid.stroke",
        "# [[fluid.stroke]]\n# points = [[0.3, 0.5], [0.7, 0.5]]\n# width = 0.03\n# speed = 0.4\n",
    ),
    (
        "smoke",
        "# Dye in the water.\n[[smoke]]\nshape = { sphere = { centre = [0.25, 0.3, 0.5], radius = 0.1 } }\nstop = 1\n",
    ),
    ("air", "[air]\nmodel = \"bubbles\"\n"),
    ("particles", "[particles]\ntransfer = \"flip\"\nflip_blend = 0.95\n"),
    ("regions", "[regions]\nmodel = \"graded\"\nsurface_band = 12\n"),
    (
        "modes",
        "# With method = \"modes\" at the top, in 2D, beside [fluid]:\n# [modes]\n# count = 200\n# shed_time = 0.1\n",
    ),
    (
        "modes.enrich",
        "# [[modes.enrich]]\n# run = \"out/stirred\"\n# modes = 8\n# [[modes.enrich]]\n# name = \"jet\"\n",
    ),
    ("modes.enrich.stroke", "# stroke = { points = [[0.3, 0.5], [0.7, 0.5]], width = 0.03, speed = 0.4 }\n"),
    ("solver", "[solver]\ntolerance = 1e-6\n"),
    ("output", "[output]\ncheckpoint_every = 5\nparticles = false\n"),
    ("output.keep_checkpoints", "[output.keep_checkpoints]\nevery = 20\n"),
    ("render", "[render]\nwidth = 1280\nheight = 720\n"),
    ("render.camera", "[render.camera]\nfrom = [3, 2, 3]\nto = [1, 0.3, 0.5]\n"),
];

/// One line for each kind of shape.
const SHAPES: [(&str, &str); 14] = [
    ("box", "shape = { box = { from = [0, 0, 0], to = [1, 0.5, 1] } }"),
    ("sphere", "shape = { sphere = { centre = [0.5, 0.5, 0.5], radius = 0.2 } }"),
    ("ellipsoid", "shape = { ellipsoid = { centre = [0.5, 0.5, 0.5], radii = [0.3, 0.1, 0.2] } }"),
    ("cylinder", "shape = { cylinder = { from = [0.5, 0, 0.5], to = [0.5, 1, 0.5], radius = 0.2 } }"),
    ("capsule", "shape = { capsule = { from = [0.3, 0.5, 0.5], to = [0.7, 0.5, 0.5], radius = 0.1 } }"),
    (
        "half_space",
        "shape = { half_space = { point = [0, 0.5, 0], normal = [0, 1, 0] } } # all below y = 0.5",
    ),
    ("polygon", "shape = { polygon = { points = [[0.2, 0.2], [0.8, 0.2], [0.5, 0.7]] } }"),
    ("mesh", "shape = { mesh = { file = \"bunny.obj\", scale = 0.01 } } # a file in centimetres"),
    (
        "union",
        "shape = { union = [{ sphere = { centre = [0.4, 0.5, 0.5], radius = 0.2 } }, { sphere = { centre = [0.6, 0.5, 0.5], radius = 0.2 } }] }",
    ),
    (
        "intersection",
        "shape = { intersection = [{ sphere = { centre = [0.5, 0.5, 0.5], radius = 0.3 } }, { half_space = { point = [0, 0.5, 0], normal = [0, 1, 0] } }] } # the lower half of a ball",
    ),
    (
        "difference",
        "shape = { difference = [{ box = { from = [0, 0, 0], to = [1, 0.5, 1] } }, { sphere = { centre = [0.5, 0.5, 0.5], radius = 0.2 } }] } # a block with a hollow",
    ),
    (
        "complement",
        "shape = { complement = { sphere = { centre = [0.5, 0.5, 0.5], radius = 0.4 } } } # as a solid, a round container",
    ),
    (
        "transform",
        "shape = { transform = { shape = { box = { from = [0.2, 0.4, 0.2], to = [0.8, 0.6, 0.8] } }, scale = [1.2, 1, 1], degrees = 30, translate = [0.1, 0, 0] } }",
    ),
    (
        "shell",
        "shape = { shell = { shape = { sphere = { centre = [0.5, 0.5, 0.5], radius = 0.3 } }, thickness = 0.1 } }",
    ),
];

/// How descriptions name units, and their symbols; what begins like another one comes first.
const UNITS: [(&str, &str); 11] = [
    ("in radians a second", "rad/s"),
    ("in metres", "m"),
    ("in seconds", "s"),
    ("in m/s2", "m/s²"),
    ("in m/s", "m/s"),
    ("in kg/m3", "kg/m³"),
    ("in kg", "kg"),
    ("in Pa s", "Pa s"),
    ("in N/m", "N/m"),
    ("in degrees", "degrees"),
    ("in pixels", "pixels"),
];

/// Keys of points, whose descriptions do not repeat that they are in metres.
const POINTS: [&str; 6] = ["at", "centre", "from", "pivot", "point", "to"];

/// A page of Markdown for people who write scene files: all tables and keys, with examples.
pub fn reference() -> String {
    let mut page = Page { schema: schema::built(), text: INTRODUCTION.to_owned() };
    page.code("toml", EXAMPLE);
    page.paragraph(COMMANDS);
    page.contents();
    page.top();
    for (key, rule) in page.tables() {
        page.table(key, rule);
    }
    page.shapes();
    page.text
}

struct Page<'a> {
    schema: &'a Value,
    text: String,
}

impl<'a> Page<'a> {
    fn paragraph(&mut self, text: &str) {
        self.text += text.trim_end();
        self.text += "\n\n";
    }

    fn code(&mut self, language: &str, text: &str) {
        self.paragraph(&format!("```{language}\n{}\n```", text.trim_end()));
    }

    fn example(&mut self, path: &str) {
        if let Some((_, text)) = EXAMPLES.iter().find(|(known, _)| *known == path) {
            self.code("toml", text);
        }
    }

    fn resolve(&self, rule: &'a Value) -> &'a Value {
        match rule["$ref"].as_str().and_then(|r| r.strip_prefix("#/$defs/")) {
            Some(name) => &self.schema["$defs"][name],
            None => rule,
        }
    }

    /// The rule of a table, or of the entries of a list of tables.
    fn table_rule(&self, rule: &'a Value) -> Option<&'a Value> {
        let rule = self.resolve(rule);
        let rule = if rule["items"].is_object() { self.resolve(&rule["items"]) } else { rule };
        if let Some(choices) = rule["anyOf"].as_array() {
            return choices.iter().find_map(|choice| self.table_rule(choice));
        }
        let is_table = rule["properties"].is_object() || !rule["oneOf"][0]["properties"]["kind"].is_null();
        is_table.then_some(rule)
    }

    /// The tables of a scene in the order of the examples, then those without one.
    fn tables(&self) -> Vec<(&'a str, &'a Value)> {
        let mut tables: Vec<(&str, &Value)> =
            keys(self.schema).into_iter().filter(|(_, rule)| self.table_rule(rule).is_some()).collect();
        let root = |path: &'static str| path.split('.').next().unwrap_or_default();
        tables.sort_by_key(|(key, _)| {
            EXAMPLES.iter().position(|(path, _)| root(path) == *key).unwrap_or(EXAMPLES.len())
        });
        tables
    }

    fn contents(&mut self) {
        let mut rows = "| table | holds |\n|---|---|\n".to_owned();
        for (key, rule) in self.tables() {
            let header = header(key, rule);
            let required = if is_required(self.schema, key) { " **Required.**" } else { "" };
            row(&mut rows, &[&format!("[`{header}`](#{key})"), &(description(rule).to_owned() + required)]);
        }
        self.paragraph(&rows);
    }

    fn top(&mut self) {
        self.paragraph("## At the top of the file\n\nThese keys come before the first table.");
        self.example("");
        let plain = keys(self.schema).into_iter().filter(|(_, rule)| self.table_rule(rule).is_none());
        self.keys(self.schema, plain.collect(), "");
    }

    fn table(&mut self, key: &str, rule: &'a Value) {
        self.paragraph(&format!("## `{}`", header(key, rule)));
        if let Some(rule) = self.table_rule(rule) {
            self.paragraph(description(rule));
            self.example(key);
            match rule["oneOf"].as_array() {
                Some(kinds) => self.kinds(key, kinds),
                None => self.keys(rule, keys(rule), key),
            }
        }
    }

    /// A table whose `kind` says which other keys it has.
    fn kinds(&mut self, path: &str, kinds: &'a [Value]) {
        let kind = |rule: &'a Value| rule["properties"]["kind"]["const"].as_str().unwrap_or_default();
        self.paragraph("`kind` is **required** and says which other keys there are.");
        for rule in kinds {
            let kind = kind(rule);
            self.paragraph(&format!("### `kind = \"{kind}\"`\n\n{}", description(rule)));
            self.example(&format!("{path}.{kind}"));
            let others = keys(rule).into_iter().filter(|(key, _)| *key != "kind");
            self.keys(rule, others.collect(), path);
        }
    }

    /// The keys of a table, what their words mean, and the tables in it.
    fn keys(&mut self, table: &Value, keys: Vec<(&'a str, &'a Value)>, path: &str) {
        let mut rows = "| key | type | default | meaning |\n|---|---|---|---|\n".to_owned();
        for (key, rule) in &keys {
            let (default, meaning) = default_and_meaning(rule, is_required(table, key));
            let kind = self.type_of(&join(path, key), rule, "");
            let unit = unit(key, rule).map(|unit| format!(", {unit}")).unwrap_or_default();
            row(&mut rows, &[&format!("`{key}`"), &(kind + &unit), &default, &meaning]);
        }
        self.paragraph(&rows);
        for (key, rule) in &keys {
            self.words(key, rule);
        }
        for (key, rule) in keys {
            if let Some(inner) = self.table_rule(rule) {
                let path = join(path, key);
                self.paragraph(&format!("### `{path}`\n\n{}", description(inner)));
                self.example(&path);
                self.keys(inner, self::keys(inner), &path);
            }
        }
    }

    /// What a value is, in a few words; `plural` is "s" in a list.
    fn type_of(&self, path: &str, rule: &'a Value, plural: &str) -> String {
        let rule = self.resolve(rule);
        if let Some(words) = words(rule) {
            let quoted: Vec<String> = words.iter().map(|(word, _)| format!("\"{word}\"")).collect();
            let quoted: Vec<&str> = quoted.iter().map(String::as_str).collect();
            return list(&quoted, "`", "or");
        }
        if let Some(choices) = rule["anyOf"].as_array() {
            let kinds: Vec<String> =
                choices.iter().map(|choice| self.type_of(path, choice, plural)).collect();
            return kinds.join(", or ");
        }
        let limits = limits(rule);
        match rule["type"].as_str() {
            _ if rule["oneOf"].is_array() => format!("[shape{plural}](#shapes)"),
            Some("object") => format!("[table{plural}](#{})", path.replace('.', "")),
            Some("array") if rule["items"]["type"] == "number" => {
                match (rule["minItems"].as_u64(), rule["maxItems"].as_u64()) {
                    (Some(2), Some(3)) => "vector".into(),
                    (Some(least), Some(most)) if least < most => format!("{least} or {most} numbers"),
                    (_, most) => format!("{} numbers", most.unwrap_or_default()),
                }
            }
            Some("array") => format!("list of {}", self.type_of(path, &rule["items"], "s")),
            Some("integer") => format!("whole number{limits}"),
            Some("number") => format!("number{limits}"),
            Some("boolean") => "`true` or `false`".into(),
            _ => "string".into(),
        }
    }

    /// What the words mean that a key may have as its value.
    fn words(&mut self, key: &str, rule: &'a Value) {
        let rule = self.resolve(rule);
        let rule = if rule["items"].is_object() { self.resolve(&rule["items"]) } else { rule };
        if let Some(choices) = rule["anyOf"].as_array() {
            return choices.iter().for_each(|choice| self.words(key, choice));
        }
        let Some(words) = words(rule) else { return };
        let mut text = format!("Words for `{key}`:\n\n");
        for (word, meaning) in words {
            let _ = writeln!(text, "- `\"{word}\"`: {meaning}");
        }
        self.paragraph(&text);
    }

    fn shapes(&mut self) {
        let rule = &self.schema["$defs"]["Shape"];
        let about = description(rule);
        self.paragraph(&format!("## Shapes\n\n{about} The examples are for 3D; in 2D, leave out z."));
        for variant in rule["oneOf"].as_array().into_iter().flatten() {
            for (kind, rule) in keys(variant) {
                // The description goes on with an example for messages, often a shortened one.
                let about = description(variant).split(": `").next().unwrap_or_default();
                self.paragraph(&format!("### `{kind}`\n\n{about}."));
                if let Some((_, example)) = SHAPES.iter().find(|(known, _)| *known == kind) {
                    self.code("toml", example);
                }
                match self.table_rule(rule) {
                    Some(rule) => self.keys(rule, keys(rule), kind),
                    None => {
                        let kind = self.type_of(kind, rule, "");
                        self.paragraph(&format!("Its value is a {kind}."));
                    }
                }
            }
        }
        // The last paragraph ends the page.
        self.text.truncate(self.text.trim_end().len());
        self.text.push('\n');
    }
}

/// The keys of a table: what it must have, in the order of the types, then the rest by name.
fn keys(table: &Value) -> Vec<(&str, &Value)> {
    let properties = &table["properties"];
    let required = table["required"].as_array().into_iter().flatten().filter_map(Value::as_str);
    let all = properties.as_object().into_iter().flatten().map(|(key, rule)| (key.as_str(), rule));
    let optional = all.filter(|(key, _)| !is_required(table, key));
    required.map(|key| (key, &properties[key])).chain(optional).collect()
}

fn is_required(table: &Value, key: &str) -> bool {
    table["required"].as_array().is_some_and(|required| required.iter().any(|r| r == key))
}

fn description(rule: &Value) -> &str {
    rule["description"].as_str().unwrap_or_default()
}

fn header(key: &str, rule: &Value) -> String {
    if rule["items"].is_object() { format!("[[{key}]]") } else { format!("[{key}]") }
}

fn join(path: &str, key: &str) -> String {
    if path.is_empty() { key.to_owned() } else { format!("{path}.{key}") }
}

fn row(rows: &mut String, cells: &[&str]) {
    let cells: Vec<String> = cells.iter().map(|cell| cell.replace('|', "\\|")).collect();
    let _ = writeln!(rows, "| {} |", cells.join(" | "));
}

/// The words that a value may be, each with its meaning.
fn words(rule: &Value) -> Option<Vec<(&str, &str)>> {
    let variants = rule["oneOf"].as_array()?;
    variants.iter().map(|v| Some((v["const"].as_str()?, description(v)))).collect()
}

/// The limits of a number, ready to follow "number".
fn limits(rule: &Value) -> String {
    let limit = |key: &str| rule[key].as_f64();
    match (limit("exclusiveMinimum"), limit("minimum"), limit("maximum")) {
        (Some(least), _, Some(most)) => format!(" greater than {least}, at most {most}"),
        (Some(least), _, None) => format!(" greater than {least}"),
        (None, Some(least), Some(most)) => format!(" from {least} to {most}"),
        (None, Some(least), None) => format!(", at least {least}"),
        (None, None, Some(most)) => format!(", at most {most}"),
        (None, None, None) => String::new(),
    }
}

fn unit(key: &str, rule: &Value) -> Option<&'static str> {
    let named = UNITS.iter().find(|(words, _)| description(rule).contains(words)).map(|(_, symbol)| *symbol);
    named.or(POINTS.contains(&key).then_some("m"))
}

/// A value as a scene file has it.
fn in_toml(value: &Value) -> String {
    match value {
        Value::Object(entries) => {
            let entries: Vec<String> =
                entries.iter().map(|(key, value)| format!("{key} = {}", in_toml(value))).collect();
            format!("{{ {} }}", entries.join(", "))
        }
        other => other.to_string(),
    }
}

/// What holds if a key is left out, and what the key means. Where the schema has no default, the description may end
/// in "...; this if left out."
fn default_and_meaning(rule: &Value, required: bool) -> (String, String) {
    const LEFT_OUT: &str = " if left out";
    let text = description(rule);
    if required {
        return ("**required**".into(), text.into());
    }
    if let Some(default) = rule.get("default") {
        return (format!("`{}`", in_toml(default)), text.into());
    }
    let clause = text.find(LEFT_OUT).and_then(|at| {
        let start = text[..at].rfind("; ")?;
        let sentence = text[at..].split(". ").next()?;
        Some((start, at + sentence.trim_end_matches('.').len()))
    });
    match clause {
        Some((start, end)) => {
            let default = text[start + 2..end].replacen(LEFT_OUT, "", 1);
            (default, format!("{}{}", &text[..start], &text[end..]))
        }
        None => ("none".into(), text.into()),
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use serde_json::json;

    use super::*;
    use crate::Scene;

    #[track_caller]
    fn assert_sound(text: &str, folder: &Path, overrides: &[String]) {
        let scene = Scene::parse("example.toml", text, folder, overrides)
            .unwrap_or_else(|error| panic!("{error:?}\n{text}"));
        let warnings: Vec<String> = scene.warnings().iter().map(ToString::to_string).collect();
        assert!(warnings.is_empty(), "{warnings:?}\n{text}");
    }

    #[test]
    fn the_example_is_a_scene_that_the_commands_work_with() {
        assert_sound(EXAMPLE, Path::new(""), &[]);
        let mut count = 0;
        for command in COMMANDS.lines().filter(|line| line.starts_with("meniscus run")) {
            let overrides: Vec<String> =
                command.split(" --set ").skip(1).map(|o| o.trim_matches('"').to_owned()).collect();
            count += overrides.len();
            assert_sound(EXAMPLE, Path::new(""), &overrides);
        }
        assert_eq!(count, 3);
    }

    #[test]
    fn the_examples_of_the_tables_make_one_scene() {
        let text: Vec<&str> = EXAMPLES.iter().map(|(_, text)| *text).collect();
        assert_sound(&text.join("\n"), Path::new(""), &[]);
    }

    #[test]
    fn every_example_of_a_shape_is_one() {
        let folder = tempfile::tempdir().expect("a folder");
        let tetrahedron = "v 0 0 0\nv 50 0 0\nv 0 50 0\nv 0 0 50\nf 1 3 2\nf 1 2 4\nf 1 4 3\nf 2 3 4\n";
        std::fs::write(folder.path().join("bunny.obj"), tetrahedron).expect("a mesh");
        for (kind, example) in SHAPES {
            assert!(
                example.starts_with(&format!("shape = {{ {kind} = ")) && !example.contains('\n'),
                "{kind}"
            );
            let size = if kind == "polygon" { "[1, 1]" } else { "[1, 1, 1]" };
            let text = format!("[domain]\nsize = {size}\ncells = 20\n[[liquid]]\n{example}\n");
            assert_sound(&text, folder.path(), &[]);
        }
    }

    #[test]
    fn every_section_has_an_example_and_every_example_a_section() {
        let page = reference();
        for (name, example) in EXAMPLES.iter().chain(&SHAPES) {
            assert!(page.contains(&format!("```toml\n{}\n```", example.trim_end())), "{name} has no section");
        }
        let mut without = Vec::new();
        for section in page.split("\n## ").skip(1).flat_map(|section| section.split("\n### ")) {
            // Tables of several kinds, and all shapes together, have examples in their parts.
            if !section.contains("```toml") && section.contains("| key |") {
                without.push(section.lines().next().unwrap_or_default().to_owned());
            }
        }
        assert!(without.is_empty(), "add an example for {without:?}");
    }

    #[test]
    fn every_definition_is_in_the_page() {
        let (page, schema) = (reference(), schema::built());
        let rules = schema["$defs"].as_object().expect("definitions").values().chain([schema]);
        let variants = |rule: &'static Value| rule["oneOf"].as_array().into_iter().flatten().chain([rule]);
        for rule in rules.flat_map(variants) {
            for (key, _) in keys(rule) {
                let as_row = page.contains(&format!("\n| `{key}` |"));
                let as_title = [format!("## `{key}`"), format!("## `[{key}]`"), format!("## `[[{key}]]`")];
                assert!(
                    as_row || key == "kind" || as_title.iter().any(|t| page.contains(t)),
                    "{key} is missing"
                );
            }
            for (word, meaning) in words(rule).into_iter().flatten() {
                assert!(page.contains(&format!("- `\"{word}\"`: {meaning}\n")), "{word} is missing");
            }
        }
    }

    #[test]
    fn links_lead_to_titles() {
        let page = reference();
        let slug = |title: &str| -> String {
            let kept = title.chars().filter(|c| c.is_alphanumeric() || "-_ ".contains(*c));
            kept.map(|c| if c == ' ' { '-' } else { c.to_ascii_lowercase() }).collect()
        };
        let titles: Vec<String> = page
            .lines()
            .filter(|line| line.starts_with("##"))
            .map(|line| slug(line.trim_start_matches('#').trim_start()))
            .collect();
        let links: Vec<&str> =
            page.split("](#").skip(1).map(|rest| rest.split(')').next().unwrap_or_default()).collect();
        assert!(links.len() > 10);
        for link in links {
            assert_eq!(titles.iter().filter(|title| *title == link).count(), 1, "#{link}");
        }
    }

    #[test]
    fn defaults_come_from_the_schema_or_the_description() {
        let of = |rule: Value| default_and_meaning(&rule, false);
        let pair = |default: &str, meaning: &str| (default.to_owned(), meaning.to_owned());
        let size = json!({ "description": "A size.", "default": 2.5 });
        assert_eq!(of(size.clone()), pair("`2.5`", "A size."));
        assert_eq!(default_and_meaning(&size, true), pair("**required**", "A size."));
        assert_eq!(of(json!({ "description": "A size; 9.81 if left out." })), pair("9.81", "A size."));
        let more = "An axis, of any length; z, or x if left out, or y. Only in 3D.";
        assert_eq!(
            of(json!({ "description": more })),
            pair("z, or x, or y", "An axis, of any length. Only in 3D.")
        );
        assert_eq!(of(json!({ "description": "A line." })), pair("none", "A line."));
    }

    #[test]
    fn types_say_their_limits_and_units() {
        let page = Page { schema: schema::built(), text: String::new() };
        let rule = |table: &str, key: &str| &page.schema["$defs"][table]["properties"][key];
        let of = |table: &str, key: &str| page.type_of(key, rule(table, key), "");
        assert_eq!(of("Time", "cfl"), "number greater than 0, at most 100");
        assert_eq!(of("Domain", "cells"), "whole number, at least 1");
        assert_eq!(of("Render", "camera"), "[table](#camera)");
        assert_eq!(of("Camera", "to"), "3 numbers");
        assert_eq!(of("Render", "show"), "`\"speed\"`, `\"liquid\"` or `\"modes\"`");
        let units = [("Liquid", "velocity"), ("Sphere", "centre"), ("HalfSpace", "normal"), ("Sink", "stop")]
            .map(|(table, key)| unit(key, rule(table, key)));
        assert_eq!(units, [Some("m/s"), Some("m"), None, Some("s")]);
        assert_eq!(unit("gravity", &page.schema["properties"]["gravity"]), Some("m/s²"));
    }
}
