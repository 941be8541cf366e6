//! The header of a PLY file.

use crate::ParseError;
use crate::mesh::shorten;

pub(super) struct Header {
    pub(super) encoding: Encoding,
    pub(super) elements: Vec<Element>,
    /// Where the header ends, in bytes and in lines.
    pub(super) len: usize,
    pub(super) lines: usize,
}

#[derive(Clone, Copy)]
pub(super) enum Encoding {
    Text,
    LittleEndian,
    BigEndian,
}

/// A table of the file: `count` rows of the same properties.
pub(super) struct Element {
    pub(super) name: String,
    pub(super) count: u64,
    pub(super) properties: Vec<Property>,
    line: usize,
}

/// A scalar, or a list where `count` is the type of its length.
pub(super) struct Property {
    pub(super) name: String,
    pub(super) scalar: Scalar,
    pub(super) count: Option<Scalar>,
}

#[derive(Clone, Copy)]
pub(super) enum Scalar {
    I8,
    U8,
    I16,
    U16,
    I32,
    U32,
    F32,
    F64,
}

impl Header {
    pub(super) fn parse(bytes: &[u8]) -> Result<Self, ParseError> {
        let (mut encoding, mut elements) = (None, Vec::<Element>::new());
        let (mut len, mut lines) = (0, 0);
        for content in bytes.split_inclusive(|&b| b == b'\n') {
            len += content.len();
            lines += 1;
            let problem = |problem: String| ParseError::at_line(lines, problem);
            let content = String::from_utf8_lossy(content);
            let words: Vec<&str> = content.split_whitespace().collect();
            match *words {
                ["ply"] if lines == 1 => {}
                _ if lines == 1 => {
                    return Err(problem("the first line is not 'ply': this is not a PLY file".into()));
                }
                ["format", format, _] => encoding = Some(Encoding::parse(format).map_err(problem)?),
                ["comment" | "obj_info", ..] | [] => {}
                ["element", name, count] => {
                    let count = count
                        .parse()
                        .map_err(|_| problem(format!("'{}' is not a number of elements", shorten(count))))?;
                    elements.push(Element { name: name.into(), count, properties: Vec::new(), line: lines });
                }
                ["property", ref property @ ..] => {
                    let property = Property::parse(property).map_err(problem)?;
                    let Some(element) = elements.last_mut() else {
                        return Err(problem("a property before the first element".into()));
                    };
                    element.properties.push(property);
                }
                ["end_header"] => {
                    // A row without values would take no bytes, and its count could say anything.
                    elements.retain(|e| !e.properties.is_empty());
                    let encoding =
                        encoding.ok_or_else(|| problem("the header lacks its 'format' line".into()))?;
                    return Ok(Self { encoding, elements, len, lines });
                }
                _ => {
                    let found = shorten(content.trim());
                    return Err(problem(format!("expected a line of a PLY header, found '{found}'")));
                }
            }
        }
        Err(ParseError::at_line(lines.max(1), "the file ends without 'end_header'"))
    }
}

impl Encoding {
    fn parse(word: &str) -> Result<Self, String> {
        match word {
            "ascii" => Ok(Self::Text),
            "binary_little_endian" => Ok(Self::LittleEndian),
            "binary_big_endian" => Ok(Self::BigEndian),
            _ => Err(format!(
                "the format '{}' is none of ascii, binary_little_endian and binary_big_endian",
                shorten(word)
            )),
        }
    }
}

impl Element {
    /// The number of the property that `wanted` accepts; `what` names it in the error.
    pub(super) fn find(&self, wanted: impl Fn(&Property) -> bool, what: &str) -> Result<usize, ParseError> {
        let missing =
            || ParseError::at_line(self.line, format!("the element {} lacks the {what}", self.name));
        self.properties.iter().position(wanted).ok_or_else(missing)
    }
}

impl Property {
    fn parse(words: &[&str]) -> Result<Self, String> {
        match *words {
            ["list", count, item, name] => {
                let count = Some(Scalar::parse(count)?);
                Ok(Self { name: name.into(), scalar: Scalar::parse(item)?, count })
            }
            [scalar, name] => Ok(Self { name: name.into(), scalar: Scalar::parse(scalar)?, count: None }),
            _ => Err("expected 'property TYPE NAME' or 'property list TYPE TYPE NAME'".into()),
        }
    }
}

impl Scalar {
    fn parse(word: &str) -> Result<Self, String> {
        match word {
            "char" | "int8" => Ok(Self::I8),
            "uchar" | "uint8" => Ok(Self::U8),
            "short" | "int16" => Ok(Self::I16),
            "ushort" | "uint16" => Ok(Self::U16),
            "int" | "int32" => Ok(Self::I32),
            "uint" | "uint32" => Ok(Self::U32),
            "float" | "float32" => Ok(Self::F32),
            "double" | "float64" => Ok(Self::F64),
            _ => Err(format!("'{}' is not a type of PLY", shorten(word))),
        }
    }
}
