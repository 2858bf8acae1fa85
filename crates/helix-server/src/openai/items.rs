//! Tool calls as items, as Open WebUI shows them, and the index of each part of an answer, as it counts them.
//!
//! Must not know when an item is sent. Open WebUI counts the parts of an answer itself while it reads text and reasoning; an item's
//! `output_index` must agree with that count or the parts are shown in the wrong order (measured with 0.12.4).

use serde_json::{Value, json};

/// A call, which its output must follow; `name` is what people see.
pub(super) fn function_call(id: &str, name: &str, arguments: &Value) -> Value {
    let (name, arguments) = (item_name(name), arguments.to_string());
    json!({
        "type": "function_call", "id": id, "call_id": id, "name": name, "arguments": arguments, "status": "in_progress",
    })
}

/// A name with lookalikes of what ends an attribute of HTML, or begins something in one: Open WebUI writes names into such.
pub(super) fn item_name(name: &str) -> String {
    let lookalike = |letter| match letter {
        '"' => '\u{201d}',
        '<' => '\u{2039}',
        '>' => '\u{203a}',
        '&' => '\u{ff06}',
        other => other,
    };
    name.chars().map(lookalike).collect()
}

/// What the tool said.
pub(super) fn function_call_output(id: &str, call_id: &str, output: &str, status: &str) -> Value {
    let output = json!([{ "type": "input_text", "text": output }]);
    json!({ "type": "function_call_output", "id": id, "call_id": call_id, "output": output, "status": status })
}

/// The parts so far.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Parts {
    count: usize,
    last: Option<Part>,
    first_text: Option<usize>,
    reasoning: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Part {
    Reasoning,
    Text,
    Item,
}

impl Parts {
    /// Text goes on in the last part, or begins one.
    pub(crate) fn text(&mut self) {
        if self.last != Some(Part::Text) {
            self.first_text.get_or_insert(self.count);
            self.push(Part::Text);
        }
    }

    /// Reasoning before any text goes on in the last part or begins one; after text, it joins the reasoning before the text,
    /// which is put there if there is none. Returns the place that was put in, since all after it have moved.
    pub(crate) fn reasoning(&mut self) -> Option<usize> {
        match self.first_text {
            Some(_) if self.reasoning => None,
            Some(first_text) => {
                self.reasoning = true;
                self.count += 1;
                self.first_text = Some(first_text + 1);
                Some(first_text)
            }
            None => {
                if self.last != Some(Part::Reasoning) {
                    self.push(Part::Reasoning);
                }
                self.reasoning = true;
                None
            }
        }
    }

    /// Whether there is any text.
    pub(crate) fn has_text(&self) -> bool {
        self.first_text.is_some()
    }

    /// An item always begins a part; returns its place.
    pub(crate) fn item(&mut self) -> usize {
        self.push(Part::Item);
        self.count - 1
    }

    fn push(&mut self, part: Part) {
        self.count += 1;
        self.last = Some(part);
    }
}

#[cfg(test)]
#[path = "items_test.rs"]
mod tests;
