//! Many bodies at once.

use meniscus_contact::Moving;
use meniscus_core::shape::Shape;
use meniscus_core::vector::norm;

use crate::scene::{Body, Scene, ball, block, closed_domain};

/// Numbers between -1 and 1 that are the same every time.
struct Numbers(u64);

impl Numbers {
    fn next(&mut self) -> f64 {
        self.0 = self.0.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (self.0 >> 11) as f64 / (1_u64 << 52) as f64 - 1.0
    }

    fn vector<const D: usize>(&mut self) -> [f64; D] {
        std::array::from_fn(|_| self.next())
    }
}

/// Balls, blocks and capsules in a grid, thrown about.
fn crowd<const D: usize>(count: usize) -> Vec<Body<D>> {
    let mut numbers = Numbers(1);
    let a_side = (count as f64).powf(1.0 / D as f64).ceil() as usize;
    (0..count)
        .map(|index| {
            let mut rest = index;
            let centre = std::array::from_fn(|_| {
                let place = rest % a_side;
                rest /= a_side;
                (place as f64 + 0.5) / a_side as f64
            });
            let radius = 0.3 / a_side as f64;
            let body = match index % 3 {
                0 => ball(radius, centre),
                1 => block([0.6 * radius; D], centre),
                _ => capsule(radius, centre),
            };
            let velocity = numbers.vector().map(|v: f64| 2.0 * v);
            let spin = if D == 2 {
                [0.0, 0.0, 5.0 * numbers.next()]
            } else {
                numbers.vector().map(|v: f64| 5.0 * v)
            };
            body.velocity(velocity).spin(spin).restitution(0.3)
        })
        .collect()
}

fn capsule<const D: usize>(reach: f64, centre: [f64; D]) -> Body<D> {
    let mut end = [0.0; D];
    end[0] = 0.6 * reach;
    let shape = Shape::capsule(end.map(|x| -x), end, 0.4 * reach).unwrap();
    Body { shape, ..ball(0.6 * reach, centre) }
}

#[test]
fn a_crowd_stays_in_its_box() {
    stay::<2>(2000);
    stay::<3>(500);
}

fn stay<const D: usize>(steps: usize) {
    let mut scene = Scene::new(&closed_domain(1.0, 50.0), &crowd::<D>(50), &[]);
    for _ in 0..steps {
        scene.fall(0, 0.005);
        for (index, body) in scene.bodies.iter().enumerate() {
            let centre = body.pose.translation;
            assert!(centre.iter().all(|x| (0.0..=1.0).contains(x)), "{D}D body {index} at {centre:?}");
            assert!(norm(body.velocity) < 10.0, "{D}D body {index} at {:?}", body.velocity);
        }
    }
}

#[test]
fn the_same_bits_for_any_number_of_threads_and_after_a_break() {
    same::<2>();
    same::<3>();
}

fn same<const D: usize>() {
    let run = |threads: usize, pause: Option<usize>| -> Vec<Moving<D>> {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| {
            let bodies = crowd::<D>(20);
            let mut scene = Scene::new(&closed_domain(1.0, 50.0), &bodies, &[]);
            for step in 0..150 {
                if pause == Some(step) {
                    let state = scene.bodies.clone();
                    scene = Scene::new(&closed_domain(1.0, 50.0), &bodies, &[]);
                    scene.bodies = state;
                }
                scene.fall(0, 0.005);
            }
            scene.bodies
        })
    };
    let first = run(1, None);
    assert_eq!(first, run(1, None));
    assert_eq!(first, run(3, None));
    assert_eq!(first, run(1, Some(70)));
}
