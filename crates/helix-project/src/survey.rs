//! What a repository that Helix has never seen is made of. Must not change anything, and must not run anything.

mod installs;
mod javascript;

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use helix_core::said::Words;
use helix_language::recorded;
use helix_process::bounded::read_text;

pub use installs::Install;
use javascript::{Manager, Package};

/// Size of the largest file that is looked into, in bytes.
const MOST: u64 = 1 << 20;

/// Names of files that describe services in containers, as Docker looks for them.
pub const COMPOSE_FILES: [&str; 4] = ["compose.yaml", "compose.yml", "docker-compose.yml", "docker-compose.yaml"];

/// What was found.
#[derive(Debug, Clone, Default)]
pub struct Survey {
    /// Languages, the one with the clearest sign first.
    pub languages: Vec<&'static Language>,
    /// How tests are run, in the same order.
    pub tests: Vec<Tests>,
    /// What else is checked: linters, types, builds.
    pub checks: Vec<Check>,
    /// What installs what they need.
    pub installs: Vec<Install>,
    /// The file that describes services in containers.
    pub compose: Option<&'static str>,
}

/// How the tests of one language are run here.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Tests {
    pub command: String,
    /// What it was concluded from.
    pub evidence: Words,
}

/// A command that says whether a result is in order, besides tests.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Check {
    pub kind: CheckKind,
    pub command: String,
    /// What it was concluded from.
    pub evidence: String,
}

/// Which gate asks it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CheckKind {
    Lint,
    Build,
}

impl CheckKind {
    /// The gate's name in plans.
    pub fn gate(self) -> &'static str {
        match self {
            Self::Lint => "lint_pass",
            Self::Build => "build_pass",
        }
    }
}

/// The program that a command starts by its name; none where it is one of the project's own.
pub fn program_of(command: &str) -> Option<&str> {
    command.split_whitespace().next().filter(|program| !program.contains('/'))
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
    /// Whether Helix can tell that its files are well-formed.
    pub is_parsed: bool,
}

const fn parsed(
    name: &'static str,
    programs: &'static [&'static str],
    example: (&'static str, &'static str),
) -> Language {
    Language { name, programs, example, is_parsed: true }
}

const PYTHON: Language = parsed("Python", &["python3"], ("src/example.py", "tests/test_example.py"));
const RUST: Language = parsed("Rust", &["cargo"], ("src/example.rs", "tests/example.rs"));
const JAVASCRIPT: Language = parsed("JavaScript", &["node", "npm"], ("src/example.js", "test/example.test.js"));
const TYPESCRIPT: Language = parsed("TypeScript", &["node", "npm"], ("src/example.ts", "test/example.test.ts"));
const JAVA: Language = parsed("Java", &["java"], ("src/main/java/Example.java", "src/test/java/ExampleTest.java"));
const GO: Language = parsed("Go", &["go"], ("example.go", "example_test.go"));
const RUBY: Language =
    Language { is_parsed: false, ..parsed("Ruby", &["ruby", "bundle"], ("lib/example.rb", "spec/example_spec.rb")) };
const PHP: Language =
    Language { is_parsed: false, ..parsed("PHP", &["php", "composer"], ("src/Example.php", "tests/ExampleTest.php")) };

impl Survey {
    /// A source file and a test file as this kind of project has them, for templates.
    pub fn example_output(&self) -> (&'static str, &'static str) {
        self.languages.first().map_or(("src/example.txt", "tests/example.txt"), |language| language.example)
    }
}

/// What a file of a project says, where there is one that can be read.
fn text(directory: &Path, file: impl AsRef<Path>) -> Option<String> {
    read_text(Some(directory), &directory.join(file), MOST).ok().flatten()
}

