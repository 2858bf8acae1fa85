//! What agents call, in a few words. Must not know who reads them.

use std::path::Path;

use helix_core::ids::JobId;
use helix_core::text::one_line;
use serde_json::Value;

use super::LINE;

/// A call of a tool in a few words: `✎ src/shop.py (+12)`, `$ pytest -q`, `Read src/shop.py`.
pub fn tool_call(job: &JobId, name: &str, input: &Value) -> String {
    let text = |key: &str| input.get(key).and_then(Value::as_str);
    let path = ["file_path", "notebook_path", "path"].into_iter().find_map(text).map(|path| in_work_place(job, path));
    let lines = |key: &str| text(key).map(|text| text.lines().count());
    let call = match (path, input.get("command")) {
        (Some(path), _) => match (lines("content").or_else(|| lines("new_string")), lines("old_string")) {
            (Some(new), None) => format!("✎ {path} (+{new})"),
            (Some(new), Some(old)) => format!("✎ {path} (+{new} −{old})"),
            (None, _) => format!("{name} {path}"),
        },
        (None, Some(Value::String(command))) => format!("$ {}", in_work_place(job, command)),
        (None, Some(Value::Array(words))) => {
            let words: Vec<&str> = words.iter().filter_map(Value::as_str).collect();
            format!("$ {}", words.join(" "))
        }
        (None, _) => {
            let about = ["pattern", "query", "url", "description", "skill"].into_iter().find_map(text);
            format!("{name} {}", about.map_or_else(|| input.to_string(), str::to_owned))
        }
    };
    one_line(&call, LINE)
}

/// A text with the paths of a job's work places as the agent knows them: relative to its place.
fn in_work_place(job: &JobId, text: &str) -> String {
    let mark = format!("/worktrees/{job}/");
    let Some((before, rest)) = text.split_once(&mark) else { return text.to_owned() };
    let start = before.rfind(|letter: char| letter.is_whitespace() || "'\"=:".contains(letter)).map_or(0, |at| at + 1);
    let within = rest.split_once('/').map_or(".", |(_, within)| within);
    let is_whole = Path::new(text).is_absolute() && !text.contains(char::is_whitespace);
    match is_whole {
        true => within.to_owned(),
        false => format!("{}{}", &before[..start], in_work_place(job, within)),
    }
}

#[cfg(test)]
#[path = "tools_test.rs"]
mod tests;
