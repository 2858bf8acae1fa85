//! Recordings of real agents hold no secrets: nothing in them is taken for one.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a test fails by panicking")]

use std::path::{Path, PathBuf};

use helix_core::secrets::{LineMask, Secret, Secrets};

fn records(directory: &Path, found: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(directory).unwrap().flatten() {
        let path = entry.path();
        if path.is_dir() {
            records(&path, found);
        } else if path.extension().is_some_and(|end| end == "jsonl" || end == "txt") {
            found.push(path);
        }
    }
}

#[test]
fn nothing_in_recordings_is_taken_for_a_secret() {
    let tests = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests");
    let mut found = Vec::new();
    records(&tests.join("fixtures"), &mut found);
    records(&tests.join("recordings"), &mut found);
    assert!(found.len() > 300, "{}", found.len());
    let known = (0..50).map(|at| Secret {
        name: format!("KEY_{at}"),
        value: format!(
            "sk-ant-api03-{:032x}{:032x}-{at}",
            0x9e37_79b9_7f4a_7c15_u128 * (at + 7),
            0xbf58_476d_1ce4_e5b9_u128 * (at + 3)
        ),
    });
    for secrets in [Secrets::default(), Secrets::new(known)] {
        for path in &found {
            let mut mask = LineMask::default();
            for line in std::fs::read(path).unwrap().split_inclusive(|byte| *byte == b'\n') {
                let mut masked = line.to_vec();
                assert!(!mask.line(&secrets, &mut masked), "{}: {}", path.display(), String::from_utf8_lossy(&masked));
            }
        }
    }
}
