//! `render` and `export`.

use std::fs;
use std::path::Path;

use crate::common::{DAM_3D, Sandbox, stats};
use serde_json::Value;

/// The size of a PNG picture, all of whose parts must be whole.
fn png_size(path: &Path) -> [u32; 2] {
    let bytes = fs::read(path).expect("a picture");
    assert!(bytes.starts_with(b"\x89PNG\r\n\x1a\n"));
    let word = |at: usize| u32::from_be_bytes(bytes[at..at + 4].try_into().expect("four bytes"));
    let (mut at, mut kinds) = (8, Vec::new());
    while at < bytes.len() {
        let end = at + 8 + word(at) as usize;
        assert_eq!(word(end), crc32(&bytes[at + 4..end]), "a chunk of {}", path.display());
        kinds.push(&bytes[at + 4..at + 8]);
        at = end + 4;
    }
    assert!(kinds[0] == b"IHDR" && kinds.contains(&&b"IDAT"[..]) && kinds.ends_with(&[b"IEND"]));
    [word(16), word(20)]
}

fn crc32(bytes: &[u8]) -> u32 {
    !bytes.iter().fold(!0, |crc, &byte| {
        (0..8).fold(crc ^ u32::from(byte), |crc, _| (crc >> 1) ^ (0xedb8_8320 & (crc & 1).wrapping_neg()))
    })
}

#[test]
fn pictures_in_two_and_three_dimensions() {
    let sandbox = Sandbox::new();
    sandbox.write("dam3.toml", DAM_3D);
    for scene in ["dam", "dam3"] {
        sandbox.ends(0, &["run", &format!("{scene}.toml"), "-o", scene, "--frames", "2"]);
        let picture = |frame: u32| sandbox.path(&format!("{scene}/pictures/{scene}.{frame:04}.png"));
        sandbox.ends(0, &["render", scene, "--frame", "2", "--size", "97x65"]);
        assert_eq!(png_size(&picture(2)), [97, 65]);
        assert!(
            !picture(1).exists()
                && !sandbox.path(scene).join("pictures").join(format!("{scene}.gif")).exists()
        );

        let ended = sandbox.ends(0, &["render", scene, "--size", "120x90", "--threads", "1"]);
        assert_eq!(ended.stderr, "");
        let one_thread: Vec<Vec<u8>> = (0..=2).map(|n| fs::read(picture(n)).expect("a picture")).collect();
        assert!(one_thread[0] != one_thread[2], "the liquid moves");
        sandbox.ends(0, &["render", scene, "--size", "120x90", "--threads", "2"]);
        for (frame, expected) in one_thread.iter().enumerate() {
            let path = picture(frame as u32);
            assert_eq!(png_size(&path), [120, 90]);
            assert!(fs::read(&path).expect("a picture") == *expected, "threads change frame {frame}");
        }
        let gif = fs::read(sandbox.path(&format!("{scene}/pictures/{scene}.gif"))).expect("an animation");
        assert!(gif.starts_with(b"GIF89a") && gif.ends_with(b";"));
        assert_eq!(gif[6..10], [120, 0, 90, 0]);
    }
    fs::remove_dir_all(sandbox.path("dam/pictures")).expect("pictures");
    sandbox.ends(0, &["render", "dam", "--every", "2", "--size", "97x65"]);
    assert_eq!(sandbox.names("dam/pictures"), ["dam.0000.png", "dam.0002.png", "dam.gif"]);
    sandbox.ends(2, &["render", "dam", "--every", "0"]);
    sandbox.ends(2, &["render", "dam", "--every", "2", "--frame", "1"]);
    sandbox.ends(2, &["render", "dam", "--frame", "3"]).says(&["no frame 3", "0 to 2"]);
    for size in ["100", "0x0", "15x100", "100x9000", "ax b", "-1x20"] {
        sandbox.ends(2, &["render", "dam", "--size", size]);
    }
}