/// Looks at a directory's project files.
pub fn survey(directory: &Path) -> Survey {
    let mut survey = Survey::default();
    let mut found = |language, tests: Option<Tests>| {
        survey.languages.push(language);
        survey.tests.extend(tests);
    };
    if let Some(manifest) = text(directory, "Cargo.toml") {
        // Without it, the tests of members beside a root package do not run.
        let is_workspace = manifest.lines().any(|line| line.trim_start().starts_with("[workspace"));
        let command = if is_workspace { "cargo test --workspace" } else { "cargo test" };
        found(&RUST, Some(Tests::new(command, "Cargo.toml")));
    }
    if directory.join("go.mod").is_file() {
        found(&GO, Some(Tests::new("go test ./...", "go.mod")));
    }
    if directory.join("pom.xml").is_file() {
        // With `-q` nobody sees how many tests have passed.
        found(&JAVA, Some(Tests::new(&format!("{} -B -ntp test", built_by(directory, "./mvnw", "mvn")), "pom.xml")));
    }
    let gradle = ["build.gradle", "build.gradle.kts", "settings.gradle", "settings.gradle.kts"];
    let gradle = gradle.into_iter().find(|name| directory.join(name).is_file());
    if gradle.is_some() {
        found(&JAVA, None);
    }
    if directory.join("Gemfile").is_file() {
        found(&RUBY, ruby_tests(directory));
    }
    if let Some(manifest) = text(directory, "composer.json") {
        // By PHP itself: nobody needs the program's mode.
        let tests = manifest.contains("phpunit").then(|| Tests::new("php vendor/bin/phpunit", "composer.json"));
        found(&PHP, tests);
    }
    if let Some(package) = Package::read(directory) {
        found(package.language(), package.tests());
        survey.checks = package.checks();
    }
    if is_python(directory) {
        survey.languages.push(&PYTHON);
        survey.tests.extend(python_tests(directory));
    }
    // Gradle does not say how many tests have passed: that they do, its build shows.
    survey.checks.extend(gradle.map(|evidence| Check {
        kind: CheckKind::Build,
        command: format!("{} --no-daemon --console=plain build", built_by(directory, "./gradlew", "gradle")),
        evidence: evidence.to_owned(),
    }));
    survey.installs = installs::installs(directory);
    survey.compose = COMPOSE_FILES.into_iter().find(|name| directory.join(name).is_file());
    survey
}

/// A build tool by the project's own wrapper, where it has one that can be started.
fn built_by(directory: &Path, wrapper: &'static str, tool: &'static str) -> &'static str {
    use std::os::unix::fs::PermissionsExt as _;
    let found = std::fs::metadata(directory.join(wrapper));
    if found.is_ok_and(|file| file.is_file() && file.permissions().mode() & 0o100 != 0) { wrapper } else { tool }
}

/// RSpec where anything names it; otherwise what the tasks of Rake test.
fn ruby_tests(directory: &Path) -> Option<Tests> {
    let mentions = |name: &str| text(directory, name).is_some_and(|text| text.contains("rspec"));
    let has_specs = directory.join("spec").is_dir() || mentions("Gemfile") || mentions("Gemfile.lock");
    if has_specs {
        return Some(Tests::new("bundle exec rspec", "Gemfile"));
    }
    let is_there = |name: &str| directory.join(name).exists();
    let has_tests = is_there("test") && is_there("Rakefile");
    has_tests.then(|| Tests::new("bundle exec rake test", "Rakefile"))
}

/// Files that only Python projects have, and that may name the program that runs their tests.
const PYTHON_FILES: [&str; 6] =
    ["pyproject.toml", "setup.py", "setup.cfg", "requirements.txt", "tox.ini", "pytest.ini"];

fn is_python(directory: &Path) -> bool {
    PYTHON_FILES.iter().any(|name| directory.join(name).is_file())
        || has_sources(directory)
        || test_files(directory).iter().any(|file| file.parent() == Some(Path::new("tests")))
}

fn has_sources(directory: &Path) -> bool {
    let mut entries = std::fs::read_dir(directory).into_iter().flatten().flatten();
    entries.any(|entry| entry.path().extension().is_some_and(|extension| extension == "py"))
}

fn python_tests(directory: &Path) -> Option<Tests> {
    let text = |file: &Path| text(directory, file).unwrap_or_default();
    if let Some(name) = PYTHON_FILES.iter().find(|name| text(Path::new(name)).contains("pytest")) {
        return Some(Tests::new("python3 -m pytest -q", recorded!("survey-mentions", file = *name)));
    }
    if text(Path::new("manage.py")).contains("django") {
        return Some(Tests::new("python3 manage.py test", "manage.py"));
    }
    let files = test_files(directory);
    let Some(first) = files.first() else {
        // It needs nothing that is to be installed, and the first tests are still to be written.
        let says = |name: &str, part: &str| text(name.as_ref()).lines().any(|line| line.trim().starts_with(part));
        let is_project = says("pyproject.toml", "[project]") || says("pyproject.toml", "[tool.poetry");
        let requires = directory.join("requirements.txt").is_file() && has_sources(directory);
        // Of others only tools are set up, or the documentation is made.
        let signs = [
            ("pyproject.toml", is_project),
            ("setup.py", directory.join("setup.py").is_file()),
            ("setup.cfg", says("setup.cfg", "[metadata]")),
            ("requirements.txt", requires),
        ];
        let sign = signs.into_iter().find(|(_, is_there)| *is_there).map(|(name, _)| name);
        return sign.map(|sign| Tests::new("python3 -m unittest discover -s tests", sign));
    };
    let shown = first.display().to_string();
    let depth = |file: &Path| (file.starts_with("tests"), file.components().count());
    let near = files.iter().filter(|file| depth(file) == depth(first));
    let starts: BTreeSet<PathBuf> = near.map(|file| start_of(directory, file)).collect();
    Some(match (text(first).contains("unittest"), starts.first().filter(|_| starts.len() == 1)) {
        (true, Some(start)) => {
            let start = Some(start.to_string_lossy()).filter(|start| !start.is_empty());
            let start = start.map(|start| format!(" -s {}", quoted(&start))).unwrap_or_default();
            Tests::new(&format!("python3 -m unittest discover{start}"), recorded!("survey-unittest", file = shown))
        }
        // Of tests in several places unittest would find those of one.
        _ => Tests::new("python3 -m pytest -q", recorded!("survey-pytest", file = shown)),
    })
}

