//! A report that a runner writes itself, beside what anybody may print: its counts are those of what really ran.
//!
//! Must not change what the command does: the runner is only asked to write one file more.

use crate::output::{Runner, report_path};

/// The report's name in the checkout. It is removed before the run, and no commit has it.
const FILE: &str = ".helix-report.xml";

/// A test command as it is run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Asked {
    pub(super) argv: Vec<String>,
    /// Variables besides those of every command.
    pub(super) variables: Vec<(String, String)>,
    /// The report that is written, relative to the checkout.
    pub(super) report: Option<String>,
    pub(super) runner: Runner,
}

/// Programs that start the one that follows.
const WRAPPERS: [&str; 8] = ["uv", "poetry", "pdm", "hatch", "pipenv", "run", "coverage", "env"];

/// How to run a test command. `options` are those of pytest that the environment has already.
pub(super) fn asked(argv: &[String], options: Option<&str>) -> Asked {
    let named = report_path(argv).map(str::to_owned);
    let plain = |runner| Asked { argv: argv.to_vec(), variables: Vec::new(), report: named.clone(), runner };
    let mut words = argv.iter().map(|word| word.rsplit('/').next().unwrap_or(word)).peekable();
    while words.next_if(|word| WRAPPERS.contains(word)).is_some() {}
    let program = words.next().unwrap_or_default();
    let is_python = program.starts_with("python") || program == "-m" || program == "--branch";
    let module = || argv.iter().skip_while(|word| *word != "-m").nth(1).map(String::as_str);
    let named_module = if is_python { module() } else { None };
    let pytest = program == "pytest" || program == "py.test" || named_module == Some("pytest");
    if pytest && named.is_none() {
        let more = format!("{} --junitxml={FILE}", options.unwrap_or_default());
        let variables = vec![("PYTEST_ADDOPTS".to_owned(), more.trim().to_owned())];
        return Asked { variables, report: Some(FILE.to_owned()), ..plain(Runner::Reports) };
    }
    if pytest {
        return plain(Runner::Reports);
    }
    if named_module == Some("unittest") {
        return plain(Runner::Unittest);
    }
    let test = argv.iter().position(|word| word == "--test").filter(|_| program == "node");
    if let Some(test) =
        test.filter(|_| !argv.iter().any(|word| word.starts_with("--test-reporter") || word == "--watch"))
    {
        let mut argv = argv.to_vec();
        let more = ["--test-reporter=tap", "--test-reporter-destination=stdout", "--test-reporter=junit"];
        let file = format!("--test-reporter-destination={FILE}");
        argv.splice(test + 1..test + 1, more.map(str::to_owned).into_iter().chain([file]));
        return Asked { argv, report: Some(FILE.to_owned()), ..plain(Runner::Reports) };
    }
    plain(Runner::Other)
}

#[cfg(test)]
#[path = "report_test.rs"]
mod tests;
