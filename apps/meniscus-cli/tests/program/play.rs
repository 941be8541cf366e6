//! `meniscus play`: what it refuses, how it begins and ends, and logs.

use std::io::{BufRead, BufReader};
use std::net::TcpStream;
use std::process::{Command, Stdio};

use crate::common::Sandbox;

#[test]
fn scenes_that_cannot_be_played_with_are_refused_with_the_place_and_the_fix() {
    let sandbox = Sandbox::new();
    let refused = |scene: &str, parts: &[&str]| sandbox.ends(2, &["play", "--no-open", scene]).says(parts);
    refused("dam.toml", &["dam.toml, line 1", "simulated on a grid", "method = \"modes\""]);
    sandbox.write("3d.toml", "method = \"modes\"\n[domain]\nsize = [1, 1, 1]\ncells = 8\n[fluid]\n");
    refused("3d.toml", &["3d.toml, line 3", "simulated in 3D", "two dimensions"]);
    let between = "method = \"modes\"\n[domain]\nsize = [1, 1]\ncells = 16\n[fluid]\n[modes]\ncount = 8\ndomain = \"solids\"\n";
    sandbox.write("between.toml", between);
    refused("between.toml", &["between.toml, line 8", "the modes between its solids", "[modes]"]);
    refused("no-such-scene", &["there is no scene `no-such-scene`"]);
    refused("gone.toml", &["cannot read the scene file gone.toml"]);
}

#[test]
fn it_prints_its_address_and_ends_with_ctrl_c() {
    let sandbox = Sandbox::new();
    let mut server = sandbox
        .meniscus(&["play", "jet-modes", "--no-open"])
        .stdout(Stdio::piped())
        .spawn()
        .expect("it starts");
    let mut lines = BufReader::new(server.stdout.take().expect("a pipe")).lines();
    let address = lines.next().expect("a line").expect("text");
    let (host, token) =
        address.strip_prefix("http://").and_then(|rest| rest.split_once("/#")).expect("an address");
    assert!(host.starts_with("127.0.0.1:") && token.len() == 32, "{address}");
    TcpStream::connect(host).expect("it listens");
    let status = Command::new("kill").args(["-INT", &server.id().to_string()]).status().expect("kill");
    assert!(status.success());
    assert!(server.wait().expect("a child").success());
    TcpStream::connect(host).expect_err("it is gone");
}

#[test]
fn what_is_no_log_is_refused_and_another_hash_is_a_failure() {
    let sandbox = Sandbox::new();
    sandbox.write("no.jsonl", "{}\n");
    sandbox.ends(2, &["play", "--replay", "no.jsonl"]).says(&["line 1 of the log"]);
    sandbox.ends(2, &["play", "--replay", "gone.jsonl"]).says(&["cannot read the log gone.jsonl"]);
    let scene = "method = \"modes\"\n[domain]\nsize = [1.0, 1.0]\ncells = 16\n[time]\nfps = 120.0\n[fluid]\n";
    let head =
        format!(r#"{{"meniscus_play":1,"world":"free","scene":{},"rules":null}}"#, serde_json::json!(scene));
    let stroke = r#"{"step":2,"input":{"do":"stir","points":[[0.2,0.5],[0.6,0.5]],"speed":0.5}}"#;
    let log = |hash: &str| format!("{head}\n{stroke}\n{{\"steps\":12,\"hash\":\"{hash}\"}}\n");
    sandbox.write("game.jsonl", &log("0"));
    let said = sandbox.ends(1, &["play", "--replay", "game.jsonl"]);
    said.says(&["the log says 0"]);
    let hash = said.stdout.trim().strip_prefix("12 steps, hash ").expect("the hash").to_owned();
    sandbox.write("game.jsonl", &log(&hash));
    sandbox.ends(0, &["play", "--replay", "game.jsonl"]);
}