/// The packages that setuptools looks for itself, among the directories at a project's root: `adr` and `plans` would be two more. None
/// where it is told which they are.
pub fn packages_found_by_itself(directory: &Path) -> Vec<String> {
    let text = |file: &str| text(directory, file).unwrap_or_default();
    let (project, setup) = (text("pyproject.toml"), text("setup.py") + &text("setup.cfg"));
    let builds = project.contains("setuptools") || !setup.is_empty();
    let is_told =
        project.contains("[tool.setuptools") || ["packages", "py_modules"].iter().any(|key| setup.contains(key));
    if !builds || is_told || directory.join("src").is_dir() {
        return Vec::new();
    }
    let entries = std::fs::read_dir(directory).into_iter().flatten().flatten();
    let packages = entries.filter(|entry| entry.path().join("__init__.py").is_file());
    let names = packages.filter_map(|entry| entry.file_name().into_string().ok());
    let mut names: Vec<String> = names.filter(|name| name != "tests").collect();
    names.sort();
    names
}

/// A text as a word of a command.
pub fn quoted(text: &str) -> String {
    let is_plain = text.chars().all(|c| c.is_alphanumeric() || "_-./".contains(c));
    if is_plain { text.to_owned() } else { format!("'{}'", text.replace('\'', "'\\''")) }
}

/// How far below the root test files are looked for, and in how many directories.
const DEPTH: usize = 4;
const DIRECTORIES: usize = 1_000;

/// Files of Python with tests, relative to the root: first those in `tests`, then those that are least deep.
fn test_files(root: &Path) -> Vec<PathBuf> {
    let (mut found, mut open, mut seen) = (Vec::new(), vec![PathBuf::new()], 0);
    while let Some(place) = open.pop() {
        seen += 1;
        for entry in std::fs::read_dir(root.join(&place)).into_iter().flatten().flatten() {
            let (Ok(kind), Ok(name)) = (entry.file_type(), entry.file_name().into_string()) else { continue };
            let path = place.join(&name);
            let is_test = name.ends_with(".py") && (name.starts_with("test_") || name.ends_with("_test.py"));
            if kind.is_dir() && is_own(&entry.path(), &name) {
                if path.components().count() < DEPTH && seen + open.len() < DIRECTORIES {
                    open.push(path);
                }
            } else if is_test && !kind.is_dir() {
                found.push(path);
            }
        }
    }
    found.sort_by_cached_key(|path| (!path.starts_with("tests"), path.components().count(), path.clone()));
    found
}

/// Whether a directory has what the project itself wrote: not what tools have filled, and no repository or environment of its own.
fn is_own(path: &Path, name: &str) -> bool {
    let of_tools =
        ["node_modules", "site-packages", "__pycache__", "build", "dist", "target", "vendor", "fixtures", "testdata"];
    !name.starts_with('.')
        && !of_tools.contains(&name)
        && !path.join(".git").exists()
        && !path.join("pyvenv.cfg").exists()
}

/// Where unittest has to start to find a file: it goes down into packages alone.
fn start_of(root: &Path, file: &Path) -> PathBuf {
    let mut start = file.parent().unwrap_or(file);
    while !start.as_os_str().is_empty() && root.join(start).join("__init__.py").is_file() {
        start = start.parent().unwrap_or(Path::new(""));
    }
    start.to_path_buf()
}

#[cfg(test)]
#[path = "survey/survey_test.rs"]
mod tests;
