use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt as _;

use tempfile::TempDir;

use super::super::keys::sample;
use super::*;

fn guarded(text: &str) -> Vec<String> {
    let file = ProjectFile::new("/p/helix.toml".into(), text.to_owned());
    file.keys.iter().map(|key| format!("{} {}", key.name, key.line)).collect()
}

#[test]
fn names_and_limits_need_no_trust_and_everything_else_does() {
    assert_eq!(
        guarded("[defaults]\nagent = \"a\"\n[jobs]\nbudget_usd = 1.0\n[agents.claude]\nmodel = \"x\"\n"),
        [""; 0]
    );
    let text = "[agents.claude]\nmodel = \"x\"\nenv = { A = \"b\" }\ncommand = [\"x\"]\n[server]\nlisten = \"x\"\n[jobs]\nvenv = \"v\"\n";
    let names = ["agents.claude.env.A 3", "agents.claude.command 4", "server.listen 6", "jobs.venv 8"];
    assert_eq!(guarded(text), names);
    // A name with dots is not taken for other parts, and an empty table says nothing.
    assert_eq!(guarded("[agents.\"a.model\"]\nx = 1\n[sandbox]\n"), ["agents.a.model.x 2"]);
}

#[test]
fn each_key_that_needs_no_trust_exists() {
    let known = sample("", |_| true);
    for pattern in UNASKED {
        let (section, key) = pattern.rsplit_once('.').unwrap();
        let section = format!("[{}]", section.replace('*', "claude"));
        let keys = known.split_once(&section).unwrap_or_else(|| panic!("{section}")).1;
        let keys = keys.split("\n[").next().unwrap();
        assert!(keys.lines().any(|line| line.starts_with(&format!("{key} "))), "{pattern}");
    }
}

#[test]
fn trust_ends_with_a_change_of_the_file_or_of_one_that_it_names() {
    let place = TempDir::new().unwrap();
    let (environment, project) = (Environment::for_tests(), place.path().join("project"));
    fs::create_dir(&project).unwrap();
    let (path, check, outside) = (project.join("helix.toml"), project.join("check"), place.path().join("outside"));
    let trust = Trust::new(&environment, &place.path().join("state"));
    let text = "[consultant]\nexperts = true\nvalidators = { a = { command = [\"./check\", \"../outside\"] } }\n";
    for file in [&path, &check, &outside] {
        fs::write(file, text).unwrap();
    }
    let now = || ProjectFile::new(path.clone(), fs::read_to_string(&path).unwrap());
    let counts = || trust.check(&now()).is_ok();
    assert!(!counts(), "never trusted");
    assert_eq!(trust.give(&now()).unwrap(), [project.join("./check")]);
    assert!(counts());
    fs::write(&outside, "new").unwrap();
    assert!(counts(), "what lies outside is not the project's");
    let experts = project.join("experts.toml");
    for (changed, content) in [(&check, "new"), (&experts, ""), (&path, text.trim_end())] {
        trust.give(&now()).unwrap();
        fs::write(changed, content).unwrap();
        assert!(!counts(), "{}", changed.display());
    }
    trust.give(&now()).unwrap();
    assert_eq!(trust.list().len(), 1);
    assert!(counts() && trust.take_back(&path).unwrap() && !counts() && !trust.take_back(&path).unwrap());
}

#[test]
fn what_others_can_write_is_not_trusted() {
    let place = TempDir::new().unwrap();
    let environment = Environment::for_tests();
    let (path, trust) = (place.path().join("helix.toml"), Trust::new(&environment, &place.path().join("state")));
    let text = "[server]\nlisten = \"127.0.0.1:1\"\n";
    fs::write(&path, text).unwrap();
    let file = ProjectFile::new(path.clone(), text.to_owned());
    trust.give(&file).unwrap();
    for open in [&path, place.path()] {
        let before = fs::metadata(open).unwrap().permissions();
        fs::set_permissions(open, Permissions::from_mode(before.mode() | 0o002)).unwrap();
        assert!(trust.give(&file).is_err() && trust.check(&file).is_err(), "{}", open.display());
        fs::set_permissions(open, before).unwrap();
    }
    trust.check(&file).unwrap();
}
