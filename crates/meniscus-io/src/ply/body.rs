//! The values of a PLY file after its header, one after the other.

use super::header::{Element, Encoding, Header, Scalar};
use crate::mesh::number;
use crate::{Location, ParseError};

/// A place in the values. Text holds one row a line.
pub(super) enum Body<'a> {
    Text { lines: std::slice::Split<'a, u8, fn(&u8) -> bool>, line: usize, words: Vec<String>, next: usize },
    Binary { bytes: &'a [u8], at: usize, big_endian: bool },
}

impl<'a> Body<'a> {
    pub(super) fn new(bytes: &'a [u8], header: &Header) -> Self {
        let big_endian = matches!(header.encoding, Encoding::BigEndian);
        match header.encoding {
            Encoding::Text => {
                let is_end: fn(&u8) -> bool = |&b| b == b'\n';
                let lines = bytes[header.len..].split(is_end);
                Self::Text { lines, line: header.lines, words: Vec::new(), next: 0 }
            }
            _ => Self::Binary { bytes, at: header.len, big_endian },
        }
    }
}
