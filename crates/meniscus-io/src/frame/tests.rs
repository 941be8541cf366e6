use std::borrow::Cow;
use std::fs;
use std::path::PathBuf;
use std::sync::Arc;

use meniscus_core::grid::{Blocks, block_len};
use meniscus_core::shape::Rotation;
use proptest::prelude::*;

use super::distance::PackedDistance;
use super::faces::PackedFaces;
use super::labels::PackedLabels;
use super::packed::PackedChannel;
use super::*;

fn ripple(x: f32) -> f32 {
    (1.7 * x).sin() + 0.3 * (5.3 * x).cos()
}

fn frame<const D: usize>(
    cells: [usize; D],
    mask: u64,
    height: f32,
    particles: Vec<[f32; D]>,
) -> Frame<'static, D> {
    let blocks =
        Arc::new(Blocks::new(cells, |c| mask >> (c.iter().fold(0, |h, &c| 3 * h + c) % 64) & 1 == 1));
    let velocity: Vec<_> = particles.iter().map(|x| x.map(ripple)).collect();
    let level_set = Field::from_fn(blocks.clone(), 5.0, |c| c[1] as f32 - height + ripple(c[0] as f32));
    let faces = FaceField::from_fn(blocks, 0.0, |axis, c| {
        c.iter().enumerate().map(|(a, &c)| ripple(c as f32 * 0.1 + (axis + a) as f32)).sum()
    });
    let solids = vec![RigidTransform { rotation: Rotation::identity(), translation: [0.25; D] }; 2];
    let grid = Grid { origin: [-1.0; D], dx: 0.125, cells };
    let frame = Frame::new(17, 0.7, grid)
        .with(names::LEVEL_SET, Channel::Distance(Cow::Owned(level_set)))
        .with(names::VELOCITY, Channel::Faces(Cow::Owned(faces)))
        .with(names::SOLIDS, Channel::Poses(Cow::Owned(solids)))
        .with(names::smoke(0), Channel::Points(Points::default()))
        .with(names::smoke(1), Channel::Points(Points::at(vec![[3.25; D], [1.5; D]])));
    match particles.is_empty() {
        true => frame,
        false => frame.with(names::PARTICLES, Channel::Points(Points::moving(particles, velocity))),
    }
}

