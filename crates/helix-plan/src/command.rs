//! Command lines of gates, split into words as a POSIX shell would, but never given to a shell.
//!
//! Must not know which program runs them; whatever only a shell could do is refused here instead of being passed on.

/// Why a command line does not split into words.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct SplitError {
    message: String,
    /// Byte offset in the command at which the problem lies.
    pub at: usize,
    /// What to write instead.
    pub remedy: String,
}

impl SplitError {
    fn new(message: impl Into<String>, at: usize, remedy: impl Into<String>) -> Self {
        Self { message: message.into(), at, remedy: remedy.into() }
    }

    /// A quotation that does not end.
    fn open_quote(quote: char, at: usize) -> Self {
        let remedy = format!("close it with {quote}, or escape it with a backslash");
        Self::new(format!("the quote {quote} is not closed"), at, remedy)
    }

    /// Something only a shell understands.
    fn shell(syntax: &str, at: usize, command: &str) -> Self {
        let command = command.trim();
        let remedy = if command.contains('\n') {
            let lines: Vec<&str> = command.lines().map(str::trim).filter(|line| !line.is_empty()).collect();
            format!("a gate is one command; for several use a shell: sh -c {}", quoted(&lines.join(" && ")))
        } else {
            format!("to use a shell, write: sh -c {}; otherwise put it in quotes", quoted(command))
        };
        Self::new(format!("`{syntax}` is shell syntax, and Helix runs commands without a shell"), at, remedy)
    }
}

/// Quotes a text for a shell: double quotes where they are enough, else single ones.
fn quoted(text: &str) -> String {
    if text.contains(['"', '$', '`', '\\', '!']) {
        format!("'{}'", text.replace('\'', r"'\''"))
    } else {
        format!("\"{text}\"")
    }
}

/// Splits a command line into program and arguments by POSIX quoting rules, without any expansion.
///
/// Quotes and backslashes mean what they mean to `sh`; `*`, `?` and `{}` are passed on as they are.
///
/// # Errors
/// [`SplitError`] when a quotation is open, when there are no words, or when an unquoted part would need a shell:
/// pipes, redirections, `;`, `&`, line breaks, `$`, backticks, parentheses, a leading `NAME=value` or `~`.
pub fn split_words(command: &str) -> Result<Vec<String>, SplitError> {
    // No argument can hold it.
    if let Some(at) = command.find('\0') {
        return Err(SplitError::new("the command contains a NUL character", at, "remove it"));
    }
    let mut words = Vec::new();
    let mut word: Option<String> = None;
    let command_end = command.trim_end().len();
    let mut rest = command[..command_end].char_indices().peekable();
    while let Some((at, character)) = rest.next() {
        match character {
            ' ' | '\t' => words.extend(word.take()),
            '\n' | '\r' if words.is_empty() && word.is_none() => {}
            '\'' => {
                let quoted = word.get_or_insert_default();
                loop {
                    match rest.next() {
                        None => return Err(SplitError::open_quote('\'', at)),
                        Some((_, '\'')) => break,
                        Some((_, inner)) => quoted.push(inner),
                    }
                }
            }
            '"' => double_quoted(&mut rest, at, word.get_or_insert_default())?,
            '\\' => match rest.next() {
                // A backslash before a line break joins the lines.
                Some((_, '\n')) => {}
                Some((_, escaped)) => word.get_or_insert_default().push(escaped),
                None => {
                    let remedy = "remove it, or write `\\\\` for a literal one";
                    return Err(SplitError::new("the command ends with a backslash", at, remedy));
                }
            },
            '|' | '&' | ';' | '<' | '>' | '(' | ')' | '`' | '$' | '\n' | '\r' => {
                let syntax = shell_syntax(character, rest.peek().map(|(_, next)| *next));
                return Err(SplitError::shell(&syntax, at, command));
            }
            '~' if word.is_none() => return Err(SplitError::shell("~", at, command)),
            '=' if words.is_empty() && word.as_deref().is_some_and(is_name) => {
                let syntax = format!("{}=", word.unwrap_or_default());
                return Err(SplitError::shell(&syntax, at, command));
            }
            _ => word.get_or_insert_default().push(character),
        }
    }
    words.extend(word);
    match words.first() {
        Some(program) if !program.is_empty() => Ok(words),
        Some(_) | None => {
            let remedy = "write the program and its arguments, such as `pytest -q`";
            Err(SplitError::new("the command is empty", 0, remedy))
        }
    }
}

fn double_quoted(
    rest: &mut std::iter::Peekable<std::str::CharIndices<'_>>,
    open: usize,
    word: &mut String,
) -> Result<(), SplitError> {
    loop {
        match rest.next() {
            None => return Err(SplitError::open_quote('"', open)),
            Some((_, '"')) => return Ok(()),
            Some((_, '\\')) => match rest.next() {
                None => return Err(SplitError::open_quote('"', open)),
                Some((_, '\n')) => {}
                Some((_, escaped @ ('"' | '\\' | '$' | '`'))) => word.push(escaped),
                Some((_, other)) => word.extend(['\\', other]),
            },
            Some((_, inner)) => word.push(inner),
        }
    }
}

fn shell_syntax(character: char, next: Option<char>) -> String {
    match (character, next) {
        ('\n' | '\r', _) => r"\n".into(),
        ('$', Some(next)) if next == '(' || next == '{' => format!("${next}"),
        ('|', Some('|')) | ('&', Some('&')) | ('>', Some('>')) | ('<', Some('<')) => {
            [character, character].iter().collect()
        }
        _ => character.to_string(),
    }
}

fn is_name(text: &str) -> bool {
    !text.is_empty()
        && !text.starts_with(|c: char| c.is_ascii_digit())
        && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
}

#[cfg(test)]
#[path = "command_test.rs"]
mod tests;
