//! Orders to the fake inside a prompt, such as `[[fake: hang]]`, so that a plan's own text can choose the fault.
//!
//! Must not know scripts' files; an unknown order is an error, never ignored.

use super::script::{Act, AgentFault, Step};

/// An order, and the attempt that it is for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Directive {
    /// Only this attempt, from 1; all if absent.
    pub attempt: Option<usize>,
    pub words: String,
}

/// Says why an order in a prompt cannot be followed.
#[derive(Debug, thiserror::Error)]
#[error("[[fake: {words}]] in the prompt: {reason}")]
pub struct DirectiveError {
    pub words: String,
    /// What is wrong with it.
    pub reason: String,
}

impl Directive {
    /// All orders in a prompt, each once.
    pub fn all(prompt: &str) -> Vec<Self> {
        let mut found: Vec<Self> = Vec::new();
        for piece in prompt.split("[[fake:").skip(1) {
            let Some((words, _)) = piece.split_once("]]") else { continue };
            let words = words.trim();
            let for_attempt = words.strip_prefix("attempt ").and_then(|rest| {
                let (number, words) = rest.split_once(':')?;
                Some((number.trim().parse().ok()?, words.trim()))
            });
            let directive = match for_attempt {
                Some((number, words)) => Self { attempt: Some(number), words: words.to_owned() },
                None => Self { attempt: None, words: words.to_owned() },
            };
            if !found.contains(&directive) {
                found.push(directive);
            }
        }
        found
    }

    /// Adds the order to an act.
    ///
    /// # Errors
    /// The order is unknown or lacks something.
    pub fn apply(&self, act: &mut Act) -> Result<(), DirectiveError> {
        let error = |reason: String| DirectiveError { words: self.words.clone(), reason };
        let (verb, rest) = self.words.split_once(char::is_whitespace).unwrap_or((&self.words, ""));
        let rest = rest.trim();
        match verb {
            "zero-work" => {}
            "say" => act.say = Some(rest.to_owned()),
            "structured" => {
                act.structured = Some(serde_json::from_str(rest).map_err(|source| error(source.to_string()))?);
            }
            "text" => act.steps.push(Step::Text(rest.to_owned())),
            "run" => act.steps.push(Step::Run(rest.to_owned())),
            "delete" => act.steps.push(Step::Delete(rest.to_owned())),
            "sleep" => {
                act.steps.push(Step::Sleep(rest.parse().map_err(|_| error("needs milliseconds".to_owned()))?));
            }
            "write" => {
                let (path, content) =
                    rest.split_once(char::is_whitespace).ok_or_else(|| error("needs a path and a text".to_owned()))?;
                let content = content.trim().replace("\\n", "\n");
                act.steps.push(Step::Write { path: path.to_owned(), content });
            }
            "deltas" => act.steps.push(deltas(rest).map_err(error)?),
            name => {
                let mut fault = AgentFault::named(name)
                    .ok_or_else(|| error(format!("{name:?} is neither an order nor a fault")))?;
                for word in rest.split_whitespace() {
                    detail(&mut fault, word).map_err(error)?;
                }
                act.faults.push(fault);
            }
        }
        Ok(())
    }
}

/// `COUNT [RATE|unpaced [BYTES]]`.
fn deltas(rest: &str) -> Result<Step, String> {
    let wrong = || "needs a count, a rate or `unpaced`, and a length".to_owned();
    let mut words = rest.split_whitespace();
    let count = words.next().and_then(|word| word.parse().ok()).ok_or_else(wrong)?;
    let per_second = match words.next() {
        None | Some("unpaced") => None,
        Some(word) => Some(word.parse().map_err(|_| wrong())?),
    };
    let bytes = words.next().map_or(Ok(0), str::parse).map_err(|_| wrong())?;
    Ok(Step::Deltas { count, per_second, bytes })
}

fn detail(fault: &mut AgentFault, word: &str) -> Result<(), String> {
    let (key, value) = word.split_once('=').ok_or_else(|| format!("{word:?} is not key=value"))?;
    fn number<T: std::str::FromStr>(word: &str, value: &str) -> Result<Option<T>, String> {
        value.parse().map(Some).map_err(|_| format!("{word:?} is not a fitting number"))
    }
    match key {
        "seconds" => fault.seconds = number(word, value)?,
        "bytes" => fault.bytes = number(word, value)?,
        "lines" => fault.lines = number(word, value)?,
        "per_second" => fault.per_second = number(word, value)?,
        "exit" => fault.exit = number(word, value)?,
        "resets_in" => fault.resets_in = number(word, value)?,
        "text" => fault.text = Some(value.to_owned()),
        "path" => fault.path = Some(value.to_owned()),
        other => return Err(format!("{other:?} is no detail of a fault")),
    }
    Ok(())
}
