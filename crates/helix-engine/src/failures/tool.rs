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
/// What a shell does by itself, and what passes on what another command says: no script is there for these.
const BUILTINS: [&str; 24] = [
    "exit", "return", "true", "false", ":", "echo", "printf", "cd", "set", "unset", "export", "local", "trap", "wait",
    "test", "[", "[[", "shift", "source", ".", "fi", "done", "esac", "tee",
];
/// Words of a shell that stand before a command.
const KEYWORDS: [&str; 9] = ["if", "then", "else", "elif", "while", "until", "do", "!", "{"];
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

/// The last command of a shell's script that is more than a word of the shell: `exit 0` and `true` say nothing of what failed.
fn script(rest: &[&str], depth: usize) -> Option<String> {
    let at = rest.iter().position(|word| word.starts_with('-') && word.ends_with('c') && !word.starts_with("--"))?;
    let script = plain(rest.get(at + 1)?);
    script.rsplit(['\n', ';', '|', '&', '(', ')']).find_map(|part| {
        let before = |word: &&str| is_assignment(word) || KEYWORDS.contains(word);
        let words: Vec<&str> = part.split_whitespace().skip_while(before).collect();
        let first = words.first()?;
        (is_name(&base_name(first)) && !BUILTINS.contains(first)).then(|| tool(&words, depth - 1))
    })
}

/// A script without its quotes, in which nothing of what they held, and no redirection, separates commands.
fn plain(script: &str) -> String {
    let mut quote = None;
    let mut text = String::with_capacity(script.len());
    for c in script.chars() {
        match (quote, c) {
            (None, '\'' | '"') => quote = Some(c),
            (Some(open), _) if open == c => quote = None,
            (Some(_), ';' | '|' | '&' | '(' | ')' | ' ' | '\t' | '\n') => text.push('_'),
            (None, '&') if text.ends_with('>') => {}
            _ => text.push(c),
        }
    }
    text
}

/// Whether this could be a program's name; redirections and variables are not.
fn is_name(name: &str) -> bool {
    let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '_' | '+' | '-');
    name.chars().all(plain) && name.contains(|c: char| c.is_ascii_alphabetic())
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
