//! The checksum XXH64 of Yann Collet: 64 bits at several gigabytes a second.
//!
//! Ours because zstd's own checksum keeps 32 bits, covers no header, and is only checked while decoding
//! what may be damaged.

const PRIMES: [u64; 5] = [
    0x9E37_79B1_85EB_CA87,
    0xC2B2_AE3D_27D4_EB4F,
    0x1656_67B1_9E37_79F9,
    0x85EB_CA77_C2B2_AE63,
    0x27D4_EB2F_1656_67C5,
];

/// The checksum of some bytes, with the seed zero.
pub(super) fn xxh64(bytes: &[u8]) -> u64 {
    let (stripes, tail) = bytes.as_chunks::<32>();
    let mut hash = if stripes.is_empty() { PRIMES[4] } else { hash_stripes(stripes) };
    hash = hash.wrapping_add(bytes.len() as u64);

    let (words, tail) = tail.as_chunks::<8>();
    for &word in words {
        hash ^= round(0, u64::from_le_bytes(word));
        hash = hash.rotate_left(27).wrapping_mul(PRIMES[0]).wrapping_add(PRIMES[3]);
    }
    let (halves, tail) = tail.as_chunks::<4>();
    for &half in halves {
        hash ^= u64::from(u32::from_le_bytes(half)).wrapping_mul(PRIMES[0]);
        hash = hash.rotate_left(23).wrapping_mul(PRIMES[1]).wrapping_add(PRIMES[2]);
    }
    for &byte in tail {
        hash ^= u64::from(byte).wrapping_mul(PRIMES[4]);
        hash = hash.rotate_left(11).wrapping_mul(PRIMES[0]);
    }

    hash = (hash ^ hash >> 33).wrapping_mul(PRIMES[1]);
    hash = (hash ^ hash >> 29).wrapping_mul(PRIMES[2]);
    hash ^ hash >> 32
}

/// Four lanes of eight bytes, folded into one.
fn hash_stripes(stripes: &[[u8; 32]]) -> u64 {
    let mut lanes = [PRIMES[0].wrapping_add(PRIMES[1]), PRIMES[1], 0, 0_u64.wrapping_sub(PRIMES[0])];
    for stripe in stripes {
        for (lane, &word) in lanes.iter_mut().zip(stripe.as_chunks::<8>().0) {
            *lane = round(*lane, u64::from_le_bytes(word));
        }
    }
    let sum = lanes
        .iter()
        .zip([1, 7, 12, 18])
        .fold(0_u64, |sum, (lane, turn)| sum.wrapping_add(lane.rotate_left(turn)));
    lanes
        .iter()
        .fold(sum, |hash, &lane| (hash ^ round(0, lane)).wrapping_mul(PRIMES[0]).wrapping_add(PRIMES[3]))
}

fn round(lane: u64, input: u64) -> u64 {
    lane.wrapping_add(input.wrapping_mul(PRIMES[1])).rotate_left(31).wrapping_mul(PRIMES[0])
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The sanity check of the reference implementation: a pseudo-random buffer and sums of its starts.
    #[test]
    fn it_equals_the_reference() {
        let mut state: u64 = 2_654_435_761;
        let buffer: Vec<u8> = (0..222)
            .map(|_| {
                let byte = (state >> 56) as u8;
                state = state.wrapping_mul(11_400_714_785_074_694_797);
                byte
            })
            .collect();
        for (len, expected) in [
            (0, 0xEF46_DB37_51D8_E999),
            (1, 0xE934_A84A_DB05_2768),
            (4, 0x9136_A0DC_A574_57EE),
            (14, 0x8282_DCC4_994E_35C8),
            (222, 0xB641_AE8C_B691_C174),
        ] {
            assert_eq!(xxh64(&buffer[..len]), expected, "{len} bytes");
        }
        assert_eq!(xxh64(b"abc"), 0x44BC_2CF5_AD77_0999);
    }

    #[test]
    fn it_equals_that_of_zstd_for_any_length() {
        let bytes: Vec<u8> = (0..300u32).map(|i| ((i * i) >> 3) as u8).collect();
        for len in 0..bytes.len() {
            let mut encoder = zstd::Encoder::new(Vec::new(), 1).unwrap();
            encoder.include_checksum(true).unwrap();
            std::io::Write::write_all(&mut encoder, &bytes[..len]).unwrap();
            let frame = encoder.finish().unwrap();
            let theirs = u32::from_le_bytes(*frame.last_chunk().unwrap());
            assert_eq!(xxh64(&bytes[..len]) as u32, theirs, "{len} bytes");
        }
    }
}
