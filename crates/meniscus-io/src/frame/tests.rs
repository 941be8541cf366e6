use std::fs;
use std::path::PathBuf;

use meniscus_core::grid::block_len;
use meniscus_core::shape::Rotation;
use proptest::prelude::*;

use super::*;

fn ripple(x: f32) -> f32 {
    (1.7 * x).sin() + 0.3 * (5.3 * x).cos()
}

fn frame<const D: usize>(cells: [usize; D], mask: u64, height: f32, particles: Vec<[f32; D]>) -> Frame<D> {
    let blocks =
        Arc::new(Blocks::new(cells, |c| mask >> (c.iter().fold(0, |h, &c| 3 * h + c) % 64) & 1 == 1));
    let velocity = particles.iter().map(|x| x.map(ripple)).collect();
    Frame {
        frame: 17,
        time: 0.7,
        grid: Grid { origin: [-1.0; D], dx: 0.125, cells },
        level_set: Field::from_fn(blocks.clone(), 5.0, |c| c[1] as f32 - height + ripple(c[0] as f32)),
        velocity: FaceField::from_fn(blocks, 0.0, |axis, c| {
            c.iter().enumerate().map(|(a, &c)| ripple(c as f32 * 0.1 + (axis + a) as f32)).sum()
        }),
        particles: (!particles.is_empty()).then_some(FrameParticles { position: particles, velocity }),
        smoke: vec![Vec::new(), vec![[3.25; D], [1.5; D]]],
        solids: vec![RigidTransform { rotation: Rotation::identity(), translation: [0.25; D] }; 2],
        air: None,
    }
}

/// A frame with two bubbles, parted by a wall at x = 9, in open air that begins at x = 21.
fn with_bubbles<const D: usize>(mut frame: Frame<D>) -> Frame<D> {
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
    let mut bubble_of = Field::from_fn(frame.level_set.blocks().clone(), NO_AIR, |c| match c[0] {
        0..9 => 300,
        9 => NO_AIR,
        10..21 => 4,
        _ => OPEN_AIR,
    });
    for (id, &phi) in bubble_of.values_mut().iter_mut().zip(frame.level_set.values()) {
        *id = if phi < 0.0 { NO_AIR } else { *id };
    }
    frame.air = Some(FrameAir { bubbles: vec![bubble(4), bubble(300)], bubble_of });
    frame
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
    assert_eq!(back.solids, frame.solids);
    assert_eq!(back.level_set.blocks(), frame.level_set.blocks());
    assert_eq!(back.level_set.background(), frame.level_set.background().clamp(-3.0, 3.0));
    for (phi, stored) in frame.level_set.values().iter().zip(back.level_set.values()) {
        assert!((phi.clamp(-3.0, 3.0) - stored).abs() < 1e-4 && (*phi < 0.0) == (*stored < 0.0));
    }
    for block in 0..frame.level_set.blocks().len() {
        let is_near = frame.level_set.block(block).iter().any(|&phi| phi < 2.9999);
        let is_far = frame.level_set.block(block).iter().all(|&phi| phi >= 3.0);
        let values = |axis: usize| frame.velocity.axes[axis].block(block);
        let largest = (0..D).flat_map(|a| values(a).iter()).fold(0.0f32, |m, v| m.max(v.abs()));
        for axis in 0..D {
            for (v, w) in values(axis).iter().zip(back.velocity.axes[axis].block(block)) {
                assert!(!is_near || (v - w).abs() <= 5e-4 * largest, "{v} {w}");
                assert!(!is_far || *w == 0.0);
            }
        }
    }
    assert_eq!(back.particles.is_some(), frame.particles.is_some());
    assert!(back.air == frame.air, "bubbles are exact");

    // What was read is written as the same bytes.
    write_frame(&again, &back).unwrap();
    let second = read_frame::<D>(&again).unwrap();
    assert_eq!(second.level_set, back.level_set);
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
    let tank = Frame {
        frame: 0,
        time: 0.0,
        grid: Grid { origin: [0.0; 3], dx: 0.01, cells },
        level_set: Field::from_fn(blocks.clone(), 3.0, |c| c[1] as f32 - 63.3),
        velocity: FaceField::new(blocks.clone(), 0.0),
        particles: None,
        smoke: Vec::new(),
        solids: Vec::new(),
        air: None,
    };
    let bytes = write_frame(file(&folder, "tank.frame"), &tank).unwrap();
    assert!(bytes < 5 * blocks.len() as u64, "{bytes} bytes for {} blocks", blocks.len());
    assert_eq!(blocks.slots(), blocks.len() * block_len::<3>());

    // A bubble in the water and the air above it: two runs for each block on the way, and a list of one.
    let mut bubbly = tank;
    let ball = |c: [usize; 3]| {
        let squared: f32 = c.map(|c| (c as f32 - 40.0).powi(2)).iter().sum();
        squared.sqrt() - 12.0
    };
    bubbly.level_set = Field::from_fn(blocks.clone(), 3.0, |c| (c[1] as f32 - 63.3).max(-ball(c)));
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
    let air = FrameAir { bubbles: vec![bubble], bubble_of };
    assert!(PackedAir::new(&air, &bubbly.level_set).run_count() < 100);
    bubbly.air = Some(air);
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
    crate::write_checkpoint(&path, &1).unwrap();
    assert!(frame_dimension(&path).unwrap_err().to_string().contains("holds a checkpoint, not a frame"));
}

/// Payloads that pass the checksum but contradict themselves.
#[test]
fn contradictions_are_refused() {
    let good = || Packed::new(&with_bubbles(frame([16, 17, 23], u64::MAX, 9.0, vec![[1.0; 3]; 40])));
    assert!(good().unpack().is_ok());
    let spoil: [fn(&mut Packed<3>); 9] = [
        |p| p.air.as_mut().unwrap().spoil_length(),
        |p| p.air.as_mut().unwrap().spoil_identity(),
        |p| p.air.as_mut().unwrap().spoil_list(),
        |p| p.grid.cells[0] += 1,
        |p| p.blocks = Blocks::new([16, 17, 23], |c| c[0] == 0),
        |p| p.particles.as_mut().unwrap().spoil(),
        |p| p.blocks = Blocks::all([16, 17, 24]),
        |p| p.level_set = PackedLevelSet::new(&Field::<f32, 3>::new(Arc::new(Blocks::all([8; 3])), 3.0)),
        |p| {
            let small = FaceField::<f32, 3>::new(Arc::new(Blocks::all([8; 3])), 0.0);
            p.velocity = PackedVelocity::new(&small, &[]);
        },
    ];
    for (k, spoil) in spoil.into_iter().enumerate() {
        let mut packed = good();
        spoil(&mut packed);
        assert!(packed.unpack().is_err(), "{k}");
    }
}
