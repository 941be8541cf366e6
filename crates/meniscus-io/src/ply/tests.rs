use super::*;

const TEXT: &str = "ply\nformat ascii 1.0\ncomment made by hand\nelement note 1\nproperty list uchar char text\n\
    element vertex 4\nproperty uchar red\nproperty double z\nproperty float x\nproperty float y\n\
    element face 2\nproperty list uchar float quality\nproperty list uchar int vertex_indices\nproperty short part\n\
    end_header\n3 104 105 33\n255 0 0 0\n0 0 1 0\n0 0 1 1\n0 0.5 0 1\n\n2 0.5 0.5 4 0 1 2 3 7\n0 3 3 2 1 8\n";

fn header(format: &str) -> Vec<u8> {
    let header = &TEXT[..TEXT.find("end_header").unwrap()];
    format!("{}end_header\n", header.replace("ascii", format)).into_bytes()
}

/// The same file in binary; `put` appends a value given its little-endian bytes.
fn binary(format: &str, put: impl Fn(&mut Vec<u8>, &[u8])) -> Vec<u8> {
    let mut bytes = header(format);
    bytes.extend([3, 104, 105, 33]);
    for (red, [x, y, z]) in
        [(255, [0.0, 0.0, 0.0]), (0, [1.0, 0.0, 0.0]), (0, [1.0, 1.0, 0.0]), (0, [0.0, 1.0, 0.5])]
    {
        bytes.push(red);
        put(&mut bytes, &f64::to_le_bytes(z));
        put(&mut bytes, &f32::to_le_bytes(x as f32));
        put(&mut bytes, &f32::to_le_bytes(y as f32));
    }
    for (quality, corners, part) in
        [(vec![0.5_f32; 2], vec![0_i32, 1, 2, 3], 7_i16), (vec![], vec![3, 2, 1], 8)]
    {
        bytes.push(quality.len() as u8);
        quality.iter().for_each(|q| put(&mut bytes, &q.to_le_bytes()));
        bytes.push(corners.len() as u8);
        corners.iter().for_each(|c| put(&mut bytes, &c.to_le_bytes()));
        put(&mut bytes, &part.to_le_bytes());
    }
    bytes
}

fn little() -> Vec<u8> {
    binary("binary_little_endian", |bytes, value| bytes.extend(value))
}

#[test]
fn text_and_both_byte_orders_agree() {
    let text = parse(TEXT.as_bytes()).unwrap();
    assert_eq!(text.vertices, [[0.0; 3], [1.0, 0.0, 0.0], [1.0, 1.0, 0.0], [0.0, 1.0, 0.5]]);
    assert_eq!(text.triangles, [[0, 1, 2], [0, 2, 3], [3, 2, 1]]);
    assert_eq!(parse(&little()).unwrap(), text);
    let big = binary("binary_big_endian", |bytes, value| bytes.extend(value.iter().rev()));
    assert_eq!(parse(&big).unwrap(), text);
    assert_eq!(parse(TEXT.replace('\n', "\r\n").as_bytes()).unwrap(), text);
}

#[test]
fn errors_name_the_place_and_the_reason() {
    for (from, to, expected) in [
        ("ply\n", "plx\n", "line 1: the first line is not 'ply': this is not a PLY file"),
        ("format ascii", "format utf8", "line 2: the format 'utf8' is none of"),
        ("format ascii 1.0\n", "", "line 14: the header lacks its 'format' line"),
        ("element vertex 4", "element vertex many", "line 6: 'many' is not a number of elements"),
        ("float x", "real x", "line 9: 'real' is not a type of PLY"),
        ("property double z\n", "", "line 6: the element vertex lacks the scalar property z"),
        ("vertex_indices", "corners", "line 11: the element face lacks the list property vertex_indices"),
        ("end_header", "end", "line 15: expected a line of a PLY header, found 'end'"),
        ("0 0 1 1\n", "0 0 1\n", "line 19: the line has fewer values than the header says"),
        ("0 0 1 1\n", "0 0 1 1 1\n", "line 19: the line has more values than the header says"),
        ("0 0 1 1\n", "0 0 1 y\n", "line 19: expected a number, found 'y'"),
        ("3 3 2 1 8", "3 3 2 4 8", "line 23: a face uses vertex 4, but the file has only 4 vertices"),
        (
            "3 3 2 1 8",
            "3 3 2 -1 8",
            "line 23: face 1 has the vertex index -1: indices are whole and count from 0",
        ),
        ("3 3 2 1 8", "2 3 2 8", "line 23: a face needs at least three corners, this one has 2"),
        ("3 3 2 1 8", "-1 3 2 8", "line 23: face 1: the list vertex_indices has the length -1"),
        (
            "element face 2",
            "element face 3",
            "line 23: the header counts 3 of face, but the file ends after 2",
        ),
    ] {
        let text = TEXT.replacen(from, to, 1);
        assert_ne!(text, TEXT, "{from}");
        let message = parse(text.as_bytes()).unwrap_err().to_string();
        assert!(message.starts_with(expected), "{message}");
    }
    assert_eq!(parse(b"").unwrap_err().to_string(), "line 1: the file ends without 'end_header'");
}

#[test]
fn a_false_header_or_length_costs_no_memory() {
    let file = String::from_utf8_lossy(&header("binary_little_endian"))
        .replace("element vertex 4", "element vertex 18446744073709551615")
        .replace("element note 1", "element note 18446744073709551615\nelement nothing 18446744073709551615");
    let mut bytes = file.into_bytes();
    let end = bytes.len();
    assert_eq!(parse(&bytes).unwrap_err().location, Location::Byte(end));
    bytes.extend([255; 100]);
    let error = parse(&bytes).unwrap_err();
    assert!(error.to_string().contains("cut short"), "{error}");

    let list = "ply\nformat binary_little_endian 1.0\nelement face 1\nproperty list uint int vertex_indices\nend_header\n";
    let mut bytes = list.as_bytes().to_vec();
    bytes.extend(u32::MAX.to_le_bytes());
    bytes.extend([0; 40]);
    assert_eq!(parse(&bytes).unwrap_err().location, Location::Byte(bytes.len()));
}

#[test]
fn a_binary_coordinate_that_is_no_number_is_refused() {
    let mut bytes = little();
    let first_z = header("binary_little_endian").len() + 5;
    bytes[first_z..first_z + 8].copy_from_slice(&f64::NAN.to_le_bytes());
    let error = parse(&bytes).unwrap_err();
    assert_eq!(error.location, Location::Byte(first_z - 1));
    assert!(error.problem.contains("vertex 0"), "{error}");
}
