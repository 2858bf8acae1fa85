//! From the name of a test to the command that runs just it.
//!
//! Must not run anything. The phase's own test command decides where it says which runner is used; else the file's kind does.

use helix_core::said::Words;
use helix_language::recorded;

/// What is known of the project.
pub(super) struct Project<'a> {
    /// The words of the phase's test command.
    pub(super) own_command: Option<&'a [String]>,
    /// Whether the result has a file.
    pub(super) has: &'a dyn Fn(&str) -> bool,
    /// The text of `package.json`.
    pub(super) package_json: Option<&'a str>,
}

/// The command; else why there is none.
pub(super) fn argv(name: &str, project: &Project<'_>) -> Result<Vec<String>, Words> {
    let (file, test) = split(name);
    let ending = file.rsplit_once('.').map(|(_, ending)| ending).unwrap_or_default();
    let words = match ending {
        "py" => python(file, test, name, project),
        "rs" => rust(file, test, project),
        "js" | "mjs" | "cjs" | "jsx" | "ts" | "mts" | "cts" | "tsx" => javascript(file, test, project),
        "go" => go(file, test),
        _ => nameless(name, project).ok_or_else(|| recorded!("gate-criterion-unknown", test = name))?,
    };
    // A name is data: it must not become an option of the runner.
    if file.starts_with('-') || test.is_some_and(|test| test.starts_with('-')) {
        return Err(recorded!("gate-criterion-no-name", test = name));
    }
    Ok(words)
}

/// File and test of `file::test`, `file > test` or a file alone. Without a file, the whole name is the first part.
fn split(name: &str) -> (&str, Option<&str>) {
    let parts = name.split_once(" > ").or_else(|| name.split_once("::"));
    match parts {
        Some((file, test)) if file.contains('.') || file.contains('/') => (file.trim(), Some(test.trim())),
        Some(_) | None => (name.trim(), None),
    }
}

fn owned(words: &[&str]) -> Vec<String> {
    words.iter().map(|word| (*word).to_owned()).collect()
}

/// The words of the phase's command up to a runner of this name.
fn up_to<'a>(project: &Project<'a>, runner: &str) -> Option<&'a [String]> {
    let words = project.own_command?;
    let at = words.iter().position(|word| word.rsplit('/').next() == Some(runner))?;
    words.get(..=at)
}

fn with(prefix: &[String], more: &[&str]) -> Vec<String> {
    prefix.iter().cloned().chain(owned(more)).collect()
}

fn python(file: &str, test: Option<&str>, name: &str, project: &Project<'_>) -> Vec<String> {
    if let Some(unittest) = up_to(project, "unittest") {
        let module = file.trim_start_matches("./").trim_end_matches(".py").replace('/', ".");
        return match test {
            // A method without its class: whichever class of the file has it.
            Some(method) if method.starts_with("test") && !method.contains("::") => {
                with(unittest, &["-v", "-k", &format!("*.{method}"), &module])
            }
            Some(test) => with(unittest, &["-v", &format!("{module}.{}", test.replace("::", "."))]),
            None => with(unittest, &["-v", &module]),
        };
    }
    let name = name.replace(" > ", "::");
    match up_to(project, "pytest") {
        Some(pytest) => with(pytest, &["-q", &name]),
        None => owned(&["python3", "-m", "pytest", "-q", &name]),
    }
}

fn rust(file: &str, test: Option<&str>, project: &Project<'_>) -> Vec<String> {
    let mut words = owned(&["cargo", "test"]);
    let mut directory = file;
    while let Some((parent, _)) = directory.rsplit_once('/') {
        let manifest = format!("{parent}/Cargo.toml");
        if (project.has)(&manifest) {
            words.extend(["--manifest-path".to_owned(), manifest]);
            break;
        }
        directory = parent;
    }
    let (parent, stem) = file.rsplit_once('/').unwrap_or(("", file));
    if parent == "tests" || parent.ends_with("/tests") {
        words.extend(["--test".to_owned(), stem.trim_end_matches(".rs").to_owned()]);
    } else if test.is_none() {
        // All tests of a module: their names begin with it.
        let module = match stem {
            "mod.rs" | "lib.rs" | "main.rs" => parent.rsplit('/').next().unwrap_or_default(),
            other => other.trim_end_matches(".rs"),
        };
        if module != "src" {
            words.push(format!("{module}::"));
        }
    }
    words.extend(test.map(str::to_owned));
    words
}

fn javascript(file: &str, test: Option<&str>, project: &Project<'_>) -> Vec<String> {
    let named = |runner: &str| {
        let own = project.own_command.unwrap_or_default().iter().any(|word| word.contains(runner));
        own || project.package_json.is_some_and(|text| text.contains(&format!("\"{runner}")))
    };
    let plain_node = project.own_command.is_some_and(|words| words.iter().any(|word| word == "--test"));
    let runner = ["vitest", "jest", "mocha"].into_iter().find(|runner| !plain_node && named(runner));
    let pattern = test.map(|test| regex::escape(&test.replace(" > ", " ").replace("::", " ")));
    let Some(runner) = runner else {
        let mut words = owned(&["node", "--test", "--test-reporter=tap"]);
        // Node compares with each name of the way down; the last one is the test itself.
        let last = test.and_then(|test| test.rsplit([':', '>']).next()).map(|name| regex::escape(name.trim()));
        words.extend(last.map(|last| format!("--test-name-pattern={last}")));
        words.push(file.to_owned());
        return words;
    };
    let mut words = match up_to(project, runner) {
        Some(prefix) => prefix.to_vec(),
        None => owned(&["npx", "--no-install", runner]),
    };
    if runner == "vitest" {
        words.push("run".into());
    }
    words.push(file.to_owned());
    if let Some(pattern) = pattern {
        words.extend([if runner == "mocha" { "--grep" } else { "-t" }.to_owned(), pattern]);
    }
    words
}

fn go(file: &str, test: Option<&str>) -> Vec<String> {
    let package =
        file.trim_start_matches("./").rsplit_once('/').map_or(".".to_owned(), |(parent, _)| format!("./{parent}"));
    let mut words = owned(&["go", "test", "-v", "-count=1"]);
    if let Some(test) = test {
        let each: Vec<String> = test.split('/').map(|part| format!("^{}$", regex::escape(part))).collect();
        words.extend(["-run".to_owned(), each.join("/")]);
    }
    words.push(package);
    words
}

/// A test by its name alone: the project says which language it is.
fn nameless(name: &str, project: &Project<'_>) -> Option<Vec<String>> {
    if let Some(pytest) = up_to(project, "pytest").filter(|_| !name.contains("::")) {
        return Some(with(pytest, &["-q", "-k", name]));
    }
    if (project.has)("Cargo.toml") {
        return Some(owned(&["cargo", "test", name]));
    }
    if (project.has)("go.mod") && name.starts_with("Test") {
        return Some(owned(&["go", "test", "-v", "-count=1", "-run", &format!("^{}$", regex::escape(name)), "./..."]));
    }
    None
}

#[cfg(test)]
#[path = "runner_test.rs"]
mod tests;
