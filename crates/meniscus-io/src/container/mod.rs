//! Our own files: a header, and a compressed payload with a checksum.
//!
//! A file is 56 bytes of header and a body. The header is the magic `MENISCUS`, then (all little-endian) the
//! version of this header and that of the kind's layout, the kind in eight letters, the length of the payload, the length of the
//! body, and the XXH64 checksums of the body and of the header so far. The body is the payload, a
//! value in postcard's format, compressed by zstd. The same value always gives the same bytes.
//!
//! Files appear whole or not at all ([`write_atomically`]); a damaged one is refused before it is decoded.

mod atomic;
mod error;
#[cfg(test)]
mod tests;

use std::fs::File;
use std::io::{self, BufWriter, Read, Write};
use std::path::Path;

use serde::Serialize;
use serde::de::DeserializeOwned;

pub use atomic::write_atomically;
pub use error::{CacheError, WriteError};

use crate::frame::{FRAME_2D, FRAME_3D};

const MAGIC: [u8; 8] = *b"MENISCUS";
const VERSION: u32 = 9;
const HEADER_LEN: usize = 56;

/// Of zstd's compression: 200 to 350 MB/s. Higher levels look further for repetitions, which floats and the
/// planes of frames do not have: level 3 is half as fast and no smaller.
const LEVEL: i32 = 1;

/// What a file holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Kind {
    /// Tells it from other kinds.
    pub(crate) code: [u8; 8],
    /// Grows with each change of its layout.
    pub(crate) version: u32,
    /// As errors call it.
    pub(crate) name: &'static str,
}

impl Kind {
    /// The checkpoints of a system, by four letters of its own and the version of their layout.
    pub const fn checkpoint(system: [u8; 4], version: u32) -> Self {
        let [a, b, c, d] = system;
        Self { code: [b'c', b'p', b't', b'-', a, b, c, d], version, name: "checkpoint" }
    }

    /// What files with this code are called.
    fn name_of(code: [u8; 8]) -> Option<&'static str> {
        let known = [FRAME_2D, FRAME_3D].into_iter().find(|kind| kind.code == code);
        match known {
            Some(kind) => Some(kind.name),
            None => code.starts_with(b"cpt-").then_some("checkpoint"),
        }
    }
}

/// Writes the state of a run; says how many bytes the file has.
pub fn write_checkpoint<T: Serialize>(
    path: impl AsRef<Path>,
    kind: Kind,
    value: &T,
) -> Result<u64, WriteError> {
    write(path.as_ref(), kind, value)
}

/// Reads what [`write_checkpoint`] wrote.
pub fn read_checkpoint<T: DeserializeOwned>(path: impl AsRef<Path>, kind: Kind) -> Result<T, CacheError> {
    read(path.as_ref(), kind)
}

pub(crate) fn write<T: Serialize>(path: &Path, kind: Kind, value: &T) -> Result<u64, WriteError> {
    let (payload_len, body) = compress(value)
        .map_err(|error| WriteError::Unserialisable { path: path.into(), problem: error.to_string() })?;
    let header = Header::new(kind, payload_len, &body);
    atomic::write_parts(path, &[&header.encode(), &body])?;
    Ok(HEADER_LEN as u64 + header.body_len)
}

/// The length of the value's payload, and the payload compressed. The payload itself is never whole in memory.
fn compress<T: Serialize>(value: &T) -> Result<(u64, Vec<u8>), Box<dyn std::error::Error>> {
    let encoder = zstd::Encoder::new(Vec::new(), LEVEL)?;
    let writer = BufWriter::with_capacity(1 << 16, Counted { inner: encoder, count: 0 });
    let writer = postcard::to_io(value, writer)?;
    let Counted { inner, count } = writer.into_inner().map_err(io::IntoInnerError::into_error)?;
    Ok((count, inner.finish()?))
}

/// A writer that counts.
struct Counted<W> {
    inner: W,
    count: u64,
}

impl<W: Write> Write for Counted<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let written = self.inner.write(bytes)?;
        self.count += written as u64;
        Ok(written)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.inner.flush()
    }
}

pub(crate) fn read<T: DeserializeOwned>(path: &Path, kind: Kind) -> Result<T, CacheError> {
    let payload = read_payload(path, kind)?;
    let problem = match postcard::take_from_bytes(&payload) {
        Ok((value, [])) => return Ok(value),
        Ok((_, rest)) => format!("{} bytes are left over", rest.len()),
        Err(error) => error.to_string(),
    };
    Err(CacheError::Content { path: path.into(), problem })
}

/// The code and the name of a file's kind, from its header alone.
pub(crate) fn read_kind(path: &Path) -> Result<([u8; 8], &'static str), CacheError> {
    let mut file = File::open(path).map_err(|source| CacheError::Io { path: path.into(), source })?;
    let header = Header::read(&mut file, path)?;
    Ok((header.code, header.name))
}

/// Whether a file is whole and of a kind, by its length and checksum.
pub(crate) fn verify(path: &Path, kind: Kind) -> Result<(), CacheError> {
    read_body(path, kind).map(|_| ())
}

fn read_payload(path: &Path, kind: Kind) -> Result<Vec<u8>, CacheError> {
    let (header, body) = read_body(path, kind)?;
    decompress(&body, header.payload_len)
        .map_err(|error| CacheError::Damaged { path: path.into(), problem: error.to_string() })
}

