use std::os::unix::fs::symlink;

use super::*;

fn invocation(cwd: &Path, env: &[(&str, &Path)]) -> Invocation {
    Invocation {
        program: "/bin/sh".into(),
        args: vec![],
        env: env.iter().map(|(name, value)| ((*name).to_owned(), value.display().to_string())).collect(),
        cwd: cwd.to_owned(),
        stdin: vec![],
    }
}

/// A directory that leads to the state directory opens all that lies beside it, and never the state directory.
#[test]
fn no_path_opens_the_state_directory_by_being_above_it() {
    let place = tempfile::tempdir().unwrap();
    let root = place.path().canonicalize().unwrap();
    for directory in ["tools/bin", "tools/state/runs", "tools/lib"] {
        fs::create_dir_all(root.join(directory)).unwrap();
    }
    let invocation = invocation(&root, &[]);
    let places = Places::new(&invocation, &[], &root.join("tools/state"), &[]);
    let mut found = places.resolved(&root.join("tools"));
    found.sort();
    assert_eq!(found, [root.join("tools/bin"), root.join("tools/lib")]);
    assert!(places.resolved(&root.join("tools/state")).is_empty());
    assert_eq!(places.resolved(&root.join("tools/state/runs")), [root.join("tools/state/runs")]);
}

/// What a run leaves in its worktree, such as `src -> ~/.ssh`, is named by the `PYTHONPATH` of the next one.
#[test]
fn a_link_in_the_worktree_opens_nothing() {
    let place = tempfile::tempdir().unwrap();
    let root = place.path().canonicalize().unwrap();
    for directory in ["home/.ssh", "home/.cargo/bin", "tree"] {
        fs::create_dir_all(root.join(directory)).unwrap();
    }
    symlink(root.join("home/.ssh"), root.join("tree/src")).unwrap();
    let (home, src, tree) = (root.join("home"), root.join("tree/src"), root.join("tree"));
    let invocation = invocation(&tree, &[("HOME", &home), ("PYTHONPATH", &src)]);
    let places = Places::new(&invocation, &[], &root.join("state"), &[]);
    let found = places.toolchains();
    assert!(found.contains(&home.join(".cargo/bin")), "{found:?}");
    assert!(!found.iter().any(|path| path.ends_with(".ssh")), "{found:?}");
}

#[test]
fn a_path_of_programs_opens_its_installation_but_never_the_home() {
    let place = tempfile::tempdir().unwrap();
    let root = place.path().canonicalize().unwrap();
    for directory in ["home/bin", "home/.cargo/bin", "home/.local/bin", "opt/tool/bin", "opt/tool/lib"] {
        fs::create_dir_all(root.join(directory)).unwrap();
    }
    let home = root.join("home");
    let path = [home.join("bin"), root.join("opt/tool/bin"), home.join(".cargo/bin"), home.join(".local/bin")];
    let path = PathBuf::from(std::env::join_paths(&path).unwrap());
    let invocation = invocation(&root.join("tree"), &[("HOME", &home), ("PATH", &path)]);
    let found = Places::new(&invocation, &[], &root.join("state"), &[]).toolchains();
    assert!(found.contains(&home.join("bin")) && found.contains(&root.join("opt/tool")), "{found:?}");
    for more in [home.clone(), home.join(".cargo"), home.join(".local")] {
        assert!(!found.contains(&more), "{more:?}: {found:?}");
    }
}

#[test]
fn what_lies_below_another_is_left_out() {
    let paths = ["/b", "/a/x", "/a", "/ab"].map(PathBuf::from).to_vec();
    assert_eq!(outermost(paths, &[]), ["/a", "/ab", "/b"].map(PathBuf::from));
    assert_eq!(outermost(vec!["/a/x".into()], &["/a".into()]), Vec::<PathBuf>::new());
}

/// Poetry and virtualenv keep the environments of other projects beside what they cannot work without.
#[test]
fn caches_of_poetry_are_writable_and_environments_of_others_are_not() {
    let place = tempfile::tempdir().unwrap();
    let root = place.path().canonicalize().unwrap();
    let caches = ["pypoetry/artifacts", "pypoetry/cache", "virtualenv"].map(|name| root.join("home/.cache").join(name));
    let others = root.join("home/.cache/pypoetry/virtualenvs");
    for directory in caches.iter().chain([&others]) {
        fs::create_dir_all(directory).unwrap();
    }
    let invocation = invocation(&root.join("tree"), &[("HOME", &root.join("home"))]);
    let mut found = Places::new(&invocation, &[], &root.join("state"), &[]).caches();
    found.sort();
    assert_eq!(found, caches);
}
