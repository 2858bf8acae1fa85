//! Which tool a command line runs, behind shells, interpreters and launchers.
//!
//! Must not know what tools do.

/// Programs that run what comes after them, with the words that may stand between.
const LAUNCHERS: [&str; 16] = [
    "env", "sudo", "nice", "timeout", "time", "xvfb-run", "npx", "bunx", "pnpx", "uv", "poetry", "pipenv", "hatch",
    "rye", "bundle", "run",
];
/// Words of launchers that are no tool.
const BETWEEN: [&str; 3] = ["run", "exec", "dlx"];
/// How deep commands are nested in commands.
const DEPTH: usize = 4;

/// The tool's name, such as `pytest` for `uv run python -m pytest -q`; empty for an empty command line.
pub(super) fn tool_of(argv: &[String]) -> String {
    let words: Vec<&str> = argv.iter().map(String::as_str).collect();
    tool(&words, DEPTH)
}

fn tool(words: &[&str], depth: usize) -> String {
    let Some((first, rest)) = words.split_first() else { return String::new() };
    let name = base_name(first);
    if depth == 0 {
        return name;
    }
    let nested = match name.as_str() {
        "sh" | "bash" | "dash" | "zsh" => script(rest, depth),
        "python" | "python3" => module(rest),
        "cargo" if rest.first() == Some(&"nextest") => Some("nextest".to_owned()),
        known if LAUNCHERS.contains(&known) => launched(rest, depth),
        _ => None,
    };
    nested.filter(|nested| !nested.is_empty()).unwrap_or(name)
}

fn base_name(program: &str) -> String {
    let name = program.rsplit(['/', '\\']).next().unwrap_or(program);
    name.strip_suffix(".exe").unwrap_or(name).to_owned()
}

/// The last command of a shell's script: its status is the script's.
fn script(rest: &[&str], depth: usize) -> Option<String> {
    let at = rest.iter().position(|word| word.starts_with('-') && word.ends_with('c') && !word.starts_with("--"))?;
    let script = rest.get(at + 1)?;
    let last = script.rsplit(['\n', ';', '|', '&']).find(|part| !part.trim().is_empty())?;
    let words: Vec<&str> = last.split_whitespace().skip_while(|word| is_assignment(word)).collect();
    Some(tool(&words, depth - 1))
}

fn module(rest: &[&str]) -> Option<String> {
    let at = rest.iter().position(|word| *word == "-m")?;
    rest.get(at + 1).map(|module| (*module).to_owned())
}

fn launched(rest: &[&str], depth: usize) -> Option<String> {
    let is_own = |word: &&&str| {
        word.starts_with('-')
            || is_assignment(word)
            || BETWEEN.contains(word)
            || word.starts_with(|c: char| c.is_ascii_digit())
    };
    let skipped = rest.iter().take_while(is_own).count();
    let words = rest.get(skipped..).filter(|words| !words.is_empty())?;
    Some(tool(words, depth - 1))
}

fn is_assignment(word: &str) -> bool {
    word.split_once('=')
        .is_some_and(|(name, _)| !name.is_empty() && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_'))
}

#[cfg(test)]
#[path = "tool_test.rs"]
mod tests;