fn read_body(path: &Path, kind: Kind) -> Result<(Header, Vec<u8>), CacheError> {
    let io_error = |source| CacheError::Io { path: path.into(), source };
    let damaged = |problem| CacheError::Damaged { path: path.into(), problem };
    let mut file = File::open(path).map_err(io_error)?;
    let header = Header::read(&mut file, path)?;
    if header.code != kind.code {
        // Checkpoints of two systems are called the same.
        let found =
            if header.name == kind.name { "checkpoint of another kind of simulation" } else { header.name };
        return Err(CacheError::Kind { path: path.into(), found, expected: kind.name });
    }
    if header.version != kind.version {
        let (found, expected) = (header.version, kind.version);
        return Err(CacheError::Version { path: path.into(), found, expected });
    }
    // Memory is taken for what is there, not for what the header says.
    let mut body = Vec::new();
    file.read_to_end(&mut body).map_err(io_error)?;
    if body.len() as u64 != header.body_len {
        let (wanted, found) = (header.body_len + HEADER_LEN as u64, body.len() + HEADER_LEN);
        return Err(damaged(format!("it should have {wanted} bytes but has {found}")));
    }
    if checksum_of(&body) != header.checksum {
        return Err(damaged("its checksum is wrong, some bytes have changed".into()));
    }
    Ok((header, body))
}

fn decompress(body: &[u8], payload_len: u64) -> io::Result<Vec<u8>> {
    let mut payload = Vec::new();
    payload.try_reserve_exact(usize::try_from(payload_len).unwrap_or(usize::MAX))?;
    zstd::Decoder::with_buffer(body)?.take(payload_len.saturating_add(1)).read_to_end(&mut payload)?;
    if payload.len() as u64 == payload_len {
        Ok(payload)
    } else {
        Err(io::Error::other(format!("its payload does not have the {payload_len} bytes of its header")))
    }
}

/// XXH64 with the seed 0. That of zstd itself keeps 32 bits of it, covers no header, and is only checked while what may be damaged
/// is decoded.
fn checksum_of(bytes: &[u8]) -> u64 {
    xxhash_rust::xxh64::xxh64(bytes, 0)
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Header {
    /// Of the kind's layout.
    version: u32,
    code: [u8; 8],
    /// What files with the code are called.
    name: &'static str,
    payload_len: u64,
    body_len: u64,
    /// Of the body.
    checksum: u64,
}

impl Header {
    fn new(kind: Kind, payload_len: u64, body: &[u8]) -> Self {
        let Kind { version, code, name, .. } = kind;
        Self { version, code, name, payload_len, body_len: body.len() as u64, checksum: checksum_of(body) }
    }

    fn encode(&self) -> [u8; HEADER_LEN] {
        let mut bytes = [0; HEADER_LEN];
        bytes[..8].copy_from_slice(&MAGIC);
        bytes[8..12].copy_from_slice(&VERSION.to_le_bytes());
        bytes[12..16].copy_from_slice(&self.version.to_le_bytes());
        bytes[16..24].copy_from_slice(&self.code);
        bytes[24..32].copy_from_slice(&self.payload_len.to_le_bytes());
        bytes[32..40].copy_from_slice(&self.body_len.to_le_bytes());
        bytes[40..48].copy_from_slice(&self.checksum.to_le_bytes());
        let checksum = checksum_of(&bytes[..48]);
        bytes[48..].copy_from_slice(&checksum.to_le_bytes());
        bytes
    }

    /// The header at the start of a file; the file then stands at its body.
    fn read(file: &mut File, path: &Path) -> Result<Self, CacheError> {
        let mut bytes = Vec::with_capacity(HEADER_LEN);
        let io_error = |source| CacheError::Io { path: path.into(), source };
        file.take(HEADER_LEN as u64).read_to_end(&mut bytes).map_err(io_error)?;
        Self::decode(&bytes, path)
    }

    fn decode(bytes: &[u8], path: &Path) -> Result<Self, CacheError> {
        let damaged = |problem: String| CacheError::Damaged { path: path.into(), problem };
        if !bytes.starts_with(&MAGIC[..bytes.len().min(MAGIC.len())]) {
            return Err(CacheError::NotMeniscus { path: path.into() });
        }
        let Some(bytes) = bytes.first_chunk::<HEADER_LEN>() else {
            return Err(damaged(format!("it ends after {} bytes, within its header", bytes.len())));
        };
        let word = |at: usize| u64::from_le_bytes(std::array::from_fn(|k| bytes[at + k]));
        // The version comes first: what follows it may look different in another one.
        let found = word(8) as u32;
        if found != VERSION {
            return Err(CacheError::Version { path: path.into(), found, expected: VERSION });
        }
        if word(48) != checksum_of(&bytes[..48]) {
            return Err(damaged("the checksum of its header is wrong, some bytes have changed".into()));
        }
        let code = word(16).to_le_bytes();
        let Some(name) = Kind::name_of(code) else {
            let found = String::from_utf8_lossy(&bytes[16..24]).into_owned();
            return Err(damaged(format!("it is of the unknown kind '{found}'")));
        };
        let version = (word(8) >> 32) as u32;
        Ok(Self { version, code, name, payload_len: word(24), body_len: word(32), checksum: word(40) })
    }
}
