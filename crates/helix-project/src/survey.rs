//! What a repository that Helix has never seen is made of. Must not change anything, and must not run anything.

use std::path::Path;

use helix_core::said::Words;
use helix_language::recorded;
use helix_process::bounded::read_text;

pub use super::installs::Install;

/// Size of the largest file that is looked into, in bytes.
const MOST: u64 = 1 << 20;

/// What was found.
#[derive(Debug, Clone, Default)]
pub struct Survey {
    /// Languages, the one with the clearest sign first.
    pub languages: Vec<&'static Language>,
    /// How tests are run, in the same order.
    pub tests: Vec<Tests>,
    /// What installs what they need.
    pub installs: Vec<Install>,
}

/// How the tests of one language are run here.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Tests {
    pub command: String,
    /// What it was concluded from.
    pub evidence: Words,
}

impl Tests {
    fn new(command: &str, evidence: impl Into<Words>) -> Self {
        Self { command: command.to_owned(), evidence: evidence.into() }
    }
}

/// A language that Helix recognises by its project files.
#[derive(Debug)]
pub struct Language {
    pub name: &'static str,
    /// Programs that its tests need.
    pub programs: &'static [&'static str],
    /// A source file and a test file as its projects have them, for templates.
    example: (&'static str, &'static str),
}

const PYTHON: Language =
    Language { name: "Python", programs: &["python3"], example: ("src/example.py", "tests/test_example.py") };
const RUST: Language = Language { name: "Rust", programs: &["cargo"], example: ("src/example.rs", "tests/example.rs") };
const JAVASCRIPT: Language =
    Language { name: "JavaScript", programs: &["node", "npm"], example: ("src/example.js", "test/example.test.js") };
const GO: Language = Language { name: "Go", programs: &["go"], example: ("example.go", "example_test.go") };

impl Survey {
    /// A source file and a test file as this kind of project has them, for templates.
    pub fn example_output(&self) -> (&'static str, &'static str) {
        self.languages.first().map_or(("src/example.txt", "tests/example.txt"), |language| language.example)
    }
}

/// Looks at a directory's project files.
pub fn survey(directory: &Path) -> Survey {
    let mut survey = Survey::default();
    let mut found = |language, tests: Option<Tests>| {
        survey.languages.push(language);
        survey.tests.extend(tests);
    };
    if directory.join("Cargo.toml").is_file() {
        found(&RUST, Some(Tests::new("cargo test", "Cargo.toml")));
    }
    if directory.join("go.mod").is_file() {
        found(&GO, Some(Tests::new("go test ./...", "go.mod")));
    }
    if let Ok(Some(text)) = read_text(Some(directory), &directory.join("package.json"), MOST) {
        found(&JAVASCRIPT, javascript_tests(&text, directory));
    }
    if is_python(directory) {
        found(&PYTHON, python_tests(directory));
    }
    survey.installs = super::installs::installs(directory);
    survey
}

/// `npm test` where the project says what that is; Node's own runner where there are tests without it.
fn javascript_tests(package: &str, directory: &Path) -> Option<Tests> {
    let package: Option<serde_json::Value> = serde_json::from_str(package).ok();
    let script = package.as_ref().and_then(|package| package.get("scripts")?.get("test")?.as_str());
    // What `npm init` writes is no test.
    if script.is_some_and(|script| !script.contains("no test specified")) {
        return Some(Tests::new("npm test --silent", "package.json, scripts.test"));
    }
    let tests = ["test", "tests"].into_iter().find(|name| directory.join(name).is_dir())?;
    Some(Tests::new("node --test", recorded!("survey-directory", name = tests)))
}

/// Files that only Python projects have, and that may name the program that runs their tests.
const PYTHON_FILES: [&str; 6] =
    ["pyproject.toml", "setup.py", "setup.cfg", "requirements.txt", "tox.ini", "pytest.ini"];

fn is_python(directory: &Path) -> bool {
    let has_sources = || {
        let mut entries = std::fs::read_dir(directory).into_iter().flatten().flatten();
        entries.any(|entry| entry.path().extension().is_some_and(|extension| extension == "py"))
    };
    PYTHON_FILES.iter().any(|name| directory.join(name).is_file())
        || has_sources()
        || first_test_file(&directory.join("tests")).is_some()
}

fn python_tests(directory: &Path) -> Option<Tests> {
    let text = |path: &Path| read_text(Some(directory), path, MOST).ok().flatten().unwrap_or_default();
    if let Some(name) = PYTHON_FILES.iter().find(|name| text(&directory.join(name)).contains("pytest")) {
        return Some(Tests::new("python3 -m pytest -q", recorded!("survey-mentions", file = *name)));
    }
    let places = [directory.join("tests"), directory.to_owned()];
    let (place, file) = places.iter().find_map(|place| Some((place, first_test_file(place)?)))?;
    Some(if text(&place.join(&file)).contains("unittest") {
        Tests::new(unittest_command(directory), recorded!("survey-unittest", file = file))
    } else {
        Tests::new("python3 -m pytest -q", recorded!("survey-pytest", file = file))
    })
}

fn first_test_file(directory: &Path) -> Option<String> {
    let names = std::fs::read_dir(directory).ok()?.flatten().filter_map(|entry| entry.file_name().into_string().ok());
    names.filter(|name| name.ends_with(".py") && (name.starts_with("test_") || name.ends_with("_test.py"))).min()
}

/// Tests in a directory that is no package are only found when it is named.
fn unittest_command(directory: &Path) -> &'static str {
    let tests = directory.join("tests");
    let named = tests.is_dir() && !tests.join("__init__.py").exists();
    if named { "python3 -m unittest discover -s tests" } else { "python3 -m unittest discover" }
}
