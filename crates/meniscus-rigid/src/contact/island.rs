//! Bodies that contacts join, with the contacts that press eliminated.

use meniscus_linalg::Compliance;

use super::dense::{cholesky, dot, multiply, solve_factored, solve_lower, solve_upper};
use super::quadratic::{Place, minimise};
use super::row::{Kind, Row, Touch, rows_of};
use crate::motion::{Matrix, SIZE, Twist, motion_count};

/// What is left of a row that others contain, as a part of it: the square root of the rounding of doubles.
const DEPENDENT: f64 = 1e-8;
/// Contacts that share a load share it evenly: they give by this part of what they would alone. Above rounding, below anything that moves.
const GIVE: f64 = 1e-9;
/// How often friction is bounded by the latest impulses.
const LAGS: usize = 4;

/// Bodies that touch each other, directly or by others.
pub struct Island {
    /// Their numbers.
    pub bodies: Vec<usize>,
    rows: Vec<Row>,
    /// The degrees of freedom of a body.
    count: usize,
    /// The factor L of their masses, in those of a cell.
    factor: Vec<f64>,
    mass: Vec<f64>,
    /// M V*.
    momentum: Vec<f64>,
    /// Where the impulse of each row is, and what it is.
    pub(super) places: Vec<Place>,
    pub(super) impulses: Vec<f64>,
    /// What bounds them.
    bounds: Vec<[f64; 2]>,
}

/// What becomes of the bounds of friction when contacts are guessed anew.
#[derive(Clone, Copy, PartialEq)]
pub(super) enum Friction {
    /// They follow the impulses that press.
    Follows,
    /// They stay: only so is it a minimum that rounds are sure to find.
    Stays,
    /// There is none, nor any contact but of what touches.
    Gone,
}

/// An island with its pressing contacts eliminated: V = `compliance` (what pushes) + `velocity`.
pub struct Eliminated {
    pub compliance: Compliance,
    pub velocity: Vec<f64>,
}

/// A body as its contacts see it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Inertial<const D: usize> {
    /// The point that rotations are about, in metres.
    pub centre: [f64; D],
    /// The mass matrix on velocities [`Twist`], in kg, kg m and kg m² (2D: per metre of depth).
    pub mass: Matrix,
    /// The tentative velocity.
    pub velocity: Twist,
}

/// The islands of bodies that have contacts. What is nearer than `near`, in m, touches, and `unit` is the mass that counts as one, in kg.
pub fn islands<const D: usize>(
    bodies: &[Inertial<D>],
    touches: &[Touch<D>],
    near: f64,
    dt: f64,
    unit: f64,
) -> Vec<Island> {
    let mut of_body: Vec<usize> = (0..bodies.len()).collect();
    for (body, other) in touches.iter().filter_map(|touch| Some((touch.body, touch.other?))) {
        let (from, to) = (of_body[body].max(of_body[other]), of_body[body].min(of_body[other]));
        of_body.iter_mut().filter(|of| **of == from).for_each(|of| *of = to);
    }
    let with_contacts =
        (0..bodies.len()).filter(|&first| touches.iter().any(|touch| of_body[touch.body] == first));
    let island = |first: usize| {
        let members: Vec<usize> = (0..bodies.len()).filter(|&body| of_body[body] == first).collect();
        let touches = touches.iter().filter(|touch| of_body[touch.body] == first);
        Island::new(bodies, members, touches, near, dt, unit)
    };
    with_contacts.map(island).collect()
}

