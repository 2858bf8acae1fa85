//! Parts of a line of Markdown on which all renderers agree, and those on which chat clients act. Each is read from where it begins, and says whether it is over.
//!
//! Must not know what stands before.

/// Most bytes of a code span, a picture, or where a link leads.
pub(super) const LONGEST: usize = 1_000;
/// How addresses begin that stay.
pub(super) const ADDRESSES: [&str; 3] = ["http://", "https://", "mailto:"];
/// What Open WebUI acts on wherever it stands, code included; white space or `>` follows.
const ACTS: [&str; 9] = [
    "<think",
    "<thinking",
    "<reason",
    "<reasoning",
    "<thought",
    "<Thought",
    "<code_interpreter",
    "<|begin_of_thought|",
    "<|begin_of_solution|",
];
/// The same, as a whole.
const THINKS: &str = "◁think▷";

/// What a form is read to be.
pub(super) enum Form {
    /// It is not over.
    Open,
    No,
    /// Where its target begins and ends, and the form.
    Of(usize, usize, usize),
}

/// Where a link leads, up to this end, with a title before it at most. Only forms on which all renderers agree.
pub(super) fn target(text: &str, end: char, is_end: bool) -> Form {
    let near = &text[..text.floor_char_boundary(LONGEST)];
    let is_line = end == '\n';
    // The end of the text is one of a line.
    let is_over = is_line && is_end && near.len() == text.len();
    let open = || if near.len() < text.len() { Form::No } else { Form::Open };
    let spaces = |at: usize| near.len() - near[at..].trim_start_matches([' ', '\t']).len();
    let start = spaces(0);
    let (from, to, after) = match near[start..].strip_prefix('<') {
        Some(inner) => match inner.find(['>', '<', '[', ']', '`', '\\', '\n', '\r']) {
            None => return open(),
            Some(length) if inner[length..].starts_with('>') => (start + 1, start + 1 + length, start + 2 + length),
            Some(_) => return Form::No,
        },
        None => {
            let mut depth = 0_usize;
            let ends = |one: char| match one {
                '(' => {
                    depth += 1;
                    false
                }
                ')' if depth > 0 => {
                    depth -= 1;
                    false
                }
                ')' => !is_line,
                _ => one.is_whitespace() || one.is_control() || ['<', '>', '`', '[', ']', '\\'].contains(&one),
            };
            let to = match near[start..].find(ends) {
                Some(length) => start + length,
                None if is_over => near.len(),
                None => return open(),
            };
            (start, to, to)
        }
    };
    if from == to {
        return Form::No;
    }
    let ended = |at: usize| match near[at..].chars().next() {
        None if is_over => Some(Form::Of(from, to, at)),
        None => Some(open()),
        Some('\n' | '\r') if is_line => Some(Form::Of(from, to, at)),
        Some(')') if !is_line => Some(Form::Of(from, to, at + 1)),
        Some(_) => None,
    };
    let title = spaces(after);
    if let Some(form) = ended(title) {
        return form;
    }
    let quote = near[title..].chars().next().filter(|one| ['"', '\''].contains(one) && title > after);
    let Some(quote) = quote else { return Form::No };
    let words = &near[title + 1..];
    match words.find([quote, '\\', '`', '<', '[', ']', '\n', '\r']) {
        None => open(),
        Some(length) if words[length..].starts_with(quote) => ended(spaces(title + length + 2)).unwrap_or(Form::No),
        Some(_) => Form::No,
    }
}

/// Whether an address that begins so is a page, or a file, and nothing that acts: entities and escapes may hide one; `None` where that is not decided yet.
pub(super) fn is_harmless(text: &str, is_end: bool) -> Option<bool> {
    let inner = text.trim_start_matches([' ', '\t', '<']);
    if text.len() - inner.len() > LONGEST {
        return Some(false);
    }
    let near = &inner[..inner.floor_char_boundary(LONGEST)];
    if ADDRESSES.iter().any(|address| near.starts_with(address)) {
        return Some(true);
    }
    if !is_end && ADDRESSES.iter().any(|address| address.starts_with(near)) {
        return None;
    }
    let ends = |one: char| !(one.is_ascii_alphanumeric() || "+-.".contains(one));
    match near.find(ends) {
        // Browsers leave tabs out.
        Some(at) => Some(!near[at..].starts_with([':', '&', '\\', '\t'])),
        None if !is_end && near.len() == inner.len() => None,
        None => Some(true),
    }
}

/// Whether Open WebUI acts on what begins a text, in code as well; `None` where that is not decided yet.
pub(super) fn acts(text: &str, is_end: bool) -> Option<bool> {
    let mut is_open = THINKS.starts_with(text);
    for tag in ACTS {
        match text.strip_prefix(tag) {
            Some(rest) if tag.ends_with('>') || rest.starts_with([' ', '\t', '>']) => return Some(true),
            Some(rest) => is_open |= rest.is_empty(),
            None => is_open |= tag.starts_with(text),
        }
    }
    match is_open && !text.starts_with(THINKS) {
        true if !is_end => None,
        _ => Some(text.starts_with(THINKS)),
    }
}

/// Where as many marks in a row stand as a code span began with.
pub(super) fn closing(text: &str, marks: usize) -> Option<usize> {
    let mut at = 0;
    while let Some(found) = text[at..].find('`') {
        let from = at + found;
        at = text.len() - text[from..].trim_start_matches('`').len();
        if at - from == marks {
            return Some(from);
        }
    }
    None
}
