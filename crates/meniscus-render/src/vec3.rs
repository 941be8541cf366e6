//! Three floats: a point, a direction or a colour.

use std::ops::{Add, AddAssign, Div, Mul, MulAssign, Neg, Sub};

/// A small vector; `*` between two of them is by component, as colours need it.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Vec3 {
    pub x: f32,
    pub y: f32,
    pub z: f32,
}

/// Short for a vector of three components.
pub(crate) const fn vec3(x: f32, y: f32, z: f32) -> Vec3 {
    Vec3 { x, y, z }
}

impl Vec3 {
    pub const ZERO: Self = Self::splat(0.0);
    pub const ONE: Self = Self::splat(1.0);

    pub const fn splat(s: f32) -> Self {
        vec3(s, s, s)
    }

    pub const fn from_array([x, y, z]: [f32; 3]) -> Self {
        vec3(x, y, z)
    }

    pub fn from_f64(a: [f64; 3]) -> Self {
        Self::from_array(a.map(|x| x as f32))
    }

    pub fn to_array(self) -> [f32; 3] {
        [self.x, self.y, self.z]
    }

    pub fn dot(self, other: Self) -> f32 {
        self.x * other.x + self.y * other.y + self.z * other.z
    }

    pub fn cross(self, o: Self) -> Self {
        vec3(self.y * o.z - self.z * o.y, self.z * o.x - self.x * o.z, self.x * o.y - self.y * o.x)
    }

    pub fn length(self) -> f32 {
        self.dot(self).sqrt()
    }

    /// The unit vector of this direction; a vector without a direction becomes `otherwise`.
    pub fn normalized_or(self, otherwise: Self) -> Self {
        let length = self.length();
        if length > 1e-12 && length.is_finite() { self / length } else { otherwise }
    }

    pub fn map(self, f: impl Fn(f32) -> f32) -> Self {
        vec3(f(self.x), f(self.y), f(self.z))
    }

    pub fn min(self, o: Self) -> Self {
        vec3(self.x.min(o.x), self.y.min(o.y), self.z.min(o.z))
    }

    pub fn max(self, o: Self) -> Self {
        vec3(self.x.max(o.x), self.y.max(o.y), self.z.max(o.z))
    }

    pub fn max_component(self) -> f32 {
        self.x.max(self.y).max(self.z)
    }

    /// From `self` (at 0) to `other` (at 1).
    pub fn lerp(self, other: Self, s: f32) -> Self {
        self + (other - self) * s
    }

    pub fn with_axis(mut self, axis: usize, value: f32) -> Self {
        match axis {
            0 => self.x = value,
            1 => self.y = value,
            _ => self.z = value,
        }
        self
    }
}

impl Add for Vec3 {
    type Output = Self;
    fn add(self, o: Self) -> Self {
        vec3(self.x + o.x, self.y + o.y, self.z + o.z)
    }
}

impl AddAssign for Vec3 {
    fn add_assign(&mut self, o: Self) {
        *self = *self + o;
    }
}

impl Sub for Vec3 {
    type Output = Self;
    fn sub(self, o: Self) -> Self {
        vec3(self.x - o.x, self.y - o.y, self.z - o.z)
    }
}

impl Mul for Vec3 {
    type Output = Self;
    fn mul(self, o: Self) -> Self {
        vec3(self.x * o.x, self.y * o.y, self.z * o.z)
    }
}

impl MulAssign for Vec3 {
    fn mul_assign(&mut self, o: Self) {
        *self = *self * o;
    }
}

impl Mul<f32> for Vec3 {
    type Output = Self;
    fn mul(self, s: f32) -> Self {
        vec3(self.x * s, self.y * s, self.z * s)
    }
}

impl Div<f32> for Vec3 {
    type Output = Self;
    fn div(self, s: f32) -> Self {
        self * (1.0 / s)
    }
}

impl Neg for Vec3 {
    type Output = Self;
    fn neg(self) -> Self {
        vec3(-self.x, -self.y, -self.z)
    }
}
