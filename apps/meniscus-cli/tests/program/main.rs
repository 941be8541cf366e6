//! The whole program: the real binary in temporary folders.

mod bench;
mod branches;
mod common;
mod damage;
mod folders;
mod full_disk;
mod made_of_frames;
#[cfg(target_os = "linux")]
mod memory;
mod play;
mod run;
mod scenes;
mod stopped;
