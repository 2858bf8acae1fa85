#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a test fails by panicking")]

use std::os::unix::fs::{PermissionsExt, symlink};

use super::*;

fn layer(root: &Path) -> Layer {
    let root = root.canonicalize().unwrap();
    let layer = Layer { below: root.join("below"), over: root.join("over"), at: root.join("place/modules") };
    fs::create_dir_all(layer.below.join("bin")).unwrap();
    fs::create_dir_all(&layer.at).unwrap();
    fs::write(layer.below.join("bin/tool"), "#!/bin/sh\n").unwrap();
    fs::set_permissions(layer.below.join("bin/tool"), fs::Permissions::from_mode(0o755)).unwrap();
    symlink("bin/tool", layer.below.join("tool")).unwrap();
    layer
}

#[test]
fn a_copy_is_whole_and_belongs_to_the_work_place_alone() {
    let root = tempfile::tempdir().unwrap();
    let layer = layer(root.path());
    // What an earlier copy had begun when it was killed does not count.
    fs::create_dir_all(layer.over.join("copy/half")).unwrap();
    layer.copy().unwrap();
    assert_eq!(fs::read_to_string(layer.at.join("tool")).unwrap(), "#!/bin/sh\n");
    assert!(!layer.at.join("half").exists());
    assert_eq!(fs::metadata(layer.at.join("bin/tool")).unwrap().permissions().mode() & 0o777, 0o755);
    fs::write(layer.at.join("bin/tool"), "changed").unwrap();
    assert_eq!(fs::read_to_string(layer.below.join("bin/tool")).unwrap(), "#!/bin/sh\n");
    // What the work place has changed stays for the next run in it.
    layer.copy().unwrap();
    assert_eq!(fs::read_to_string(layer.at.join("bin/tool")).unwrap(), "changed");
}

#[test]
fn nothing_is_shown_in_the_place_of_a_link() {
    let root = tempfile::tempdir().unwrap();
    let layer = layer(root.path());
    let elsewhere = root.path().join("elsewhere");
    fs::create_dir(&elsewhere).unwrap();
    fs::remove_dir(&layer.at).unwrap();
    symlink(&elsewhere, &layer.at).unwrap();
    assert!(!layer.is_ready().unwrap());
    layer.copy().unwrap();
    assert!(fs::read_dir(&elsewhere).unwrap().next().is_none());
}

#[test]
fn a_program_that_was_installed_is_found_where_that_was() {
    let root = tempfile::tempdir().unwrap();
    let layer = layer(root.path());
    let place = layer.at.parent().unwrap().to_owned();
    let prepared = Prepared { made_at: layer.below.clone(), place: place.clone(), layers: vec![], services: None };
    let find = |program: &str| Prepared::find_program(Some(&prepared), Path::new(program), "", &place);
    assert_eq!(find("bin/tool"), Ok(layer.below.join("bin/tool")));
    assert!(find("bin/other").is_err() && find("tool").is_err());
}

#[test]
fn paths_that_the_kernel_would_split_are_copied() {
    let root = tempfile::tempdir().unwrap();
    let layer = layer(root.path());
    assert!(layer.options().is_some());
    assert_eq!(Layer { below: "/a:b".into(), ..layer }.options(), None);
}
