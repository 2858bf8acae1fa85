//! What a repository that Helix has never seen is made of. Must not change anything, and must not run anything.

use std::path::Path;

/// What was found.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Survey {
    /// Languages, the one with the clearest sign first.
    pub(crate) languages: Vec<Language>,
    /// How tests are run, in the same order.
    pub(crate) tests: Vec<Tests>,
}

/// How the tests of one language are run here.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Tests {
    pub(crate) command: String,
    /// What it was concluded from.
    pub(crate) evidence: String,
}

/// Languages that Helix recognises by their project files.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Language {
    /// `pyproject.toml`, `setup.py`, `requirements.txt`, `*.py`.
    Python,
    /// `Cargo.toml`.
    Rust,
    /// `package.json`.
    JavaScript,
    /// `go.mod`.
    Go,
}

impl Language {
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Python => "Python",
            Self::Rust => "Rust",
            Self::JavaScript => "JavaScript",
            Self::Go => "Go",
        }
    }

    /// Programs that its tests need.
    pub(crate) fn programs(self) -> &'static [&'static str] {
        match self {
            Self::Python => &["python3"],
            Self::Rust => &["cargo"],
            Self::JavaScript => &["node", "npm"],
            Self::Go => &["go"],
        }
    }
}

impl Survey {
    /// A source file and a test file as this kind of project has them, for templates.
    pub(crate) fn example_output(&self) -> (&'static str, &'static str) {
        match self.languages.first() {
            Some(Language::Python) => ("src/example.py", "tests/test_example.py"),
            Some(Language::Rust) => ("src/example.rs", "tests/example.rs"),
            Some(Language::JavaScript) => ("src/example.js", "test/example.test.js"),
            Some(Language::Go) => ("example.go", "example_test.go"),
            None => ("src/example.txt", "tests/example.txt"),
        }
    }
}

/// Looks at a directory's project files.
pub(crate) fn survey(directory: &Path) -> Survey {
    let mut survey = Survey::default();
    let mut found = |language: Language, test: Option<(String, String)>| {
        survey.languages.push(language);
        survey.tests.extend(test.map(|(command, evidence)| Tests { command, evidence }));
    };
    if directory.join("Cargo.toml").is_file() {
        found(Language::Rust, Some(("cargo test".into(), "Cargo.toml".into())));
    }
    if directory.join("go.mod").is_file() {
        found(Language::Go, Some(("go test ./...".into(), "go.mod".into())));
    }
    if let Ok(text) = std::fs::read_to_string(directory.join("package.json")) {
        found(Language::JavaScript, javascript_tests(&text, directory));
    }
    if let Some(test) = python(directory) {
        found(Language::Python, test);
    }
    survey
}

/// `npm test` where the project says what that is; Node's own runner where there are tests without it.
fn javascript_tests(package: &str, directory: &Path) -> Option<(String, String)> {
    let package: Option<serde_json::Value> = serde_json::from_str(package).ok();
    let script = package.as_ref().and_then(|package| package.get("scripts")?.get("test")?.as_str());
    match script {
        // What `npm init` writes is no test.
        Some(script) if !script.contains("no test specified") => {
            Some(("npm test --silent".into(), "package.json, scripts.test".into()))
        }
        _ => ["test", "tests"]
            .iter()
            .find(|name| directory.join(name).is_dir())
            .map(|name| ("node --test".into(), format!("the directory {name}"))),
    }
}

/// Whether this is a Python project, and how it is tested.
fn python(directory: &Path) -> Option<Option<(String, String)>> {
    let signs = ["pyproject.toml", "setup.py", "setup.cfg", "requirements.txt", "tox.ini", "pytest.ini"];
    let sign = signs.into_iter().find(|name| directory.join(name).is_file());
    let has_sources = || {
        let entries = std::fs::read_dir(directory).ok();
        entries.is_some_and(|entries| {
            entries.flatten().any(|entry| entry.path().extension().is_some_and(|extension| extension == "py"))
        })
    };
    if sign.is_none() && !has_sources() && first_test_file(&directory.join("tests")).is_none() {
        return None;
    }
    let mentions_pytest = signs
        .into_iter()
        .find(|name| std::fs::read_to_string(directory.join(name)).is_ok_and(|text| text.contains("pytest")));
    let test_files = first_test_file(&directory.join("tests")).or_else(|| first_test_file(directory));
    Some(match (mentions_pytest, test_files) {
        (Some(name), _) => Some(("python3 -m pytest -q".into(), format!("{name} mentions pytest"))),
        (None, Some(file)) => {
            let text = std::fs::read_to_string(directory.join("tests").join(&file))
                .or_else(|_| std::fs::read_to_string(directory.join(&file)))
                .unwrap_or_default();
            if text.contains("unittest") {
                Some((unittest_command(directory), format!("{file} uses unittest")))
            } else {
                Some(("python3 -m pytest -q".into(), format!("{file} looks like a pytest test")))
            }
        }
        (None, None) => None,
    })
}

fn first_test_file(directory: &Path) -> Option<String> {
    let mut names: Vec<String> = std::fs::read_dir(directory)
        .ok()?
        .flatten()
        .filter_map(|entry| entry.file_name().into_string().ok())
        .filter(|name| name.ends_with(".py") && (name.starts_with("test_") || name.ends_with("_test.py")))
        .collect();
    names.sort();
    names.into_iter().next()
}

/// Tests in a directory that is no package are only found when it is named.
fn unittest_command(directory: &Path) -> String {
    let tests = directory.join("tests");
    let named = tests.is_dir() && !tests.join("__init__.py").exists();
    if named { "python3 -m unittest discover -s tests".into() } else { "python3 -m unittest discover".into() }
}