/// A frame with two bubbles, parted by a wall at x = 9, in open air that begins at x = 21.
fn with_bubbles<const D: usize>(frame: Frame<'static, D>) -> Frame<'static, D> {
    let bubble = |id: u32| FrameBubble {
        id,
        volume: 0.1 + f64::from(id),
        rest_volume: 1.0 / 3.0,
        pressure: -1e3 / f64::from(id),
        centroid: [0.7; D],
        velocity: [-0.1; D],
        area: 2.0,
        age: 0.3,
    };
    let level_set = frame.distance(names::LEVEL_SET).unwrap();
    let mut bubble_of = Field::from_fn(level_set.blocks().clone(), NO_AIR, |c| match c[0] {
        0..9 => 300,
        9 => NO_AIR,
        10..21 => 4,
        _ => OPEN_AIR,
    });
    for (id, &phi) in bubble_of.values_mut().iter_mut().zip(level_set.values()) {
        *id = if phi < 0.0 { NO_AIR } else { *id };
    }
    frame
        .with(names::BUBBLE, Channel::Labels(Cow::Owned(bubble_of)))
        .with(names::BUBBLES, Channel::Bubbles(Cow::Owned(vec![bubble(4), bubble(300)])))
}

fn file(folder: &tempfile::TempDir, name: &str) -> PathBuf {
    folder.path().join(name)
}

fn check_round_trip<const D: usize>(frame: &Frame<D>) {
    let folder = tempfile::tempdir().unwrap();
    let (path, again) = (file(&folder, "a.frame"), file(&folder, "b.frame"));
    let written = write_frame(&path, frame).unwrap();
    assert_eq!(written, fs::metadata(&path).unwrap().len());
    assert_eq!(frame_dimension(&path).unwrap(), D);
    let back = read_frame::<D>(&path).unwrap();

    assert_eq!((back.frame, back.time, back.grid), (frame.frame, frame.time, frame.grid));
    assert!(back.channels.keys().eq(frame.channels.keys()));
    for name in [names::SOLIDS, names::BUBBLE, names::BUBBLES] {
        assert!(back.channels.get(name) == frame.channels.get(name), "{name} is exact");
    }
    let (liquid, stored) = (frame.liquid().unwrap(), back.liquid().unwrap());
    assert_eq!(stored.level_set.blocks(), liquid.level_set.blocks());
    assert_eq!(stored.level_set.background(), liquid.level_set.background().clamp(-3.0, 3.0));
    for (phi, stored) in liquid.level_set.values().iter().zip(stored.level_set.values()) {
        assert!((phi.clamp(-3.0, 3.0) - stored).abs() < 1e-4 && (*phi < 0.0) == (*stored < 0.0));
    }
    for block in 0..liquid.level_set.blocks().len() {
        let is_near = liquid.level_set.block(block).iter().any(|&phi| phi < 2.9999);
        let is_far = liquid.level_set.block(block).iter().all(|&phi| phi >= 3.0);
        let values = |axis: usize| liquid.velocity.axes[axis].block(block);
        let largest = (0..D).flat_map(|a| values(a).iter()).fold(0.0f32, |m, v| m.max(v.abs()));
        for axis in 0..D {
            for (v, w) in values(axis).iter().zip(stored.velocity.axes[axis].block(block)) {
                assert!(!is_near || (v - w).abs() <= 5e-4 * largest, "{v} {w}");
                assert!(!is_far || *w == 0.0);
            }
        }
    }

    // What was read is written as the same bytes.
    write_frame(&again, &back).unwrap();
    let second = read_frame::<D>(&again).unwrap();
    assert_eq!(second.distance(names::LEVEL_SET), back.distance(names::LEVEL_SET));
    write_frame(&again, frame).unwrap();
    assert!(fs::read(&path).unwrap() == fs::read(&again).unwrap());
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]
    #[test]
    fn frames_come_back(
        mask: u64,
        height in -3.0f32..30.0,
        two in prop::collection::vec(prop::array::uniform2(0.0f32..30.0), 0..30),
        three in prop::collection::vec(prop::array::uniform3(0.0f32..16.0), 0..30),
    ) {
        check_round_trip(&with_bubbles(frame([30, 33], mask, height, two.clone())));
        check_round_trip(&with_bubbles(frame([16, 17, 23], mask, height, three.clone())));
        check_round_trip(&frame([30, 33], mask, height, two));
        check_round_trip(&frame([16, 17, 23], mask, height, three));
    }
}

#[test]
fn the_same_bytes_for_any_number_of_threads() {
    let folder = tempfile::tempdir().unwrap();
    let frame = frame([40, 41, 39], u64::MAX, 20.0, vec![[1.0, 2.0, 3.0]; 5]);
    let run = |threads: usize| {
        let path = file(&folder, &format!("{threads}.frame"));
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| write_frame(&path, &frame)).unwrap();
        fs::read(&path).unwrap()
    };
    assert!(run(1) == run(2) && run(1) == run(3));
}

