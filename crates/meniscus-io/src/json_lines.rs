//! Logs of one JSON value a line.

use std::fs::File;
use std::io::{self, BufRead, BufReader, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use serde::Serialize;

use crate::WriteError;

/// A log that grows line by line. Each line goes to the system at once, so a killed process loses at most the
/// end of the line that it was writing; [`JsonLines::resume`] drops that.
#[derive(Debug)]
pub struct JsonLines {
    path: PathBuf,
    file: File,
    /// Bytes of whole lines.
    len: u64,
}

impl JsonLines {
    /// An empty log; what the file held is gone.
    pub fn create(path: impl AsRef<Path>) -> Result<Self, WriteError> {
        let path = path.as_ref();
        let file = File::create(path).map_err(|source| WriteError::new(path, source))?;
        Ok(Self { path: path.into(), file, len: 0 })
    }

    /// The log with its lines up to the first for which `keep` does not hold, or that is cut off or not JSON;
    /// that one and all after it are removed from the file. A missing file is an empty log.
    pub fn resume(
        path: impl AsRef<Path>,
        keep: impl Fn(&serde_json::Value) -> bool,
    ) -> Result<Self, WriteError> {
        let path = path.as_ref();
        let open = || {
            let mut file = File::options().read(true).write(true).create(true).truncate(false).open(path)?;
            let len = kept_len(&mut BufReader::new(&file), keep)?;
            file.set_len(len)?;
            file.seek(SeekFrom::Start(len))?;
            Ok((file, len))
        };
        let (file, len) = open().map_err(|source| WriteError::new(path, source))?;
        Ok(Self { path: path.into(), file, len })
    }

    /// Adds a line.
    pub fn append(&mut self, value: &impl Serialize) -> Result<(), WriteError> {
        let mut line = serde_json::to_vec(value).map_err(|error| WriteError::Unserialisable {
            path: self.path.clone(),
            problem: error.to_string(),
        })?;
        line.push(b'\n');
        if let Err(source) = self.file.write_all(&line) {
            // Take back the part that fitted. If even that fails, `resume` will.
            let _ = self.file.set_len(self.len).and_then(|()| self.file.seek(SeekFrom::Start(self.len)));
            return Err(WriteError::new(&self.path, source));
        }
        self.len += line.len() as u64;
        Ok(())
    }
}

/// The bytes of the lines to keep.
fn kept_len(lines: &mut impl BufRead, keep: impl Fn(&serde_json::Value) -> bool) -> io::Result<u64> {
    let (mut len, mut line) = (0, Vec::new());
    loop {
        line.clear();
        let read = lines.read_until(b'\n', &mut line)?;
        let is_kept = line.ends_with(b"\n") && serde_json::from_slice(&line).is_ok_and(|value| keep(&value));
        if !is_kept {
            return Ok(len);
        }
        len += read as u64;
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use serde_json::json;

    use super::*;

    #[test]
    fn a_resumed_log_ends_at_its_checkpoint() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("stats.jsonl");
        let mut log = JsonLines::create(&path).unwrap();
        for frame in 1..=4 {
            log.append(&json!({ "frame": frame, "name": "a\nb" })).unwrap();
        }
        // Nothing is held back, and no destructor is needed.
        assert_eq!(fs::read_to_string(&path).unwrap().lines().count(), 4);
        std::mem::forget(log);
        let mut file = File::options().append(true).open(&path).unwrap();
        file.write_all(b"{\"frame\":5,\"na").unwrap();

        let up_to = |last: i64| move |line: &serde_json::Value| line["frame"].as_i64() <= Some(last);
        let mut log = JsonLines::resume(&path, up_to(9)).unwrap();
        assert_eq!(fs::read_to_string(&path).unwrap().lines().count(), 4, "the torn line is dropped");
        log.append(&json!({ "frame": 5 })).unwrap();
        let mut log = JsonLines::resume(&path, up_to(2)).unwrap();
        log.append(&json!({ "frame": 3 })).unwrap();
        let expected = "{\"frame\":1,\"name\":\"a\\nb\"}\n{\"frame\":2,\"name\":\"a\\nb\"}\n{\"frame\":3}\n";
        assert_eq!(fs::read_to_string(&path).unwrap(), expected);
    }

    #[test]
    fn torn_anywhere_the_whole_lines_stay() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("stats.jsonl");
        let whole = "{\"a\":12}\n{\"a\":3}\n";
        for len in 0..=whole.len() {
            fs::write(&path, &whole[..len]).unwrap();
            JsonLines::resume(&path, |_| true).unwrap();
            let kept = whole[..len].rfind('\n').map_or(0, |newline| newline + 1);
            assert_eq!(fs::read_to_string(&path).unwrap(), whole[..kept]);
        }
        fs::write(&path, "{\"a\":1}\nnot json\n{\"a\":2}\n").unwrap();
        JsonLines::resume(&path, |_| true).unwrap();
        assert_eq!(fs::read_to_string(&path).unwrap(), "{\"a\":1}\n");
    }

    #[test]
    fn a_missing_log_is_empty_and_an_impossible_one_is_named() {
        let folder = tempfile::tempdir().unwrap();
        let mut log = JsonLines::resume(folder.path().join("new.jsonl"), |_| true).unwrap();
        log.append(&1).unwrap();
        let error = JsonLines::create(folder.path().join("none/stats.jsonl")).unwrap_err();
        assert!(error.to_string().contains("stats.jsonl"));
    }

    #[test]
    #[cfg(target_os = "linux")]
    fn a_full_disk_is_named() {
        let file = File::options().write(true).open("/dev/full").unwrap();
        let mut log = JsonLines { path: "run/stats.jsonl".into(), file, len: 0 };
        let error = log.append(&1).unwrap_err();
        assert!(
            matches!(&error, WriteError::DiskFull { path, .. } if path.ends_with("stats.jsonl")),
            "{error}"
        );
    }
}
