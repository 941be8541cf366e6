use super::*;
#[test]
fn long_try() {
    let mesh = kuhn(16);
    let ball = mesh.ball();
    let matrix = laplacian(&mesh, false, |k| if ball[k] == 1 { 1e3 } else { 1.0 });
    let b = Random(7).vector(matrix.height());
    for (name, params) in [
        ("default", AmgParams::default()),
        ("cheb2", AmgParams { smoother: Smoother::Chebyshev { degree: 2 }, ..Default::default() }),
        ("cheb4", AmgParams { smoother: Smoother::Chebyshev { degree: 4 }, ..Default::default() }),
        ("2 level", AmgParams { max_coarse: 500, ..Default::default() }),
        ("strength .25", AmgParams { strength: 0.25, ..Default::default() }),
        ("strength .16", AmgParams { strength: 0.16, ..Default::default() }),
        ("strength .04", AmgParams { strength: 0.04, ..Default::default() }),
        ("strength .0", AmgParams { strength: 0.0, ..Default::default() }),
        ("no smoothing", AmgParams { relaxation: 0.0, ..Default::default() }),
        ("less smoothing", AmgParams { relaxation: 0.66, ..Default::default() }),
    ] {
        let mut amg = Amg::new(&matrix, &ones(&matrix), &params).expect("definite");
        let (_, info) = solve(&matrix, &mut amg, &b, 1e-8);
        let h: Vec<String> = info.history.iter().step_by(4).map(|h| format!("{h:.0e}")).collect();
        println!("{name}: {} {:?} {}", info.iterations, amg.sizes(), h.join(" "));
    }
}