#[test]
fn deep_liquid_and_far_air_cost_a_few_bytes() {
    let folder = tempfile::tempdir().unwrap();
    let cells = [128, 128, 128];
    let blocks = Arc::new(Blocks::all(cells));
    let tank = |level_set: Field<f32, 3>| -> Frame<'static, 3> {
        Frame::new(0, 0.0, Grid { origin: [0.0; 3], dx: 0.01, cells })
            .with(
                names::VELOCITY,
                Channel::Faces(Cow::Owned(FaceField::new(level_set.blocks().clone(), 0.0))),
            )
            .with(names::LEVEL_SET, Channel::Distance(Cow::Owned(level_set)))
    };
    let flat = tank(Field::from_fn(blocks.clone(), 3.0, |c| c[1] as f32 - 63.3));
    let bytes = write_frame(file(&folder, "tank.frame"), &flat).unwrap();
    assert!(bytes < 5 * blocks.len() as u64, "{bytes} bytes for {} blocks", blocks.len());
    assert_eq!(blocks.slots(), blocks.len() * block_len::<3>());

    // A bubble in the water and the air above it: two runs for each block on the way, and a list of one.
    let ball = |c: [usize; 3]| {
        let squared: f32 = c.map(|c| (c as f32 - 40.0).powi(2)).iter().sum();
        squared.sqrt() - 12.0
    };
    let level_set = Field::from_fn(blocks.clone(), 3.0, |c| (c[1] as f32 - 63.3).max(-ball(c)));
    let bubbly = tank(level_set.clone());
    let plain = write_frame(file(&folder, "void.frame"), &bubbly).unwrap();
    let bubble_of = Field::from_fn(blocks.clone(), NO_AIR, |c| if ball(c) < 1.0 { 1 } else { OPEN_AIR });
    let bubble = FrameBubble {
        id: 1,
        volume: 1.0,
        rest_volume: 1.0,
        pressure: 0.0,
        centroid: [0.4; 3],
        velocity: [0.0; 3],
        area: 1.0,
        age: 0.0,
    };
    assert!(PackedLabels::new(&bubble_of, Some(&level_set)).run_count() < 100);
    let bubbly = bubbly
        .with(names::BUBBLE, Channel::Labels(Cow::Owned(bubble_of)))
        .with(names::BUBBLES, Channel::Bubbles(Cow::Owned(vec![bubble])));
    let bytes = write_frame(file(&folder, "bubble.frame"), &bubbly).unwrap();
    assert!(bytes < plain + 400, "{bytes} bytes, {plain} without the bubble");
}

#[test]
fn damage_and_the_wrong_dimension_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    let path = file(&folder, "a.frame");
    write_frame(&path, &with_bubbles(frame([16, 17, 23], u64::MAX, 9.0, vec![[1.0; 3]; 40]))).unwrap();
    let error = read_frame::<2>(&path).unwrap_err().to_string();
    assert!(error.contains("holds a frame in three dimensions, not a frame in two dimensions"), "{error}");
    let whole = fs::read(&path).unwrap();
    for at in (0..whole.len()).step_by(97) {
        let mut bytes = whole.clone();
        bytes[at] ^= 0x10;
        fs::write(&path, &bytes).unwrap();
        assert!(read_frame::<3>(&path).is_err(), "byte {at}");
        fs::write(&path, &whole[..at]).unwrap();
        assert!(read_frame::<3>(&path).is_err(), "{at} bytes");
    }
    crate::write_checkpoint(&path, Kind::checkpoint(*b"drop", 1), &1).unwrap();
    assert!(frame_dimension(&path).unwrap_err().to_string().contains("holds a checkpoint, not a frame"));
}

