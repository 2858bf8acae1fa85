//! What is laid into a checkout, and what is proposed.

use super::*;

/// Set-ups have no shell, and a name is a word whatever it holds.
#[test]
fn what_is_installed_in_a_directory_is_one_command() {
    let entry = helix_git::TreeEntry { kind: helix_git::EntryKind::File, object: "1".repeat(40) };
    let directories = ["", "web/", "a 'b'; c/"];
    let files = directories.map(|directory| (format!("{directory}package-lock.json"), entry.clone()));
    let names = directories.map(|directory| format!("{directory}node_modules/"));
    let said = helix_language::Language::English.words(&remedy(&names, &files.into(), Path::new("/nowhere")));
    let list = said.split_once("setup = ").unwrap().1;
    let setup: Vec<String> = serde_json::from_str(&list[..=list.rfind(']').unwrap()]).unwrap();
    let words: Vec<Vec<String>> = setup.iter().map(|line| helix_plan::split_words(line).unwrap()).collect();
    assert_eq!(words[0], ["npm", "ci"]);
    assert_eq!(words[1], ["sh", "-c", "cd web && npm ci"]);
    assert_eq!(words[2], ["sh", "-c", "cd 'a '\\''b'\\''; c' && npm ci"]);
}

#[test]
fn nothing_is_laid_over_what_is_there_or_taken_from_outside() {
    let place = tempfile::tempdir().unwrap();
    let root = place.path().canonicalize().unwrap();
    let (users, checkout) = (root.join("users"), root.join("checkout"));
    for directory in [users.join("node_modules/a"), users.join("web"), checkout.clone()] {
        std::fs::create_dir_all(directory).unwrap();
    }
    for (file, text) in [("users/.env", "A=1"), ("users/web/.env", "B=2"), ("users/there", "mine"), ("secret", "s")] {
        std::fs::write(root.join(file), text).unwrap();
    }
    std::fs::write(checkout.join("there"), "committed").unwrap();
    std::os::unix::fs::symlink("../secret", users.join("link")).unwrap();
    let names = [".env", "web/.env", "there", "link", "node_modules/", "gone"].map(str::to_owned);
    let readable = lay(&users, &names, &checkout).unwrap();
    assert_eq!(readable, [users.join("node_modules")]);
    let text = |file: &str| std::fs::read_to_string(checkout.join(file)).ok();
    assert_eq!((text(".env"), text("web/.env")), (Some("A=1".into()), Some("B=2".into())));
    assert_eq!((text("there"), text("link")), (Some("committed".into()), None));
    assert!(checkout.join("node_modules/a").is_dir());
}