impl Island {
    fn new<'a, const D: usize>(
        bodies: &[Inertial<D>],
        members: Vec<usize>,
        touches: impl Iterator<Item = &'a Touch<D>>,
        near: f64,
        dt: f64,
        unit: f64,
    ) -> Self {
        let (count, n) = (motion_count::<D>(), motion_count::<D>() * members.len());
        let mut mass = vec![0.0; n * n];
        let mut velocity = vec![0.0; n];
        for (k, body) in members.iter().map(|&body| &bodies[body]).enumerate() {
            for i in 0..count {
                velocity[k * count + i] = body.velocity[i];
                for j in 0..count {
                    mass[(k * count + i) * n + k * count + j] = body.mass[i][j] / unit;
                }
            }
        }
        let mut rows: Vec<Row> = Vec::new();
        let slide = |row: &Row| -> f64 {
            row.parts.iter().flatten().map(|(body, part)| dot(part, &bodies[*body].velocity)).sum()
        };
        for touch in touches {
            let number = rows.len();
            rows.extend(rows_of(touch, number, near, dt, |body| bodies[body].centre, slide));
        }
        let momentum = multiply(&mass, &velocity);
        let mut factor = mass.clone();
        cholesky(&mut factor, n);
        let (places, impulses) = (vec![Place::Lower; rows.len()], vec![0.0; rows.len()]);
        let bounds = vec![[0.0; 2]; rows.len()];
        Self { bodies: members, rows, count, factor, mass, momentum, places, impulses, bounds }
    }

    fn len(&self) -> usize {
        self.momentum.len()
    }

    /// The numbers of their degrees of freedom among those of all bodies.
    pub fn dofs(&self) -> Vec<usize> {
        self.bodies.iter().flat_map(|body| (0..self.count).map(move |i| body * self.count + i)).collect()
    }

    /// C^T of a row.
    fn column(&self, row: &Row) -> Vec<f64> {
        let mut column = vec![0.0; self.len()];
        for (body, part) in row.parts.iter().flatten() {
            let k = self.bodies.iter().position(|member| member == body).expect("a body of the island");
            column[k * self.count..(k + 1) * self.count].copy_from_slice(&part[..self.count]);
        }
        column
    }

    /// What the impulses at their bounds push: those of contacts that slide.
    fn pushed_by_sliding(&self) -> Vec<f64> {
        let mut push = vec![0.0; self.len()];
        for (k, row) in self.rows.iter().enumerate() {
            if self.places[k] != Place::Between && self.impulses[k] != 0.0 {
                let column = self.column(row);
                push.iter_mut().zip(&column).for_each(|(p, c)| *p += self.impulses[k] * c);
            }
        }
        push
    }

    /// Eliminates the contacts that press or stick.
    pub fn eliminated(&self) -> Eliminated {
        let n = self.len();
        let (basis, coordinates) = self.held();
        // L^-1, with what is held taken out of it twice: rounding would leave what is held a little way to move.
        let mut free: Vec<Vec<f64>> = Vec::with_capacity(n);
        for i in 0..n {
            let mut column = vec![0.0; n];
            column[i] = 1.0;
            solve_lower(&self.factor, n, &mut column);
            let size = length(&column);
            for _ in 0..2 {
                take_out(&basis, &mut column);
            }
            // What is held wholly does not move at all: pressures that nothing else bounds would ask how much.
            if length(&column) < DEPENDENT * size {
                column.fill(0.0);
            }
            free.push(column);
        }
        let mut matrix = vec![0.0; n * n];
        for i in 0..n {
            for j in 0..=i {
                let product = dot(&free[i], &free[j]);
                (matrix[i * n + j], matrix[j * n + i]) = (product, product);
            }
        }
        let push: Vec<f64> = self.momentum.iter().zip(self.pushed_by_sliding()).map(|(m, p)| m + p).collect();
        let mut velocity = vec![0.0; n];
        for (vector, y) in basis.iter().zip(coordinates) {
            velocity.iter_mut().zip(vector).for_each(|(v, q)| *v += y * q);
        }
        solve_upper(&self.factor, n, &mut velocity);
        velocity.iter_mut().zip(multiply(&matrix, &push)).for_each(|(v, w)| *v += w);
        Eliminated { compliance: Compliance { dofs: self.dofs(), matrix }, velocity }
    }

    /// The basis Q of what holds the bodies, and the coordinates Q^T L^T V that it holds them at.
    fn held(&self) -> (Vec<Vec<f64>>, Vec<f64>) {
        let n = self.len();
        let rows = self.rows.iter().zip(&self.places).filter(|(_, place)| **place == Place::Between);
        let mut left: Vec<(Vec<f64>, f64, f64)> = rows
            .map(|(row, _)| {
                let mut column = self.column(row);
                solve_lower(&self.factor, n, &mut column);
                let size = length(&column);
                (column, row.target, size)
            })
            .collect();
        let (mut basis, mut coordinates) = (Vec::new(), Vec::new());
        // The row that the basis knows least of comes first.
        loop {
            let part =
                |(column, _, size): &(Vec<f64>, f64, f64)| length(column) / size.max(f64::MIN_POSITIVE);
            let most = (0..left.len()).max_by(|&a, &b| part(&left[a]).total_cmp(&part(&left[b])));
            let Some(most) = most.filter(|&most| part(&left[most]) > DEPENDENT) else { break };
            let (mut vector, target, _) = left.swap_remove(most);
            let size = length(&vector);
            vector.iter_mut().for_each(|v| *v /= size);
            let coordinate = target / size;
            for (column, target, _) in &mut left {
                let along = dot(column, &vector);
                column.iter_mut().zip(&vector).for_each(|(c, v)| *c -= along * v);
                *target -= along * coordinate;
            }
            basis.push(vector);
            coordinates.push(coordinate);
        }
        (basis, coordinates)
    }

    /// Finds which contacts press, slide and stick if pressures push with `push` (J^T q) and the bodies resist also with the masses `added`, against what they do now: `velocity`. Returns the velocities then.
    /// What bounds friction follows the impulses, or stays as it is.
    pub(super) fn guess(
        &mut self,
        push: &[f64],
        velocity: &[f64],
        added: &[f64],
        friction: Friction,
    ) -> Vec<f64> {
        let contacts = self.contacts(push, velocity, added);
        let mut places = std::mem::take(&mut self.places);
        for lag in 0..if friction == Friction::Follows && self.has_friction() { LAGS } else { 1 } {
            match friction {
                Friction::Stays => {}
                Friction::Follows => {
                    self.bounds = self.rows.iter().map(|row| bounds(row, &self.impulses)).collect();
                }
                Friction::Gone => {
                    let touches = |row: &Row| row.kind == Kind::Normal { allowed: 0.0 };
                    let most = |row: &Row| if touches(row) { f64::INFINITY } else { 0.0 };
                    self.bounds = self.rows.iter().map(|row| [0.0, most(row)]).collect();
                }
            }
            let latest = contacts.impulses(&self.bounds, &mut places);
            let change =
                latest.iter().zip(&self.impulses).fold(0.0f64, |most, (a, b)| most.max((a - b).abs()));
            let size = latest.iter().fold(0.0f64, |most, a| most.max(a.abs()));
            self.impulses = latest;
            if lag > 0 && change <= 1e-4 * size {
                break;
            }
        }
        self.places = places;
        contacts.velocity(&self.impulses)
    }

    /// The velocities if bodies met nothing ahead of them faster than at `rest`; `None` if they do not.
    pub fn until_hit(&self, push: &[f64], velocity: &[f64], added: &[f64], rest: f64) -> Option<Vec<f64>> {
        let allowed = |row: &Row| if let Kind::Normal { allowed } = row.kind { allowed } else { 0.0 };
        // Also what does not press: it would take over from what does.
        let ahead: Vec<bool> = self.rows.iter().map(|row| allowed(row) > 0.0).collect();
        if !ahead.iter().zip(&self.impulses).any(|(ahead, impulse)| *ahead && *impulse != 0.0) {
            return None;
        }
        let contacts = self.contacts(push, velocity, added);
        let without = |is_hit: &[bool]| {
            let is_out = |(number, row): (usize, &Row)| match row.kind {
                Kind::Tangent { normal, .. } => is_hit[normal],
                Kind::Normal { .. } => is_hit[number],
            };
            let of_row =
                |(row, bounds): ((usize, &Row), &[f64; 2])| if is_out(row) { [0.0; 2] } else { *bounds };
            let bounds: Vec<[f64; 2]> = self.rows.iter().enumerate().zip(&self.bounds).map(of_row).collect();
            contacts.velocity(&contacts.impulses(&bounds, &mut self.places.clone()))
        };
        let free = without(&ahead);
        let approach = |row: &Row| row.target + allowed(row) - dot(&self.column(row), &free);
        let is_hit = |(row, ahead): (&Row, &bool)| *ahead && approach(row) > rest;
        let hits: Vec<bool> = self.rows.iter().zip(&ahead).map(is_hit).collect();
        hits.contains(&true).then(|| if hits == ahead { free } else { without(&hits) })
    }

    fn has_friction(&self) -> bool {
        self.rows.iter().any(|row| matches!(row.kind, Kind::Tangent { .. }))
    }

    /// The small problem of all contacts.
    fn contacts(&self, push: &[f64], velocity: &[f64], added: &[f64]) -> Contacts {
        let n = self.len();
        let mut matrix: Vec<f64> = self.mass.iter().zip(added).map(|(m, a)| m + a).collect();
        let of_added = multiply(added, velocity);
        let mut start: Vec<f64> = (0..n).map(|i| self.momentum[i] + push[i] + of_added[i]).collect();
        cholesky(&mut matrix, n);
        solve_factored(&matrix, n, &mut start);
        let columns: Vec<Vec<f64>> = self.rows.iter().map(|row| self.column(row)).collect();
        let solved: Vec<Vec<f64>> = columns
            .iter()
            .map(|column| {
                let mut solved = column.clone();
                solve_factored(&matrix, n, &mut solved);
                solved
            })
            .collect();
        let m = self.rows.len();
        let mut a = vec![0.0; m * m];
        for i in 0..m {
            for j in 0..=i {
                let value = dot(&columns[i], &solved[j]);
                (a[i * m + j], a[j * m + i]) = (value, value);
            }
        }
        (0..m).for_each(|i| a[i * m + i] *= 1.0 + GIVE);
        let b: Vec<f64> = (0..m).map(|i| dot(&columns[i], &start) - self.rows[i].target).collect();
        Contacts { a, b, start, solved }
    }

    /// The fastest motion at its contacts of bodies with these velocities, in m/s.
    pub(super) fn fastest(&self, velocity: &[f64]) -> f64 {
        let speed = |row: &Row| dot(&self.column(row), velocity).abs();
        self.rows.iter().map(speed).fold(0.0, f64::max)
    }

    /// The fastest before pressure and contact.
    pub(super) fn fastest_before(&self) -> f64 {
        let mut velocity = self.momentum.clone();
        solve_factored(&self.factor, self.len(), &mut velocity);
        self.fastest(&velocity)
    }

    /// Its part of a vector on all degrees of freedom.
    pub fn part(&self, all: &[Twist]) -> Vec<f64> {
        self.bodies.iter().flat_map(|&body| all[body][..self.count].to_vec()).collect()
    }

    /// Writes its part of the velocities of all bodies.
    pub fn write(&self, part: &[f64], all: &mut [Twist]) {
        for (&body, part) in self.bodies.iter().zip(part.chunks_exact(self.count)) {
            all[body] = [0.0; SIZE];
            all[body][..self.count].copy_from_slice(part);
        }
    }

    /// How many contacts press.
    pub fn pressing(&self) -> usize {
        let is_normal = |row: &Row| matches!(row.kind, Kind::Normal { .. });
        let held = self.rows.iter().zip(&self.places).filter(|(_, place)| **place == Place::Between);
        held.filter(|(row, _)| is_normal(row)).count()
    }
}