/// Payloads that pass the checksum but contradict themselves.
#[test]
fn contradictions_are_refused() {
    let good = || Packed::new(&with_bubbles(frame([16, 17, 23], u64::MAX, 9.0, vec![[1.0; 3]; 40])));
    assert!(good().unpack().is_ok());
    fn channel<'a>(packed: &'a mut Packed<3>, name: &str) -> &'a mut PackedChannel<3> {
        packed.channels.get_mut(name).unwrap()
    }
    let spoil: [fn(&mut Packed<3>); 9] = [
        |p| match channel(p, names::BUBBLE) {
            PackedChannel::Labels(labels) => labels.spoil_length(),
            _ => unreachable!(),
        },
        |p| match channel(p, names::BUBBLE) {
            PackedChannel::Labels(labels) => labels.spoil_label(),
            _ => unreachable!(),
        },
        |p| match channel(p, names::BUBBLES) {
            PackedChannel::Bubbles(bubbles) => bubbles.push(bubbles[0]),
            _ => unreachable!(),
        },
        |p| match channel(p, names::PARTICLES) {
            PackedChannel::Points(points) => points.spoil(),
            _ => unreachable!(),
        },
        |p| p.grid.cells[0] += 1,
        |p| p.blocks = Some(Blocks::new([16, 17, 23], |c| c[0] == 0)),
        |p| p.blocks = None,
        |p| {
            let small = Field::<f32, 3>::new(Arc::new(Blocks::all([8; 3])), 3.0);
            *channel(p, names::LEVEL_SET) = PackedChannel::Distance(PackedDistance::new(&small));
        },
        |p| {
            let small = FaceField::<f32, 3>::new(Arc::new(Blocks::all([8; 3])), 0.0);
            *channel(p, names::VELOCITY) = PackedChannel::Faces(PackedFaces::new(&small, &[]));
        },
    ];
    for (k, spoil) in spoil.into_iter().enumerate() {
        let mut packed = good();
        spoil(&mut packed);
        assert!(packed.unpack().is_err(), "{k}");
    }
}

/// What other systems than a liquid on a grid keep: no fields, but surfaces and numbers.
#[test]
fn meshes_and_numbers_come_back() {
    let folder = tempfile::tempdir().unwrap();
    let path = file(&folder, "a.frame");
    let count = 700;
    let position: Vec<[f32; 2]> = (0..count).map(|k| [k as f32, ripple(k as f32)]).collect();
    let velocity: Vec<[f32; 2]> = position.iter().map(|x| x.map(ripple)).collect();
    let thickness: Vec<f32> = position.iter().map(|x| 1e-3 * x[1]).collect();
    let faces: Vec<[u32; 2]> = (1..count).map(|k| [k - 1, k]).collect();
    let mesh = Mesh {
        of_vertices: [
            ("velocity".to_string(), Attribute::Vectors(velocity.clone().into())),
            ("thickness".to_string(), Attribute::Scalars(thickness.clone().into())),
        ]
        .into(),
        of_faces: [("fluid".to_string(), Attribute::Labels((1..count).map(|k| k % 3).collect()))].into(),
        position: position.into(),
        faces: faces.into(),
    };
    let numbers: BTreeMap<_, _> =
        [("modes".to_string(), vec![0.1, -1e-300, f64::MAX]), ("energy".to_string(), vec![3.0])].into();
    let frame = Frame::<2>::new(3, 0.5, Grid { origin: [0.0; 2], dx: 0.01, cells: [40, 30] })
        .with("interface", Channel::Mesh(mesh.clone()))
        .with("flow", Channel::Numbers(Cow::Owned(numbers)));
    write_frame(&path, &frame).unwrap();
    let back = read_frame::<2>(&path).unwrap();
    assert_eq!(back.numbers("flow"), frame.numbers("flow"));
    assert!(back.liquid().is_none() && back.numbers("interface").is_none());
    let stored = back.mesh("interface").unwrap();
    assert_eq!((&stored.position, &stored.faces), (&mesh.position, &mesh.faces));
    assert_eq!(stored.of_faces, mesh.of_faces);
    let Some(Attribute::Vectors(vectors)) = stored.of_vertices.get("velocity") else { panic!("vectors") };
    let Some(Attribute::Scalars(scalars)) = stored.of_vertices.get("thickness") else { panic!("scalars") };
    assert!(velocity.iter().flatten().zip(vectors.iter().flatten()).all(|(v, w)| (v - w).abs() < 7e-4));
    assert!(thickness.iter().zip(scalars.iter()).all(|(v, w)| (v - w).abs() < 7e-7));

    let mut beyond = mesh;
    beyond.faces.to_mut()[0] = [0, count];
    write_frame(&path, &Frame::new(3, 0.5, frame.grid).with("interface", Channel::Mesh(beyond))).unwrap();
    let error = read_frame::<2>(&path).unwrap_err().to_string();
    assert!(error.contains("its mesh joins vertices beyond the 700 that it has"), "{error}");
}
