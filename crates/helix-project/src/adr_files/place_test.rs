#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use super::*;

/// The place of a project with these files.
fn place(files: &[(&str, &str)]) -> Result<Place, String> {
    let root = tempfile::tempdir().unwrap();
    for (name, text) in files {
        let path = root.path().join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    }
    Place::find(root.path()).map_err(|error| error.to_string())
}

#[test]
fn decisions_are_found_where_other_tools_put_them() {
    let found = |files: &[(&str, &str)]| place(files).unwrap().directory;
    assert_eq!(found(&[]), "adr");
    assert_eq!(found(&[("docs/decisions/0001-x.md", "")]), "docs/decisions");
    assert_eq!(found(&[("doc/adr/0001-x.md", ""), ("doc/adr/README.md", "")]), "doc/adr");
    assert_eq!(found(&[("adr/001-x.md", ""), ("doc/adr/0001-x.md", "")]), "adr");
    // What settings say comes before what lies somewhere.
    assert_eq!(
        found(&[("adr/001-x.md", ""), (".adr-dir", "doc/architecture/decisions\n")]),
        "doc/architecture/decisions"
    );
    assert_eq!(found(&[(".log4brains.yml", "project:\n  adrFolder: ./docs/adrs/\n")]), "docs/adrs");
    assert_eq!(found(&[(".log4brains.yml", "project:\n  name: x\n")]), "docs/adr");
    assert_eq!(
        found(&[("helix.toml", "[decisions]\ndirectory = \"docs/rfcs\"\n"), (".adr-dir", "doc/adr")]),
        "docs/rfcs"
    );
    // Words of other things are not taken for decisions.
    assert_eq!(found(&[("decisions/taxes.md", "")]), "adr");
    let two = place(&[("docs/decisions/0001-x.md", ""), ("doc/adr/0001-x.md", "")]).unwrap_err();
    assert_eq!(two, "decisions are in docs/decisions and doc/adr, and nothing says which directory is meant");
}

#[test]
fn a_directory_outside_of_the_project_is_none() {
    for (file, text) in [
        (".adr-dir", "../../etc"),
        (".adr-dir", "/etc"),
        (".adr-dir", ""),
        ("helix.toml", "[decisions]\ndirectory = \"../x\"\n"),
        (".log4brains.yml", "project: { adrFolder: ../x }\n"),
        (".log4brains.yml", "project: [\n"),
        ("helix.toml", "[decisions\n"),
    ] {
        let error = place(&[(file, text)]).unwrap_err();
        assert!(error.starts_with(file), "{error}");
    }
}