/// A scene with an exported surface as a solid: it is refused if the surface is not closed.
fn scene_of_mesh(sandbox: &Sandbox, file: &str) -> [&'static str; 2] {
    let start = DAM_3D.split("[[solid]]").next().expect("a start");
    let text = format!("{start}[[solid]]\nname = \"ice\"\nshape = {{ mesh = {{ file = \"{file}\" }} }}\n");
    // Liquid that stands out of the ice.
    sandbox.write("ice.toml", &text.replace("[0.4, 0.6, 1.0]", "[0.4, 0.9, 1.0]"));
    ["check", "ice.toml"]
}

#[test]
fn exported_surfaces_are_closed_when_read_back() {
    let sandbox = Sandbox::new();
    sandbox.write("dam3.toml", DAM_3D);
    sandbox.ends(0, &["run", "dam3.toml", "-o", "out", "--frames", "3"]);
    for format in ["ply", "obj"] {
        let ended = sandbox.ends(0, &["export", "out", "--format", format]);
        assert!(ended.stdout.contains("4 files") && ended.stderr.is_empty(), "{}", ended.stdout);
        for frame in [0, 3] {
            let file = format!("out/export/dam3.{frame:04}.{format}");
            sandbox.ends(0, &scene_of_mesh(&sandbox, &file));
            // The test can fail: without its last triangle the surface has a hole.
            if format == "obj" {
                let whole = fs::read_to_string(sandbox.path(&file)).expect("a surface");
                let (cut, _) = whole.trim_end().rsplit_once('\n').expect("lines");
                sandbox.write("cut.obj", cut);
                sandbox.ends(2, &scene_of_mesh(&sandbox, "cut.obj")).says(&["not a closed surface"]);
            }
        }
    }
}

#[test]
fn particles_are_exported_where_frames_keep_them() {
    let sandbox = Sandbox::new();
    sandbox.ends(0, &["run", "dam.toml", "-o", "out", "--frames", "2"]);
    sandbox.ends(0, &["export", "out", "--format", "ply", "--particles", "--frame", "2"]);
    assert_eq!(sandbox.names("out/export"), ["dam.0002.particles.ply"]);
    let bytes = fs::read(sandbox.path("out/export/dam.0002.particles.ply")).expect("particles");
    let header = String::from_utf8_lossy(&bytes[..bytes.len().min(400)]).into_owned();
    let particles = stats(&sandbox.path("out")).last().expect("a line")["particles"].clone();
    assert!(header.contains(&format!("element vertex {particles}\n")), "{header}");

    sandbox.ends(2, &["export", "out", "--format", "obj", "--particles"]).says(&["--format ply"]);
    sandbox.ends(2, &["export", "out", "--format", "stl"]);
    sandbox.ends(2, &["export", "out", "--format", "ply", "--frame", "9"]).says(&["no frame 9", "0 to 2"]);
    sandbox.ends(0, &["run", "dam.toml", "-o", "bare", "--frames", "1", "--set", "output.particles=false"]);
    sandbox.ends(2, &["export", "bare", "--format", "ply", "--particles"]).says(&["output.particles=true"]);
    sandbox.ends(0, &["export", "bare", "--format", "ply"]);
}

/// A body that falls beside a solid, in smoke.
const FALLING: &str = r#"
[domain]
size = [1.0, 1.0]
cells = 24
[time]
frames = 2
fps = 24.0
[fluid]
density = 1.2
[[smoke]]
shape = { box = { from = [0.0, 0.0], to = [1.0, 0.2] } }
[[solid]]
name = "a \"post\", fixed"
shape = { box = { from = [0.1, 0.0], to = [0.2, 0.5] } }
[[body]]
name = "ball"
shape = { sphere = { centre = [0.6, 0.7], radius = 0.1 } }
density = 1000.0
"#;

