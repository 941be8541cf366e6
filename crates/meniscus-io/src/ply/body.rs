//! The values of a PLY file after its header, one after the other.

use super::header::{Element, Encoding, Header, Scalar};
use crate::mesh::number;
use crate::{Location, ParseError};

/// What is left to read.
pub(super) enum Body<'a> {
    /// One row a line: the lines after the current one, and the rest of that.
    Text { rest: &'a [u8], line: usize, row: &'a [u8] },
    /// The offset of the next value in the bytes of the file.
    Binary { bytes: &'a [u8], at: usize, big_endian: bool },
}

impl<'a> Body<'a> {
    pub(super) fn new(bytes: &'a [u8], header: &Header) -> Self {
        let at = header.len;
        match header.encoding {
            Encoding::Text => Self::Text { rest: &bytes[at..], line: header.lines, row: &[] },
            Encoding::LittleEndian => Self::Binary { bytes, at, big_endian: false },
            Encoding::BigEndian => Self::Binary { bytes, at, big_endian: true },
        }
    }

    /// The current line, or the offset of the next value.
    pub(super) fn location(&self) -> Location {
        match *self {
            Self::Text { line, .. } => Location::Line(line),
            Self::Binary { at, .. } => Location::Byte(at),
        }
    }

    /// Goes to a row of an element: in text the next line that is not blank.
    pub(super) fn start_row(&mut self, element: &Element, row_index: u64) -> Result<(), ParseError> {
        let ended = match self {
            Self::Binary { bytes, at, .. } => *at >= bytes.len(),
            Self::Text { rest, line, row } => {
                *row = &[];
                while row.is_empty() && !rest.is_empty() {
                    let end = rest.iter().position(|&b| b == b'\n').map_or(rest.len(), |newline| newline + 1);
                    let (first, others) = rest.split_at(end);
                    (*row, *rest) = (first.trim_ascii(), others);
                    *line += 1;
                }
                row.is_empty()
            }
        };
        if ended {
            let Element { name, count, .. } = element;
            let problem = format!(
                "the header counts {count} of {name}, but the file ends after {row_index}: it is cut short"
            );
            return Err(ParseError { location: self.location(), problem });
        }
        Ok(())
    }

    /// Checks, in text, that the line has no more values than the header says.
    pub(super) fn end_row(&self) -> Result<(), ParseError> {
        match self {
            Self::Text { line, row, .. } if !row.is_empty() => {
                Err(ParseError::at_line(*line, "the line has more values than the header says"))
            }
            _ => Ok(()),
        }
    }

    /// The next value; every type fits in an `f64`.
    pub(super) fn value(&mut self, scalar: Scalar) -> Result<f64, ParseError> {
        match self {
            Self::Text { line, row, .. } => {
                if row.is_empty() {
                    return Err(ParseError::at_line(*line, "the line has fewer values than the header says"));
                }
                let end = row.iter().position(u8::is_ascii_whitespace).unwrap_or(row.len());
                let (word, others) = row.split_at(end);
                *row = others.trim_ascii_start();
                number(&String::from_utf8_lossy(word), *line)
            }
            Self::Binary { bytes, at, big_endian } => match scalar {
                Scalar::I8 => take(bytes, at, *big_endian).map(|b| f64::from(i8::from_le_bytes(b))),
                Scalar::U8 => take(bytes, at, *big_endian).map(|b| f64::from(u8::from_le_bytes(b))),
                Scalar::I16 => take(bytes, at, *big_endian).map(|b| f64::from(i16::from_le_bytes(b))),
                Scalar::U16 => take(bytes, at, *big_endian).map(|b| f64::from(u16::from_le_bytes(b))),
                Scalar::I32 => take(bytes, at, *big_endian).map(|b| f64::from(i32::from_le_bytes(b))),
                Scalar::U32 => take(bytes, at, *big_endian).map(|b| f64::from(u32::from_le_bytes(b))),
                Scalar::F32 => take(bytes, at, *big_endian).map(|b| f64::from(f32::from_le_bytes(b))),
                Scalar::F64 => take(bytes, at, *big_endian).map(f64::from_le_bytes),
            },
        }
    }
}

/// The next `N` bytes, least significant first.
fn take<const N: usize>(bytes: &[u8], at: &mut usize, big_endian: bool) -> Result<[u8; N], ParseError> {
    let Some(&(mut value)) = bytes[*at..].first_chunk::<N>() else {
        return Err(ParseError::at_byte(*at, "the file ends in the middle of a row: it is cut short"));
    };
    *at += N;
    if big_endian {
        value.reverse();
    }
    Ok(value)
}
