//! Texts that have the form of a key, anybody's, found by what issuers let them begin with.
//!
//! Must not take what anything else looks like: these are masked in all that agents and gates print.

use std::sync::LazyLock;

use regex::Regex as Text;
use regex::bytes::Regex;

use super::fill;

/// What keys begin with, and what follows.
const ISSUED: &[(&str, &str)] = &[
    ("sk-ant-", "[A-Za-z0-9_-]{24,}"),
    ("sk-proj-", "[A-Za-z0-9_-]{24,}"),
    ("sk-svcacct-", "[A-Za-z0-9_-]{24,}"),
    ("ghp_", "[A-Za-z0-9]{30,}"),
    ("gho_", "[A-Za-z0-9]{30,}"),
    ("ghu_", "[A-Za-z0-9]{30,}"),
    ("ghs_", "[A-Za-z0-9]{30,}"),
    ("ghr_", "[A-Za-z0-9]{30,}"),
    ("github_pat_", "[A-Za-z0-9_]{30,}"),
    ("glpat-", "[A-Za-z0-9_-]{20,}"),
    ("AKIA", "[A-Z0-9]{16}"),
    ("ASIA", "[A-Z0-9]{16}"),
    ("AIza", "[0-9A-Za-z_-]{35}"),
    ("xoxb-", "[A-Za-z0-9-]{20,}"),
    ("xoxp-", "[A-Za-z0-9-]{20,}"),
    ("xapp-", "[A-Za-z0-9-]{20,}"),
    ("npm_", "[A-Za-z0-9]{36}"),
    ("pypi-Ag", "[A-Za-z0-9_-]{40,}"),
    ("hf_", "[A-Za-z0-9]{34}"),
    ("sk_live_", "[A-Za-z0-9]{20,}"),
    ("rk_live_", "[A-Za-z0-9]{20,}"),
    ("eyJ", r"[A-Za-z0-9_-]{8,}\.eyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}"),
    // Helix's own, of runs.
    ("hxr-", r"[A-Za-z0-9_.-]{1,120}\.[0-9a-f]{64}"),
];

/// Longest word that is held back because it may become a key.
const HELD: usize = 4096;

static KEYS: LazyLock<Option<Regex>> = LazyLock::new(|| {
    let forms: Vec<String> = ISSUED.iter().map(|(begins, rest)| format!("{begins}{rest}")).collect();
    Regex::new(&format!("(?-u){}", forms.join("|"))).ok()
});
static BLOCK: LazyLock<Option<Regex>> = LazyLock::new(|| {
    let lines = r"(?:\\+[nr]|\s)*(?:[A-Za-z-]{2,20}: [^\r\n\\]{1,120}|[A-Za-z0-9+/=]{16,})";
    let end = r"(?:\\+[nr]|\s)*[A-Za-z0-9+/=]{0,80}(?:\\+[nr]|\s)*-----END [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----";
    Regex::new(&format!(r"(?-u)-----BEGIN [A-Z0-9 ]{{0,40}}PRIVATE KEY(?: BLOCK)?-----((?:{lines})+(?:{end})?)")).ok()
});
static BEGIN: LazyLock<Option<Regex>> =
    LazyLock::new(|| Regex::new(r"(?-u)-----BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----\s*$").ok());
static PASSWORD: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(r#"(?-u)://[^\s/:@?#"'<>\\]{0,100}:([^\s/?#"'<>\\@$\{%\[*][^\s/?#"'<>\\@]{3,200})@"#).ok()
});
static PADDED: LazyLock<Option<Text>> = LazyLock::new(|| Text::new(r"(\[secret(?: [A-Za-z0-9_.-]+)?\])\*+").ok());

/// Overwrites keys, private keys and passwords in addresses; whether there were any.
pub(super) fn mask(text: &mut [u8]) -> bool {
    let mut places = Vec::new();
    if let Some(form) = KEYS.as_ref() {
        let mut at = 0;
        while let Some(found) = form.find_at(text, at) {
            if is_apart(text, found.start()) && !is_example(found.as_bytes()) {
                places.push((found.start(), found.end()));
                at = found.end();
            } else {
                at = found.start() + 1;
            }
        }
    }
    for form in [BLOCK.as_ref(), PASSWORD.as_ref()].into_iter().flatten() {
        let parts = form.captures_iter(text).filter_map(|found| found.get(1));
        let parts = parts.filter(|part| !part.as_bytes().starts_with(b"[secret") && !is_example(part.as_bytes()));
        places.extend(parts.map(|part| (part.start(), part.end())));
    }
    places.iter().for_each(|(start, end)| fill_lines(text, *start, *end));
    !places.is_empty()
}