#[test]
fn smoke_and_poses_are_exported() {
    let sandbox = Sandbox::new();
    sandbox.write("falling.toml", FALLING);
    sandbox.ends(0, &["run", "falling.toml", "-o", "out"]);
    sandbox.ends(0, &["export", "out", "--format", "ply", "--smoke", "--frame", "2"]);
    let bytes = fs::read(sandbox.path("out/export/falling.0002.smoke.ply")).expect("smoke");
    let text = String::from_utf8_lossy(&bytes).into_owned();
    let (head, _) = text.split_once("end_header\n").expect("a head");
    let count: usize =
        head.split_once("element vertex ").expect("vertices").1.lines().next().unwrap().parse().unwrap();
    assert!(count > 200, "{head}");
    let of_markers = bytes.len() - head.len() - "end_header\n".len();
    assert_eq!(of_markers, 16 * count, "three coordinates and the number of the smoke");

    sandbox.ends(0, &["export", "out", "--format", "csv", "--poses"]);
    let table = fs::read_to_string(sandbox.path("out/export/falling.poses.csv")).expect("a table");
    let lines: Vec<&str> = table.lines().collect();
    assert_eq!(lines[0], "frame,time,name,x,y,qx,qy,qz,qw");
    assert_eq!(lines[1], "0,0,\"a \"\"post\"\", fixed\",0,0,0,0,0,1");
    assert_eq!(lines[2], "0,0,\"ball\",0,0,0,0,0,1", "moved by nothing from where the scene has it");
    let numbers: Vec<f64> = lines[6].split(',').skip(3).map(|word| word.parse().expect("a number")).collect();
    let [x, y, _, _, qz, qw] = numbers[..] else { panic!("{numbers:?}") };
    let (sine, cosine) = (2.0 * qz * qw, 1.0 - 2.0 * qz * qz);
    let centre = [cosine * 0.6 - sine * 0.7 + x, sine * 0.6 + cosine * 0.7 + y];
    let stats = stats(&sandbox.path("out"));
    let position = &stats.last().expect("a line")["bodies"][0]["position"];
    for (axis, found) in centre.into_iter().enumerate() {
        assert!((found - position[axis].as_f64().expect("a number")).abs() < 1e-12, "{centre:?} {position}");
    }
    assert!(centre[1] < 0.69, "it has fallen: {centre:?}");

    sandbox.ends(2, &["export", "out", "--format", "csv", "--smoke"]).says(&["--format ply"]);
    sandbox.ends(2, &["export", "out", "--format", "ply", "--poses"]).says(&["--format csv"]);
    sandbox.ends(0, &["run", "dam.toml", "-o", "bare", "--frames", "1"]);
    sandbox.ends(2, &["export", "bare", "--format", "ply", "--smoke"]).says(&["no [[smoke]]"]);
    sandbox.ends(2, &["export", "bare", "--format", "csv", "--poses"]).says(&["no [[solid]]"]);
}

/// Two bubbles in water under open air, in 32 x 24 cells.
const BUBBLES: &str = r#"
[domain]
size = [1.0, 0.75]
cells = 32
open = ["+y"]
[time]
frames = 3
fps = 48.0
[air]
model = "bubbles"
[[liquid]]
shape = { difference = [
    { box = { from = [0.0, 0.0], to = [1.0, 0.6] } },
    { sphere = { centre = [0.25, 0.2], radius = 0.12 } },
    { sphere = { centre = [0.7, 0.25], radius = 0.15 } },
] }
"#;

/// The lines of a table, with the names of its columns.
fn table(path: &Path) -> (Vec<String>, Vec<Vec<f64>>) {
    let text = fs::read_to_string(path).expect("a table");
    let mut lines = text.lines();
    let names = lines.next().expect("a head").split(',').map(String::from).collect();
    let numbers = |line: &str| line.split(',').map(|word| word.parse().expect("a number")).collect();
    (names, lines.map(numbers).collect())
}

/// A bubble of `stats.jsonl` as a line of a table.
fn line_of(substep: &Value, bubble: &Value) -> Vec<f64> {
    let number = |value: &Value| value.as_f64().expect("a number");
    let vector = |name: &str| bubble[name].as_array().expect("a vector").iter().map(number);
    let one = |name: &str| number(&bubble[name]);
    let mut line = vec![number(&substep["frame"]), number(&substep["time"])];
    line.extend(["id", "volume", "rest_volume", "pressure"].map(one));
    line.extend(vector("centroid").chain(vector("velocity")));
    line.extend(["area", "age"].map(one));
    line
}

