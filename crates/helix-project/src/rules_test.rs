//! What projects tell agents, in repositories of real git.

use std::os::unix::fs::symlink;
use std::path::Path;
use std::process::Command;

use helix_git::GitEnvironment;

use super::*;

struct Project(tempfile::TempDir);

impl Project {
    fn with(files: &[(&str, &str)]) -> Self {
        let project = Self(tempfile::tempdir().unwrap());
        project.git(&["init", "-q"]);
        for (path, text) in files {
            project.write(path, text);
        }
        project
    }

    fn write(&self, path: &str, text: &str) {
        let path = self.0.path().join(path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    }

    fn git(&self, arguments: &[&str]) {
        let who = ["-c", "user.name=a", "-c", "user.email=a@example.com", "-c", "commit.gpgsign=false"];
        let mut git = Command::new("git");
        assert!(git.current_dir(self.0.path()).args(who).args(arguments).status().unwrap().success());
    }

    fn commit(&self) -> (Repository, ProjectRules) {
        self.git(&["add", "-A"]);
        self.git(&["commit", "-q", "-m", "files"]);
        let repository = Repository::open(self.0.path(), GitEnvironment::from_process()).unwrap();
        let rules = ProjectRules::at(&repository, "HEAD").unwrap();
        (repository, rules)
    }
}

fn paths(rules: &ProjectRules) -> Vec<&str> {
    rules.files.iter().map(|file| file.path.as_str()).collect()
}

#[test]
fn rules_come_from_the_commit_with_what_they_import() {
    let project = Project::with(&[
        ("AGENTS.md", "Use tabs.\n"),
        ("CLAUDE.md", "@AGENTS.md and @docs/style.md. `@docs/not.md` @ann\n```\n@docs/not.md\n```\n@docs/none.md\n"),
        ("docs/style.md", "Short lines. @../CLAUDE.md @/etc/passwd @../../outside.md\n"),
        ("docs/not.md", "Not imported.\n"),
        (".claude/rules/tests.md", "---\npaths:\n  - \"tests/**\"\n---\nName tests after behaviour.\n"),
        ("web/AGENTS.md", "No frameworks.\n"),
        ("web/AGENTS.override.md", "One framework.\n"),
        ("node_modules/x/CLAUDE.md", "Other people's.\n"),
        ("README.md", "Hello.\n"),
    ]);
    let (_, rules) = project.commit();
    project.write("AGENTS.md", "Use spaces.\n");
    let wanted = ["AGENTS.md", "CLAUDE.md", "docs/style.md", ".claude/rules/tests.md", "web/AGENTS.override.md"];
    assert_eq!(paths(&rules), wanted);
    assert_eq!(rules.files[3].applies, ["tests/**"]);
    assert_eq!(rules.files[3].text, "Name tests after behaviour.\n");
    assert_eq!(rules.files[4].applies, ["web/**"]);
    let told = rules.told(None);
    assert!(told.contains("Use tabs.") && !told.contains("spaces") && !told.contains("Not imported"), "{told}");
    let problems: Vec<&str> = rules.problems.iter().map(|one| one.message.as_str()).collect();
    let outside = "docs/style.md imports /etc/passwd, which does not lie in the repository";
    let absent = "CLAUDE.md imports docs/none.md, which is not in the repository";
    let above = "docs/style.md imports ../../outside.md, which is not in the repository";
    assert_eq!(problems, [outside, above, absent]);
}

#[test]
fn links_count_within_the_repository_only_and_no_file_twice() {
    let project = Project::with(&[
        ("AGENTS.md", "Use tabs.\n"),
        ("shared/skills/release/SKILL.md", "---\nname: release\ndescription: How to release.\n---\nRun it.\n"),
        ("shared/skills/release/run.sh", "true\n"),
    ]);
    let at = |path: &str| project.0.path().join(path);
    symlink("AGENTS.md", at("CLAUDE.md")).unwrap();
    symlink("/etc/hostname", at("CLAUDE.local.md")).unwrap();
    std::fs::create_dir(at("web")).unwrap();
    symlink("../../outside.md", at("web/CLAUDE.md")).unwrap();
    std::fs::create_dir_all(at(".claude")).unwrap();
    symlink("../shared/skills", at(".claude/skills")).unwrap();
    symlink("loop", at("loop")).unwrap();
    let (repository, rules) = project.commit();
    assert_eq!(paths(&rules), ["AGENTS.md"]);
    assert_eq!(rules.skills.len(), 1);
    assert_eq!(rules.skills[0].path, ".claude/skills/release/SKILL.md");

    let below = tempfile::tempdir().unwrap();
    let directory = rules.lay_out(&repository, below.path()).unwrap().unwrap();
    let told = rules.told(Some(&directory));
    let page = directory.join(&rules.skills[0].path);
    assert!(told.contains(&format!("- release: How to release. (`{}`)", page.display())), "{told}");
    assert!(std::fs::read_to_string(&page).unwrap().ends_with("Run it.\n"));
    assert!(directory.join(".claude/skills/release/run.sh").is_file());
    // The place says what is in it: what somebody has changed there is put right.
    std::fs::write(&page, "Changed.\n").unwrap();
    assert_eq!(rules.lay_out(&repository, below.path()).unwrap().as_ref(), Some(&directory));
    assert!(std::fs::read_to_string(&page).unwrap().ends_with("Run it.\n"));
    assert_eq!(std::fs::read_dir(below.path()).unwrap().count(), 1);
}

#[test]
fn what_is_too_long_is_named_and_laid_out() {
    let long = "Be careful.\n".repeat(5_500);
    let project = Project::with(&[
        ("AGENTS.md", &long),
        ("CLAUDE.md", "Use tabs.\n"),
        ("web/AGENTS.md", &"x".repeat(LARGEST + 1)),
    ]);
    let (repository, rules) = project.commit();
    let below = tempfile::tempdir().unwrap();
    let directory = rules.lay_out(&repository, below.path()).unwrap().unwrap();
    let told = rules.told(Some(&directory));
    assert!(told.len() < 2_000 && told.contains("Use tabs."), "{told}");
    let file = directory.join("AGENTS.md");
    assert!(told.contains(&format!("read `{}`", file.display())), "{told}");
    assert_eq!(std::fs::read_to_string(file).unwrap(), long);
    assert_eq!(rules.problems.len(), 1);
    assert!(rules.problems[0].message.starts_with("web/AGENTS.md has 256 KiB"), "{:?}", rules.problems);
}

#[test]
fn a_project_without_rules_tells_nothing() {
    let project = Project::with(&[("README.md", "Hello.\n")]);
    let (repository, rules) = project.commit();
    assert!(rules.is_empty() && rules.told(None).is_empty() && rules.settings.is_none());
    assert_eq!(rules.lay_out(&repository, Path::new("/nonexistent")).unwrap(), None);
}
