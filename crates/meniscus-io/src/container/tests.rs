use std::fs;

use proptest::prelude::*;

use super::*;

const LIQUID: Kind = Kind::checkpoint(*b"drop", 3);

fn value() -> (String, Vec<f64>, Option<u32>) {
    ("state".into(), (0..80).map(|k| f64::from(k).sin()).collect(), Some(7))
}

/// Files that were written hold these sums.
#[test]
fn checksums_are_those_of_the_reference() {
    assert_eq!(checksum_of(b""), 0xEF46_DB37_51D8_E999);
    assert_eq!(checksum_of(b"abc"), 0x44BC_2CF5_AD77_0999);
}

#[test]
fn any_damaged_byte_and_any_missing_end_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("state.checkpoint");
    let written = write_checkpoint(&path, LIQUID, &value()).unwrap();
    let whole = fs::read(&path).unwrap();
    assert_eq!(written, whole.len() as u64);
    assert_eq!(read_checkpoint::<(String, Vec<f64>, Option<u32>)>(&path, LIQUID).unwrap(), value());
    let refused = |bytes: &[u8]| {
        fs::write(&path, bytes).unwrap();
        read_checkpoint::<(String, Vec<f64>, Option<u32>)>(&path, LIQUID).unwrap_err().to_string()
    };
    for at in 0..whole.len() {
        let mut bytes = whole.clone();
        bytes[at] ^= 1 << (at % 8);
        let message = refused(&bytes);
        let reasons = ["is damaged", "is not a Meniscus file", "has format version", "holds a"];
        let is_told = reasons.iter().any(|reason| message.contains(reason));
        assert!(message.contains("state.checkpoint") && is_told, "{message}");
    }
    for len in 0..whole.len() {
        let message = refused(&whole[..len]);
        assert!(message.contains("is damaged"), "{message}");
    }
    let longer = refused(&[&whole[..], &[0]].concat());
    assert!(longer.contains("bytes but has"), "{longer}");
}

#[test]
fn errors_say_what_is_wrong_and_what_to_do() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.checkpoint");
    let message = || read_checkpoint::<u32>(&path, LIQUID).unwrap_err().to_string();
    assert!(message().starts_with("cannot read ") && message().ends_with("a.checkpoint"));
    fs::write(&path, b"solid teapot").unwrap();
    assert!(message().contains("is not a Meniscus file"));

    write(&path, FRAME_3D, &5u32).unwrap();
    assert!(message().ends_with("holds a frame in three dimensions, not a checkpoint; give the right file"));
    assert_eq!(read_kind(&path).unwrap(), (FRAME_3D.code, FRAME_3D.name));

    write_checkpoint(&path, LIQUID, &"text").unwrap();
    assert!(message().contains("is not what this version of Meniscus writes"));
    write_checkpoint(&path, LIQUID, &(5u32, 6u32)).unwrap();
    assert!(message().contains("1 bytes are left over"));

    let older = Kind::checkpoint(*b"drop", 2);
    write_checkpoint(&path, older, &5u32).unwrap();
    assert!(message().contains("has format version 2, this program reads version 3"));
    write_checkpoint(&path, Kind::checkpoint(*b"rain", 3), &5u32).unwrap();
    assert!(message().contains("holds a checkpoint of another kind of simulation, not a checkpoint"));

    let mut newer = fs::read(&path).unwrap();
    newer[8] = 10;
    fs::write(&path, newer).unwrap();
    assert!(message().contains(&format!("has format version 10, this program reads version {VERSION}")));
}

#[test]
fn a_header_that_promises_too_much_is_refused_without_taking_the_memory() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.checkpoint");
    let body = compress(&5u32).unwrap().1;
    for payload_len in [u64::MAX, 1 << 50, 2, 0] {
        let header = Header::new(LIQUID, payload_len, &body);
        fs::write(&path, [&header.encode()[..], &body].concat()).unwrap();
        assert!(
            matches!(read_checkpoint::<u32>(&path, LIQUID), Err(CacheError::Damaged { .. })),
            "{payload_len}"
        );
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(32))]
    #[test]
    fn values_come_back_and_give_the_same_bytes(
        numbers in prop::collection::vec(any::<u64>(), 0..2000),
        text in ".{0,40}",
    ) {
        let folder = tempfile::tempdir().unwrap();
        let (a, b) = (folder.path().join("a"), folder.path().join("b"));
        let value = (numbers, text);
        write_checkpoint(&a, LIQUID, &value).unwrap();
        write_checkpoint(&b, LIQUID, &value).unwrap();
        prop_assert_eq!(fs::read(&a).unwrap(), fs::read(&b).unwrap());
        prop_assert_eq!(read_checkpoint::<(Vec<u64>, String)>(&a, LIQUID).unwrap(), value);
    }
}
