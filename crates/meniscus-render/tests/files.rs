//! Pictures survive their files.

use meniscus_render::{GifWriter, Picture, PictureError, encode_png, write_png};

fn picture(width: usize, height: usize, shift: usize) -> Picture {
    let value = |k: usize| ((k / 3 % width + shift) * 5 + k / 3 / width * 3 + 40 * (k % 3)) as u8;
    Picture { width, height, rgb: (0..3 * width * height).map(value).collect() }
}

#[test]
fn a_png_decodes_to_the_same_bytes() {
    let original = picture(37, 21, 0);
    let mut reader = png::Decoder::new(std::io::Cursor::new(encode_png(&original))).read_info().unwrap();
    let mut bytes = vec![0; reader.output_buffer_size().unwrap()];
    let info = reader.next_frame(&mut bytes).unwrap();
    assert_eq!((info.width, info.height, info.color_type), (37, 21, png::ColorType::Rgb));
    assert_eq!(bytes, original.rgb);
}

#[test]
fn a_png_is_written_to_its_path_or_the_error_names_it() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.png");
    write_png(&path, &picture(5, 4, 0)).unwrap();
    assert_eq!(std::fs::read(&path).unwrap(), encode_png(&picture(5, 4, 0)));
    let nowhere = folder.path().join("missing").join("a.png");
    let error = write_png(&nowhere, &picture(5, 4, 0)).unwrap_err().to_string();
    assert!(error.contains("missing") && error.contains("folder exists"), "{error}");
}

/// The frames of a GIF laid over each other, and the delays.
fn decode(bytes: &[u8], size: usize) -> (Vec<Vec<u8>>, Vec<u16>) {
    let mut options = gif::DecodeOptions::new();
    options.set_color_output(gif::ColorOutput::RGBA);
    let mut decoder = options.read_info(bytes).unwrap();
    let width = usize::from(decoder.width());
    let (mut screen, mut screens, mut delays) = (vec![0; 3 * size], Vec::new(), Vec::new());
    while let Some(frame) = decoder.read_next_frame().unwrap() {
        for (k, pixel) in frame.buffer.chunks_exact(4).enumerate().filter(|(_, p)| p[3] > 0) {
            let (x, y) = (k % usize::from(frame.width), k / usize::from(frame.width));
            let at = 3 * ((usize::from(frame.top) + y) * width + usize::from(frame.left) + x);
            screen[at..at + 3].copy_from_slice(&pixel[..3]);
        }
        screens.push(screen.clone());
        delays.push(frame.delay);
    }
    assert_eq!(decoder.repeat(), gif::Repeat::Infinite);
    (screens, delays)
}

#[test]
fn a_gif_shows_every_picture_for_its_time() {
    let pictures: Vec<Picture> = [0, 1, 1, 7, 3, 0].map(|shift| picture(40, 30, shift)).into();
    let mut movie = GifWriter::new(Vec::new(), [40, 30], 24.0).unwrap();
    for picture in &pictures {
        movie.add(picture).unwrap();
    }
    let (screens, delays) = decode(&movie.finish().unwrap(), 40 * 30);
    assert_eq!(delays, [4, 4, 5, 4, 4, 4]);
    for (screen, picture) in screens.iter().zip(&pictures) {
        let errors = screen.iter().zip(&picture.rgb).map(|(a, b)| f64::from(a.abs_diff(*b)));
        let mean = errors.sum::<f64>() / screen.len() as f64;
        assert!(mean < 5.0, "mean error {mean}");
    }
}

#[test]
fn what_does_not_change_costs_little() {
    let bytes = |frames: usize| {
        let mut movie = GifWriter::new(Vec::new(), [120, 80], 25.0).unwrap();
        (0..frames).for_each(|_| movie.add(&picture(120, 80, 0)).unwrap());
        movie.finish().unwrap().len()
    };
    assert!(bytes(11) - bytes(1) < 10 * 60);
}

#[test]
fn movies_have_one_size() {
    let mut movie = GifWriter::new(Vec::new(), [8, 8], 25.0).unwrap();
    assert!(matches!(movie.add(&picture(8, 9, 0)), Err(PictureError::SizeChanged { .. })));
    assert!(matches!(GifWriter::new(Vec::new(), [70_000, 8], 25.0), Err(PictureError::TooLarge { .. })));
}