/// Overwrites a part of a text but for its line breaks, written out or as `\n`.
fn fill_lines(text: &mut [u8], start: usize, end: usize) {
    let mut at = start;
    while at < end {
        let rest = text.get(at..end).unwrap_or_default();
        let length = rest.iter().take_while(|byte| !matches!(byte, b'\n' | b'\r' | b'\\')).count();
        fill(text, at, at + length, "");
        let rest = text.get(at + length..end).unwrap_or_default();
        let gap = rest.iter().take_while(|byte| matches!(byte, b'\n' | b'\r' | b'\\')).count();
        let escape = usize::from(rest.first() == Some(&b'\\') && gap < rest.len());
        at += length + gap + escape;
    }
}

/// Overwrites the lines of a private key that began in an earlier one; whether this is such a line.
pub(super) fn mask_key_lines(line: &mut [u8], in_key: &mut bool) -> bool {
    let text = line.trim_ascii();
    if !*in_key {
        *in_key = BEGIN.as_ref().is_some_and(|form| form.is_match(text));
        return false;
    }
    let body = |byte: &u8| byte.is_ascii_alphanumeric() || b"+/= :,-".contains(byte);
    *in_key = !text.starts_with(b"-----") && text.iter().all(body);
    if *in_key && !text.starts_with(b"[secret") && !text.is_empty() {
        let end = line.trim_ascii_end().len();
        fill(line, 0, end, "");
    }
    *in_key
}

/// Whether no letter or digit stands right before a place; `\n` is none.
fn is_apart(text: &[u8], start: usize) -> bool {
    let before = |back: usize| start.checked_sub(back).and_then(|at| text.get(at));
    let escape = before(2) == Some(&b'\\') && before(1).is_some_and(|byte| b"nrtbf".contains(byte));
    escape || before(1).is_none_or(|byte| !byte.is_ascii_alphanumeric() && *byte != b'_')
}

/// Whether it only shows what a key looks like.
fn is_example(key: &[u8]) -> bool {
    let distinct = key.iter().collect::<std::collections::BTreeSet<_>>().len();
    let has = |word: &[u8]| key.windows(word.len()).any(|part| part.eq_ignore_ascii_case(word));
    has(b"EXAMPLE") || has(b"xxxx") || has(b"....") || distinct < 4 || key == b"password" || has(b"secret")
}

/// Whether a value is a key by its form.
pub(super) fn is_key(value: &str) -> bool {
    let whole = KEYS.as_ref().and_then(|form| form.find(value.trim().as_bytes()));
    whole.is_some_and(|found| found.len() == value.trim().len())
        || BLOCK.as_ref().is_some_and(|form| form.is_match(value.as_bytes()))
}

/// The passwords in addresses.
pub(super) fn passwords(value: &str) -> Vec<&str> {
    let Some(form) = PASSWORD.as_ref() else { return Vec::new() };
    let parts = form.captures_iter(value.as_bytes()).filter_map(|found| found.get(1));
    parts.filter_map(|part| value.get(part.range())).collect()
}

/// From where on a text that goes on may be a key.
pub(super) fn open_end(text: &str) -> usize {
    let from = text.floor_char_boundary(text.len().saturating_sub(HELD));
    let near = text.get(from..).unwrap_or_default();
    let word = near
        .rfind(|letter: char| letter.is_whitespace() || "\"'`,;:()[]{}<>=/".contains(letter))
        .map_or(0, |at| at + 1);
    let word = near.get(word..).unwrap_or_default();
    let begun = ISSUED.iter().any(|(begins, _)| !word.is_empty() && begins.starts_with(word) || word.contains(begins));
    if begun { text.len() - word.len() } else { text.len() }
}

/// The text without the asterisks that only keep its length.
pub(super) fn without_padding(text: &str) -> String {
    PADDED.as_ref().map_or_else(|| text.to_owned(), |form| form.replace_all(text, "$1").into_owned())
}
