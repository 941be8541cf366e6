//! Colours: sRGB, OKLab, the map from speed to colour, and the colours of bubbles.

use crate::vec3::{Vec3, vec3};

/// The colour of a speed as a fraction of the fastest: from a deep blue at rest to nearly white, its
/// lightness (in OKLab) rising evenly.
pub fn speed_colour(fraction: f32) -> [u8; 3] {
    to_srgb(speed_colour_linear(fraction))
}

/// The chroma and hue (degrees) of the map at even steps of lightness. Chosen to stay within sRGB.
const SPEED_CHROMA_HUE: [[f32; 2]; 6] =
    [[0.105, 266.0], [0.125, 258.0], [0.125, 244.0], [0.115, 222.0], [0.085, 200.0], [0.022, 190.0]];

/// The lightness of the map at rest and at the fastest.
const SPEED_LIGHTNESS: [f32; 2] = [0.36, 0.97];

pub(crate) fn speed_colour_linear(fraction: f32) -> Vec3 {
    let s = if fraction > 0.0 { fraction.min(1.0) } else { 0.0 };
    let place = s * (SPEED_CHROMA_HUE.len() - 1) as f32;
    let k = (place as usize).min(SPEED_CHROMA_HUE.len() - 2);
    let f = place - k as f32;
    let [chroma, hue] =
        [0, 1].map(|i| SPEED_CHROMA_HUE[k][i] + f * (SPEED_CHROMA_HUE[k + 1][i] - SPEED_CHROMA_HUE[k][i]));
    let (sin, cos) = hue.to_radians().sin_cos();
    let lightness = SPEED_LIGHTNESS[0] + s * (SPEED_LIGHTNESS[1] - SPEED_LIGHTNESS[0]);
    oklab_to_linear(vec3(lightness, chroma * cos, chroma * sin)).max(Vec3::ZERO).min(Vec3::ONE)
}

/// The colour of a bubble, by its number from 1: always the same for a number, far apart for numbers that follow one
/// another, and none of them like the liquid's blues.
pub fn bubble_colour(id: u32) -> [u8; 3] {
    to_srgb(bubble_colour_linear(id))
}

/// The hues of bubbles, in degrees: from a purple over red, yellow and green to a sea green.
const BUBBLE_HUES: [f64; 2] = [-30.0, 170.0];

/// Light, as paper tinted with a marker, so that lines and liquid around stand out.
const BUBBLE_LIGHTNESS: [f64; 2] = [0.75, 0.89];
const BUBBLE_CHROMA: f64 = 0.115;

pub(crate) fn bubble_colour_linear(id: u32) -> Vec3 {
    // Multiples of the golden ratio are evenly spread over the hues, however many there are.
    const STEP: [f64; 2] = [0.618_033_988_749_894_8, std::f64::consts::SQRT_2];
    let [hue, lightness] = [(BUBBLE_HUES, STEP[0]), (BUBBLE_LIGHTNESS, STEP[1])]
        .map(|([from, to], step)| from + (to - from) * (f64::from(id) * step).fract());
    let (sin, cos) = hue.to_radians().sin_cos();
    let lab = [lightness, BUBBLE_CHROMA * cos, BUBBLE_CHROMA * sin].map(|x| x as f32);
    oklab_to_linear(Vec3::from_array(lab)).max(Vec3::ZERO).min(Vec3::ONE)
}

/// Linear light from OKLab (Ottosson 2020).
fn oklab_to_linear(lab: Vec3) -> Vec3 {
    let l = lab.x + 0.396_337_78 * lab.y + 0.215_803_76 * lab.z;
    let m = lab.x - 0.105_561_346 * lab.y - 0.063_854_17 * lab.z;
    let s = lab.x - 0.089_484_18 * lab.y - 1.291_485_5 * lab.z;
    let [l, m, s] = [l, m, s].map(|x| x * x * x);
    vec3(
        4.076_741_7 * l - 3.307_711_6 * m + 0.230_969_94 * s,
        -1.268_438 * l + 2.609_757_4 * m - 0.341_319_4 * s,
        -0.004_196_086_3 * l - 0.703_418_6 * m + 1.707_614_7 * s,
    )
}

/// The lightness of OKLab.
#[cfg(test)]
fn lightness(rgb: Vec3) -> f32 {
    let l = 0.412_221_47 * rgb.x + 0.536_332_54 * rgb.y + 0.051_445_995 * rgb.z;
    let m = 0.211_903_5 * rgb.x + 0.680_699_5 * rgb.y + 0.107_396_96 * rgb.z;
    let s = 0.088_302_46 * rgb.x + 0.281_718_85 * rgb.y + 0.629_978_7 * rgb.z;
    0.210_454_26 * l.cbrt() + 0.793_617_8 * m.cbrt() - 0.004_072_047 * s.cbrt()
}

/// Linear light from the bytes of sRGB.
pub(crate) fn from_srgb(bytes: [u8; 3]) -> Vec3 {
    Vec3::from_array(bytes.map(|byte| {
        let c = f32::from(byte) / 255.0;
        if c <= 0.040_45 { c / 12.92 } else { ((c + 0.055) / 1.055).powf(2.4) }
    }))
}

/// The bytes of sRGB from linear light.
pub(crate) fn to_srgb(linear: Vec3) -> [u8; 3] {
    linear.to_array().map(|c| (255.0 * encode(c) + 0.5) as u8)
}

/// The sRGB transfer function, for values from 0 to 1.
fn encode(c: f32) -> f32 {
    let c = if c > 0.0 { c.min(1.0) } else { 0.0 };
    if c <= 0.003_130_8 { 12.92 * c } else { 1.055 * c.powf(1.0 / 2.4) - 0.055 }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_speed_map_rises_evenly_in_lightness() {
        let steps: Vec<f32> = (0..=64).map(|k| lightness(speed_colour_linear(k as f32 / 64.0))).collect();
        let mean = (steps[64] - steps[0]) / 64.0;
        assert!(mean > 0.008);
        for pair in steps.windows(2) {
            let rise = pair[1] - pair[0];
            assert!(rise > 0.5 * mean && rise < 1.5 * mean, "{rise} against {mean}");
        }
    }

    #[test]
    fn speeds_outside_the_scale_take_the_colours_at_its_ends() {
        assert_eq!(speed_colour(7.0), speed_colour(1.0));
        assert_eq!(speed_colour(-1.0), speed_colour(0.0));
        assert_eq!(speed_colour(f32::NAN), speed_colour(0.0));
    }

    #[test]
    fn bubbles_that_follow_one_another_differ_and_none_is_blue() {
        let apart = |a: [u8; 3], b: [u8; 3]| (0..3).map(|k| a[k].abs_diff(b[k])).max().unwrap_or(0);
        for id in 1..500 {
            let [r, g, b] = bubble_colour(id);
            assert!(b < r.max(g), "{id} is blue: {:?}", [r, g, b]);
            for other in [id + 1, id + 2] {
                assert!(apart(bubble_colour(id), bubble_colour(other)) > 24, "{id} and {other}");
            }
        }
    }

    #[test]
    fn bytes_survive_linear_light() {
        for byte in 0..=255 {
            assert_eq!(to_srgb(from_srgb([byte; 3])), [byte; 3]);
        }
    }
}
