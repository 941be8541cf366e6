//! Files that appear whole or not at all.

use std::fs::{self, File, TryLockError};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

use super::WriteError;

/// How the names of unfinished files end; they begin with a dot.
const UNFINISHED: &str = ".part";

/// Writes a file aside, in the same folder, and moves it into place once it is safely on the disk. On any
/// error, and if the process is killed, the file is what it was before.
///
/// What killed processes left aside in the folder is removed first.
pub fn write_atomically(path: impl AsRef<Path>, bytes: &[u8]) -> Result<(), WriteError> {
    write_parts(path.as_ref(), &[bytes])
}

/// [`write_atomically`] with the content in pieces.
pub(crate) fn write_parts(path: &Path, parts: &[&[u8]]) -> Result<(), WriteError> {
    write_aside(path, |file| write_all(file, parts)).map_err(|source| WriteError::new(path, source))
}

fn write_all(file: &mut impl Write, parts: &[&[u8]]) -> io::Result<()> {
    parts.iter().try_for_each(|part| file.write_all(part))
}

fn write_aside(path: &Path, fill: impl FnOnce(&mut File) -> io::Result<()>) -> io::Result<()> {
    let folder = match path.parent() {
        Some(parent) if parent != Path::new("") => parent,
        _ => Path::new("."),
    };
    remove_leftovers(folder);
    let mut aside = Aside::create(folder, path)?;
    fill(&mut aside.file)?;
    aside.file.sync_all()?;
    fs::rename(&aside.path, path)?;
    aside.is_moved = true;
    // The new name is safe when the folder is. Not every system lets one open a folder.
    File::open(folder).and_then(|folder| folder.sync_all()).or(Ok(()))
}

/// An unfinished file. It is locked as long as its writer lives, and removed if it is dropped unmoved.
struct Aside {
    path: PathBuf,
    file: File,
    is_moved: bool,
}

impl Aside {
    fn create(folder: &Path, target: &Path) -> io::Result<Self> {
        static COUNTER: AtomicU64 = AtomicU64::new(0);
        let name = target.file_name().ok_or(io::ErrorKind::InvalidFilename)?.to_string_lossy();
        loop {
            let count = COUNTER.fetch_add(1, Ordering::Relaxed);
            let path = folder.join(format!(".{name}.{}-{count}{UNFINISHED}", std::process::id()));
            let file = match File::create_new(&path) {
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => continue,
                result => result?,
            };
            // Between its creation and this lock another process may have taken the file for a leftover.
            let is_lost = matches!(file.try_lock(), Err(TryLockError::WouldBlock)) || !path.exists();
            if !is_lost {
                return Ok(Self { path, file, is_moved: false });
            }
        }
    }
}

impl Drop for Aside {
    fn drop(&mut self) {
        if !self.is_moved {
            // The write has failed already; a file that cannot be removed is left to the next writer.
            let _ = fs::remove_file(&self.path);
        }
    }
}

/// Removes unfinished files whose writer is gone: nobody holds their lock. What cannot be removed stays.
fn remove_leftovers(folder: &Path) {
    let Ok(entries) = fs::read_dir(folder) else { return };
    for entry in entries.flatten() {
        let name = entry.file_name();
        let name = name.to_string_lossy();
        if name.starts_with('.') && name.ends_with(UNFINISHED) {
            // The lock is held until the file is gone: else its writer, if it is only just about to lock it, could take it for
            // its own in between.
            if let Ok(file) = File::open(entry.path())
                && file.try_lock().is_ok()
            {
                let _ = fs::remove_file(entry.path());
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(folder: &Path) -> Vec<String> {
        let mut names: Vec<_> = fs::read_dir(folder)
            .unwrap()
            .map(|entry| entry.unwrap().file_name().into_string().unwrap())
            .collect();
        names.sort();
        names
    }

    #[test]
    fn files_are_replaced_whole_and_nothing_else_is_left() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.txt");
        write_atomically(&path, b"first").unwrap();
        write_atomically(&path, b"second, longer").unwrap();
        write_atomically(&path, b"3rd").unwrap();
        assert_eq!(fs::read(&path).unwrap(), b"3rd");
        assert_eq!(names(folder.path()), ["a.txt"]);
    }

    #[test]
    fn leftovers_of_the_dead_go_and_those_of_the_living_stay() {
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join(".b.png.99999-0.part"), b"half a pict").unwrap();
        fs::write(folder.path().join(".hidden"), b"of somebody else").unwrap();
        let living = Aside::create(folder.path(), Path::new("c.txt")).unwrap();
        write_atomically(folder.path().join("a.txt"), b"whole").unwrap();
        let own = living.path.file_name().unwrap().to_str().unwrap().to_owned();
        assert_eq!(names(folder.path()), [&own, ".hidden", "a.txt"]);
        drop(living);
        assert_eq!(names(folder.path()), [".hidden", "a.txt"]);
    }

    #[test]
    fn a_write_that_fails_leaves_what_was_there() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.txt");
        write_atomically(&path, b"before").unwrap();
        let error = write_aside(&path, |file| {
            file.write_all(b"half")?;
            Err(io::ErrorKind::StorageFull.into())
        });
        let error = WriteError::new(&path, error.unwrap_err());
        assert!(matches!(error, WriteError::DiskFull { .. }), "{error}");
        assert!(error.to_string().contains("a.txt"));
        assert_eq!(fs::read(&path).unwrap(), b"before");
        assert_eq!(names(folder.path()), ["a.txt"]);

        let nowhere = write_atomically(folder.path().join("none/a.txt"), b"x").unwrap_err();
        assert!(matches!(nowhere, WriteError::Io { .. }) && nowhere.to_string().contains("a.txt"));
    }

    #[test]
    #[cfg(target_os = "linux")]
    fn a_full_disk_is_named() {
        let mut full = File::options().write(true).open("/dev/full").unwrap();
        let error = write_all(&mut full, &[b"some", b"bytes"]).unwrap_err();
        let error = WriteError::new(Path::new("frames/dam.0001.frame"), error).to_string();
        assert!(
            error.starts_with("no space left on the disk to write frames/dam.0001.frame; files"),
            "{error}"
        );
    }

    #[test]
    fn many_threads_write_one_file() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.txt");
        std::thread::scope(|scope| {
            for k in 0..4u8 {
                let path = &path;
                scope.spawn(move || {
                    for _ in 0..5 {
                        write_atomically(path, &[k; 1000]).unwrap();
                    }
                });
            }
        });
        let content = fs::read(&path).unwrap();
        assert!(content.len() == 1000 && content.iter().all(|&b| b == content[0]));
        assert_eq!(names(folder.path()), ["a.txt"]);
    }
}
