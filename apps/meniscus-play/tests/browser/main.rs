//! tmp
mod client;
use client::*;
use meniscus_play::*;
use std::path::Path;

#[test]
fn shots() {
    let server = Server::start(Options::default()).unwrap();
    let browser = Browser::start(&chromium().unwrap(), &[]);
    let size = [1280, 720];
    let mut tab = browser.open(&server.url(), size);
    let out = Path::new("/tmp/play-shots");
    std::fs::create_dir_all(out).unwrap();
    tab.until("currents.state.frame && currents.water && currents.pictures > 5");
    println!("{}", tab.eval("currents.water.kind"));
    for c in tab.complaints.iter().take(6) {
        println!("COMPLAINT {}", &c[..c.len().min(400)]);
    }
    tab.eval("(async () => { const {LEVELS} = await import('/quality.js'); currents.quality.picture = () => false; currents.quality.set(LEVELS[1]); })()");
    let p = tab.number("currents.pictures"); tab.until(&format!("currents.pictures > {p} + 25"));
    tab.screenshot(&out.join("menu.png"));
    let only = std::env::var("ONLY").unwrap_or_default();
    for world in ["free", "first-light", "deep-end", "the-gap", "minefield", "the-mill", "maelstrom"] {
        if !only.is_empty() && !only.contains(world) {
            continue;
        }
        tab.eval(&format!("currents.act.open('{world}')"));
        tab.until(&format!("currents.state.world.name == '{world}' && currents.state.frame.world == currents.state.world.world && currents.state.frame.step > 20"));
        tab.screenshot(&out.join(format!("{world}-0.png")));
        // three strokes
        for k in 0..3 {
            let y = 250.0 + 110.0 * k as f64;
            tab.pointer("mousePressed", [250.0, y]);
            for s in 1..=14 {
                tab.pointer("mouseMoved", [250.0 + 30.0 * s as f64, y + 40.0 * (s as f64 * 0.7).sin()]);
            }
            tab.pointer("mouseReleased", [670.0, y]);
        }
        if world == "the-gap" {
            tab.until("currents.state.world.modes.length > 0");
            tab.key("1", "Digit1");
            tab.key("1", "Digit1");
        }
        if world == "free" {
            tab.eval("currents.connection.send({do:'drop',at:[0.4,0.6],density:300,radius:0.06,box:false})");
            tab.eval("currents.connection.send({do:'drop',at:[0.8,0.6],density:1000,radius:0.06,box:true})");
            tab.eval("currents.connection.send({do:'drop',at:[1.1,0.6],density:3000,radius:0.05,box:false})");
        }
        let step = tab.number("currents.state.frame.step");
        tab.until(&format!("currents.state.frame.step > {step} + 70"));
        let p = tab.number("currents.pictures"); tab.until(&format!("currents.pictures > {p} + 6"));
        tab.screenshot(&out.join(format!("{world}-1.png")));
        println!(
            "{world}: {} pace {} {}",
            tab.eval("document.getElementById('stats').textContent"),
            tab.number("currents.state.frame.pace"),
            tab.number("currents.quality.rate")
        );
    }
    for c in tab.complaints.iter().take(6) {
        println!("COMPLAINT {}", &c[..c.len().min(400)]);
    }
}
#[test]
#[ignore]
fn debug() {
    let server = Server::start(Options::default()).unwrap();
    let browser = Browser::start(&chromium().unwrap(), &[]);
    let mut tab = browser.open(&server.url(), [1280, 720]);
    tab.until("currents.state.frame && currents.water && currents.pictures > 5");
    for level in 0..6 {
    println!("{}", tab.eval(&format!("(async () => {{ const w = currents.water, gl = w.gl; const {{LEVELS}} = await import('/quality.js'); w.setLevel(LEVELS[{level}]); const p=new Uint8Array(4); const sync=()=>{{gl.bindFramebuffer(gl.FRAMEBUFFER,null); gl.readPixels(0,0,1,1,gl.RGBA,gl.UNSIGNED_BYTE,p);}}; const f=currents.state.frame; w.draw(f,1); sync(); const out={{}}; const time=(n,g)=>{{const t=performance.now(); for(let k=0;k<3;k++){{g();sync();}} out[n]=((performance.now()-t)/3).toFixed(1);}}; gl.disable(gl.BLEND); gl.bindVertexArray(w.nothing); time('syn',()=>w.synthesise(f,1)); time('dye',()=>w.moveDye(0.016)); time('part',()=>w.moveParticles(0.016,1)); time('comp',()=>w.compose(1)); return JSON.stringify([out, w.canvas.width]); }})()")));
    }
    let p = tab.number("currents.pictures"); std::thread::sleep(std::time::Duration::from_secs(3)); println!("rate {} at {}", (tab.number("currents.pictures") - p) / 3.0, tab.number("currents.quality.at"));
    tab.eval("document.getElementById('menu').hidden = true");
    let p = tab.number("currents.pictures"); std::thread::sleep(std::time::Duration::from_secs(3)); println!("rate without menu {} at {}", (tab.number("currents.pictures") - p) / 3.0, tab.number("currents.quality.at"));
    for c in tab.complaints.iter().take(6) { println!("COMPLAINT {}", &c[..c.len().min(400)]); }
}
