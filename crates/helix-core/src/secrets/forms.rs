//! The forms in which programs write a value: as it is, escaped, encoded.
//!
//! Must not know where it is looked for.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD_NO_PAD;

use super::{SHORTEST, Secret, variables};

/// Shortest part of a random value that is taken for it, in its own bytes.
const PART: usize = 16;
/// Shortest line of a value of several lines that is looked for by itself.
const LINE: usize = 16;

/// One form of a value.
#[derive(Debug)]
pub(super) struct Form {
    pub(super) name: String,
    pub(super) bytes: Vec<u8>,
    /// How much of it is taken for it; all of it where a part says nothing.
    pub(super) enough: usize,
    is_base64: bool,
}

impl Form {
    /// The end of what belongs to it: base64 ends with a character of its own, and `=`.
    pub(super) fn padded_end(&self, text: &[u8], end: usize) -> usize {
        if !self.is_base64 {
            return end;
        }
        let rest = text.get(end..).unwrap_or_default();
        let own = rest.iter().take(1).filter(|byte| byte.is_ascii_alphanumeric() || b"+/-_".contains(byte)).count();
        let padding = rest.iter().skip(own).take(2).take_while(|byte| **byte == b'=').count();
        if padding > 0 { end + own + padding } else { end }
    }
}

/// All forms of a value, without those that are too short.
pub(super) fn all_of(secret: &Secret) -> Vec<Form> {
    let name: String = secret
        .name
        .chars()
        .filter(|letter| letter.is_ascii_alphanumeric() || "_-.".contains(*letter))
        .take(40)
        .collect();
    let mut texts = vec![secret.value.trim().as_bytes()];
    let lines = secret.value.lines().map(str::trim).filter(|line| line.len() >= LINE && !variables::is_trivial(line));
    if secret.value.trim().contains('\n') {
        texts.extend(lines.filter(|line| !line.contains("-----")).map(str::as_bytes));
    }
    let mut forms = Vec::new();
    for text in texts {
        let part = variables::is_random(text).then_some(PART);
        let mut add = |bytes: Vec<u8>, growth: (usize, usize), is_base64: bool| {
            let enough = part.map_or(bytes.len(), |part| part * growth.0 / growth.1);
            if bytes.len() >= SHORTEST {
                forms.push(Form { name: name.clone(), bytes, enough, is_base64 });
            }
        };
        add(text.to_vec(), (1, 1), false);
        add(text.iter().rev().copied().collect(), (1, 1), false);
        let once = escaped(text);
        add(escaped(&once), (1, 1), false);
        add(once, (1, 1), false);
        add(html(text), (1, 1), false);
        add(slashed(text), (1, 1), false);
        add(spelled(text, |byte| format!("{byte:02x}"), |_| true), (2, 1), false);
        add(spelled(text, |byte| format!("{byte:02X}"), |_| true), (2, 1), false);
        let reserved = |byte: u8| !(byte.is_ascii_alphanumeric() || b"-_.~".contains(&byte));
        for form in [|byte: u8| format!("%{byte:02X}"), |byte: u8| format!("%{byte:02x}")] {
            add(spelled(text, form, reserved), (1, 1), false);
            add(spelled(text, form, |_| true), (3, 1), false);
        }
        for shift in 0..3 {
            let core = base64_core(text, shift);
            let url: Vec<u8> = core
                .iter()
                .map(|byte| {
                    if *byte == b'+' {
                        b'-'
                    } else if *byte == b'/' {
                        b'_'
                    } else {
                        *byte
                    }
                })
                .collect();
            add(core, (4, 3), true);
            add(url, (4, 3), true);
        }
    }
    forms
}

/// What base64 makes of a text that begins at this byte of a group, without the characters that its neighbours share.
fn base64_core(text: &[u8], shift: usize) -> Vec<u8> {
    let mut shifted = vec![0; shift];
    shifted.extend_from_slice(text);
    let whole = shifted.len() * 8 / 6;
    let first = (shift * 8).div_ceil(6);
    let encoded = STANDARD_NO_PAD.encode(&shifted).into_bytes();
    encoded.get(first..whole).unwrap_or_default().to_vec()
}

/// As a string of JSON has it.
fn escaped(text: &[u8]) -> Vec<u8> {
    let quoted = serde_json::to_string(&String::from_utf8_lossy(text)).unwrap_or_default();
    quoted.get(1..quoted.len().saturating_sub(1)).unwrap_or_default().as_bytes().to_vec()
}

fn slashed(text: &[u8]) -> Vec<u8> {
    String::from_utf8_lossy(&escaped(text)).replace('/', "\\/").into_bytes()
}

fn html(text: &[u8]) -> Vec<u8> {
    let text = String::from_utf8_lossy(text).replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;");
    text.replace('"', "&quot;").replace('\'', "&#39;").into_bytes()
}

fn spelled(text: &[u8], form: impl Fn(u8) -> String, is_spelled: impl Fn(u8) -> bool) -> Vec<u8> {
    let spelled = text.iter().map(|byte| if is_spelled(*byte) { form(*byte).into_bytes() } else { vec![*byte] });
    spelled.flatten().collect()
}