/// What the impulses of contacts have to solve, min ½ x·A x + b·x, and what they do.
struct Contacts {
    a: Vec<f64>,
    b: Vec<f64>,
    /// The velocities without them.
    start: Vec<f64>,
    /// What each changes.
    solved: Vec<Vec<f64>>,
}

impl Contacts {
    /// The impulses within bounds. `places` are a guess, and are found.
    fn impulses(&self, bounds: &[[f64; 2]], places: &mut [Place]) -> Vec<f64> {
        minimise(&self.a, &self.b, bounds, places)
    }

    /// The velocities with impulses.
    fn velocity(&self, impulses: &[f64]) -> Vec<f64> {
        let mut velocity = self.start.clone();
        for (column, impulse) in self.solved.iter().zip(impulses) {
            velocity.iter_mut().zip(column).for_each(|(v, s)| *v += impulse * s);
        }
        velocity
    }
}

fn bounds(row: &Row, impulses: &[f64]) -> [f64; 2] {
    match row.kind {
        Kind::Normal { .. } => [0.0, f64::INFINITY],
        Kind::Tangent { normal, friction } => {
            let most = friction * impulses[normal].max(0.0);
            [-most, most]
        }
    }
}

fn length(vector: &[f64]) -> f64 {
    dot(vector, vector).sqrt()
}

fn take_out(basis: &[Vec<f64>], vector: &mut [f64]) {
    for q in basis {
        let along = dot(q, vector);
        vector.iter_mut().zip(q).for_each(|(v, q)| *v -= along * q);
    }
}
