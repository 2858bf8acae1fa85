//! Helix's own marks in answers: the warning block that it writes, and what clients make of its activity.
//!
//! They are for the user's eyes and are taken out of history, so that no agent ever reads them as its own words. [11]

/// How a warning block of Helix's begins; nothing else is taken out as one.
const CAUTION: &str = "> [!CAUTION]\n> **Helix:** ";

/// Writes a warning block: Markdown that chat clients show in colour.
pub(crate) fn caution(message: &str, hint: Option<&str>) -> String {
    let mut text = String::from(CAUTION);
    text.push_str(&message.replace(['\r', '\n'], " "));
    text.push('\n');
    if let Some(hint) = hint {
        text.push_str(">\n> ");
        text.push_str(&hint.replace(['\r', '\n'], " "));
        text.push('\n');
    }
    text
}

/// Takes Helix's marks out of an answer.
pub(crate) fn strip(text: &str) -> String {
    let text = strip_cautions(text);
    let text = strip_details(&text);
    text.trim().to_owned()
}

fn strip_cautions(text: &str) -> String {
    let mut kept = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = find_line(rest, CAUTION) {
        kept.push_str(&rest[..at]);
        let block: usize =
            rest[at..].split_inclusive('\n').take_while(|line| line.starts_with('>')).map(str::len).sum();
        rest = &rest[at + block..];
    }
    kept.push_str(rest);
    kept
}

/// Finds `needle` at the beginning of a line.
fn find_line(text: &str, needle: &str) -> Option<usize> {
    text.match_indices(needle).map(|(at, _)| at).find(|at| *at == 0 || text.as_bytes()[at - 1] == b'\n')
}

/// Open WebUI and other clients keep activity as `<details type="…">` blocks; a user's own `<details>` has no type.
fn strip_details(text: &str) -> String {
    const OPENINGS: [&str; 2] = ["<details type=\"reasoning\"", "<details type=\"tool_calls\""];
    const CLOSING: &str = "</details>";
    let mut kept = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = OPENINGS.iter().filter_map(|opening| find_line(rest, opening)).min() {
        let Some(end) = rest[at..].find(CLOSING) else { break };
        kept.push_str(&rest[..at]);
        rest = &rest[at + end + CLOSING.len()..];
    }
    kept.push_str(rest);
    kept
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn own_marks_go_and_everything_else_stays() {
        let block = caution("the provider\nrefuses", Some("wait until 14:00"));
        assert_eq!(block, "> [!CAUTION]\n> **Helix:** the provider refuses\n>\n> wait until 14:00\n");
        assert_eq!(strip(&format!("Half an answer\n\n{block}")), "Half an answer");
        assert_eq!(strip(&format!("{block}\nand on")), "and on");
        let foreign = "> [!CAUTION]\n> mind the gap\n\n<details><summary>log</summary>x</details>";
        assert_eq!(strip(foreign), foreign);
    }

    #[test]
    fn activity_that_clients_send_back_goes() {
        let text = "<details type=\"reasoning\" done=\"true\">\nhm\n</details>\nYes.\n<details type=\"tool_calls\" name=\"x\">y</details>\nNo.";
        assert_eq!(strip(text), "Yes.\n\nNo.");
        let open = "<details type=\"reasoning\" done=\"false\">hm";
        assert_eq!(strip(open), open);
    }
}
