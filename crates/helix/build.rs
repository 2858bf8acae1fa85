//! Puts the pages of errors into the executable, so that `helix explain` has them wherever it is installed.
#![allow(clippy::unwrap_used, reason = "a build that cannot read its sources fails")]

use std::path::Path;

fn main() {
    let pages = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/errors");
    println!("cargo::rerun-if-changed={}", pages.display());
    let mut files: Vec<_> = std::fs::read_dir(&pages).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.sort();
    let page = |file: &std::path::PathBuf| format!("({:?}, include_str!({file:?})),\n", file.file_stem().unwrap());
    let table: String = files.iter().map(page).collect();
    let out = Path::new(&std::env::var_os("OUT_DIR").unwrap()).join("error_pages.rs");
    std::fs::write(out, format!("[{table}]")).unwrap();
}