#[test]
fn bubbles_are_exported_as_a_table_that_agrees_with_the_statistics() {
    let sandbox = Sandbox::new();
    sandbox.write("two.toml", BUBBLES);
    sandbox.ends(0, &["run", "two.toml", "-o", "out"]);
    let ended = sandbox.ends(0, &["export", "out", "--format", "csv"]);
    assert!(
        ended.stdout.contains("out/export/two.bubbles.csv") && ended.stderr.is_empty(),
        "{}",
        ended.stdout
    );
    let (names, lines) = table(&sandbox.path("out/export/two.bubbles.csv"));
    assert_eq!(names.join(","), "frame,time,id,volume,rest_volume,pressure,x,y,vx,vy,area,age");
    assert_eq!(lines.iter().filter(|line| line[0] == 0.0).count(), 2, "the start is a frame too");

    let substeps = stats(&sandbox.path("out"));
    for frame in 1..=3 {
        let last = substeps.iter().rfind(|substep| substep["frame"] == frame).expect("a substep");
        let bubbles = last["bubbles"].as_array().expect("bubbles");
        let found: Vec<&Vec<f64>> = lines.iter().filter(|line| line[0] == f64::from(frame)).collect();
        assert!(!bubbles.is_empty() && bubbles.len() == found.len());
        for (bubble, found) in bubbles.iter().zip(found) {
            for (a, b) in line_of(last, bubble).iter().zip(found) {
                // The reader of JSON may round in the last place.
                assert!((a - b).abs() <= 1e-15 * a.abs(), "{bubble} and {found:?}");
            }
        }
    }

    sandbox.ends(0, &["export", "out", "--format", "csv", "--frame", "2"]);
    let (_, one) = table(&sandbox.path("out/export/two.0002.bubbles.csv"));
    let expected: Vec<&Vec<f64>> = lines.iter().filter(|line| line[0] == 2.0).collect();
    assert_eq!(one.iter().collect::<Vec<_>>(), expected);

    // Surfaces know the bubbles, and pictures show them.
    sandbox.ends(0, &["export", "out", "--format", "obj", "--frame", "1"]);
    let outline = fs::read_to_string(sandbox.path("out/export/two.0001.obj")).expect("an outline");
    assert!(outline.contains("g bubble_1\n") && outline.contains("g bubble_2\n"));
    sandbox.ends(0, &["render", "out", "--frame", "1", "--size", "97x65"]);

    sandbox.ends(2, &["export", "out", "--format", "csv", "--frame", "9"]).says(&["no frame 9", "0 to 3"]);
    sandbox.ends(2, &["export", "out", "--format", "csv", "--particles"]).says(&["--format ply"]);
    sandbox.flip_byte("out/frames/two.0002.frame");
    sandbox.ends(2, &["export", "out", "--format", "csv"]).says(&["two.0002.frame", "is damaged"]);
}

#[test]
fn a_run_without_bubbles_has_no_table_and_says_why() {
    let sandbox = Sandbox::new();
    sandbox.ends(0, &["run", "dam.toml", "-o", "void", "--frames", "1"]);
    let ended = sandbox.ends(2, &["export", "void", "--format", "csv"]);
    ended.says(&["no bubbles", "air.model = \"void\"", "--set air.model=bubbles"]);
    // The fix works; a table without bubbles has its head only.
    let set = ["--set", "air.model=bubbles", "--set", "domain.open=[\"+y\"]"];
    sandbox.ends(0, &[&["run", "dam.toml", "-o", "open", "--frames", "1"], &set[..]].concat());
    sandbox.ends(0, &["export", "open", "--format", "csv"]);
    let (names, lines) = table(&sandbox.path("open/export/dam.bubbles.csv"));
    assert!(names.len() == 12 && lines.is_empty(), "{lines:?}");
}
