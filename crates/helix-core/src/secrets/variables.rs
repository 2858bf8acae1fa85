//! Which variables hold what nobody may read: those whose name says so, and those whose value has a key's form.
//!
//! Must not know whose variables they are.

use super::{SHORTEST, Secret, shapes};

/// Words in the names of variables that hold secrets.
const NAMES: &[&str] = &[
    "TOKEN",
    "SECRET",
    "SECRETS",
    "PASSWORD",
    "PASSWD",
    "PASSPHRASE",
    "PASS",
    "PWD",
    "KEY",
    "APIKEY",
    "CREDENTIAL",
    "CREDENTIALS",
    "AUTH",
    "AUTHORIZATION",
    "COOKIE",
    "COOKIES",
    "PAT",
    "JWT",
    "BEARER",
    "DSN",
    "SIGNATURE",
    "SAS",
];
/// Shortest value of letters alone, or of digits alone, that is unlikely to be an everyday word or number.
const WORDLIKE: usize = 16;
/// Shortest value that is taken for random.
const RANDOM: usize = 20;

/// The secrets among variables: values by their names, values with a key's form, passwords in URLs.
pub fn of_variables<'v>(variables: impl IntoIterator<Item = (&'v str, &'v str)>) -> Vec<Secret> {
    let mut secrets = Vec::new();
    for (name, value) in variables {
        let mut add = |value: &str| {
            if !is_trivial(value) {
                secrets.push(Secret { name: name.to_owned(), value: value.to_owned() });
            }
        };
        shapes::passwords(value).into_iter().for_each(&mut add);
        if is_secret_name(name) || shapes::is_key(value) {
            add(value);
        }
        // Headers, each on a line of its own: the value is what others print.
        if is_secret_name(name) || name.to_ascii_uppercase().contains("HEADER") {
            let header = |line: &str| Some(line.split_once(':')?.1.trim().trim_start_matches("Bearer ").to_owned());
            let lines = value.lines().filter(|line| is_secret_name(line.split(':').next().unwrap_or_default()));
            lines.filter_map(header).for_each(|value| add(&value));
        }
    }
    secrets
}

fn is_word(word: &str) -> bool {
    word.bytes().all(|byte| byte.is_ascii_lowercase()) || word.bytes().all(|byte| byte.is_ascii_digit())
}

fn is_secret_name(name: &str) -> bool {
    let name = name.to_ascii_uppercase();
    let mut parts = name.split(|letter: char| !letter.is_ascii_alphanumeric());
    name != "PWD"
        && name != "OLDPWD"
        && parts.any(|part| {
            NAMES.contains(&part) || ["TOKEN", "SECRET", "PASSWORD", "APIKEY"].iter().any(|end| part.ends_with(end))
        })
}

/// Whether a value is none that could be told from everyday text: too short, a word, a number, a path, an address without a
/// password, a variable that somebody else fills in.
pub fn is_trivial(value: &str) -> bool {
    let value = value.trim();
    let plain = value.bytes().all(|byte| byte.is_ascii_lowercase())
        || value.bytes().all(|byte| byte.is_ascii_uppercase())
        || value.bytes().all(|byte| byte.is_ascii_digit() || b".:-+_ ".contains(&byte))
        || value.get(1..).is_some_and(|rest| rest.bytes().all(|byte| byte.is_ascii_lowercase()));
    let words = value.split(['-', '_', ' ', '.', ',', '/', '@', ':', '=']);
    let wordy = words.clone().count() > 1 && words.clone().all(is_word);
    let is_path = value.starts_with('/') || value.starts_with("~/") || value.starts_with("./");
    let is_path = is_path && !value.contains(char::is_whitespace) && !value.ends_with('=');
    let distinct = value.bytes().collect::<std::collections::BTreeSet<_>>().len();
    value.len() < SHORTEST
        || (value.len() < WORDLIKE && (plain || wordy))
        || is_path
        || distinct < 5
        || value.starts_with(['$', '{', '<'])
        || value.starts_with("[secret")
        || (value.contains("://") && shapes::passwords(value).is_empty() && !shapes::is_key(value))
}

/// Whether each part of a value tells of it: long, of letters and digits, and no words with marks between them.
pub(super) fn is_random(value: &[u8]) -> bool {
    let has = |test: fn(&u8) -> bool| value.iter().any(test);
    let marks = value.iter().filter(|byte| !byte.is_ascii_alphanumeric() && !b"-_+/=.".contains(byte)).count();
    value.len() >= RANDOM
        && has(u8::is_ascii_digit)
        && has(u8::is_ascii_alphabetic)
        && marks * 8 <= value.len()
        && !value.contains(&b' ')
        && !value.windows(3).any(|three| three == b"://")
}
