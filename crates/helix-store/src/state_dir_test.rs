use std::os::unix::fs::PermissionsExt;

use super::*;

fn mode(path: &Path) -> u32 {
    std::fs::metadata(path).unwrap().permissions().mode() & 0o777
}

#[test]
fn the_layout_is_created_for_its_owner_only_and_found_again() {
    let scratch = tempfile::tempdir().unwrap();
    let root = scratch.path().join("deep/state");
    let directory = StateDir::open(&root).unwrap();
    for path in [directory.root().to_path_buf(), directory.runs(), directory.worktrees(), directory.sessions()] {
        assert_eq!(mode(&path), 0o700, "{}", path.display());
    }
    assert_eq!(StateDir::open(&root).unwrap(), directory);
    let left: Vec<_> = std::fs::read_dir(directory.root()).unwrap().map(|e| e.unwrap().file_name()).collect();
    assert_eq!(left.len(), DIRECTORIES.len(), "only the layout: {left:?}");
}

/// What a killed process of the same number left behind, as in a container, where every host has it.
#[test]
fn leftovers_do_not_keep_a_directory_from_being_opened() {
    let scratch = tempfile::tempdir().unwrap();
    for number in 0..200 {
        std::fs::write(scratch.path().join(format!(".probe-{}-{number}", std::process::id())), "").unwrap();
    }
    StateDir::open(scratch.path()).unwrap();
}

#[test]
fn a_file_in_the_way_is_named() {
    let scratch = tempfile::tempdir().unwrap();
    let file = scratch.path().join("file");
    std::fs::write(&file, "x").unwrap();
    for path in [file.clone(), file.join("below")] {
        let error = StateDir::open(&path).unwrap_err();
        assert_eq!(error.code(), "HX0301", "{error:?}");
        assert_eq!(error.to_string(), format!("{} is not a directory", file.display()));
        assert!(error.hint().contains("--state-dir"), "{error}");
    }
}

#[test]
fn what_the_kernel_says_becomes_what_the_user_can_do() {
    for (errno, code) in [(13, "HX0301"), (30, "HX0301"), (28, "HX0302"), (122, "HX0302"), (5, "HX0309")] {
        let error = failed("write", Path::new("/state"), std::io::Error::from_raw_os_error(errno));
        assert_eq!(error.code(), code, "{error:?}");
    }
}

/// Two hosts on one directory.
#[test]
fn the_second_host_is_refused_and_told_who_the_first_is() {
    let scratch = tempfile::tempdir().unwrap();
    let directory = StateDir::open(scratch.path()).unwrap();
    let lock = directory.lock().unwrap();

    let unannounced = directory.lock().unwrap_err();
    assert!(matches!(unannounced, StateDirError::Held { pid: None, url: None, .. }), "{unannounced:?}");

    let info = HostInfo {
        url: "http://127.0.0.1:4242".into(),
        pid: 4711,
        token_file: directory.token_file(),
        configuration: vec![],
        texts: Vec::new(),
        settings: String::new(),
    };
    lock.announce(&info).unwrap();
    assert_eq!(directory.host().unwrap(), Some(info));
    assert_eq!(mode(&directory.host_file()), 0o600);
    let held = directory.lock().unwrap_err();
    assert_eq!(held.code(), "HX0308");
    assert!(held.to_string().contains("process 4711"), "{held}");
    assert!(held.hint().contains("http://127.0.0.1:4242"), "{}", held.hint());

    drop(lock);
    assert_eq!(directory.host().unwrap(), None);
    drop(directory.lock().unwrap());
}

#[test]
fn the_announcement_of_a_dead_host_goes_when_the_next_one_takes_over() {
    let scratch = tempfile::tempdir().unwrap();
    let directory = StateDir::open(scratch.path()).unwrap();
    std::fs::write(
        directory.host_file(),
        r#"{"url":"http://127.0.0.1:1","pid":1,"token_file":"t","configuration":[]}"#,
    )
    .unwrap();
    let _lock = directory.lock().unwrap();
    assert_eq!(directory.host().unwrap(), None);
}

#[test]
fn a_key_is_made_once_for_its_owner_only() {
    let place = tempfile::tempdir().unwrap();
    let path = place.path().join("run.key");
    let key = kept_key(&path).unwrap();
    assert_eq!(kept_key(&path).unwrap(), key);
    assert_eq!(std::fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
    assert_ne!(key, Key::default());
    // What was cut short is no key, and what was signed with it is not thrown away by making another one.
    std::fs::write(&path, b"short").unwrap();
    assert!(kept_key(&path).is_err() && std::fs::read(&path).unwrap() == b"short");
}

/// A process that a killed host was about to start has its lock until it becomes another program.
#[test]
fn what_a_killed_host_left_behind_keeps_its_lock_for_a_moment() {
    let scratch = tempfile::tempdir().unwrap();
    let directory = StateDir::open(scratch.path()).unwrap();
    let announce = |pid: u32| {
        let info = HostInfo {
            url: "http://x".into(),
            pid,
            token_file: "/t".into(),
            configuration: vec![],
            texts: Vec::new(),
            settings: String::new(),
        };
        std::fs::write(directory.host_file(), serde_json::to_vec(&info).unwrap()).unwrap();
    };
    let left = directory.lock().unwrap();
    announce(std::process::id());
    assert!(matches!(directory.lock(), Err(StateDirError::Held { .. })), "a living host is named at once");
    let mut dead = std::process::Command::new("true").spawn().unwrap();
    dead.wait().unwrap();
    announce(dead.id());
    let leaving = std::thread::spawn(move || {
        std::thread::sleep(Duration::from_millis(100));
        drop(left);
    });
    directory.lock().unwrap();
    leaving.join().unwrap();
}
