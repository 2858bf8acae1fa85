//! Masks what stands beside a name such as `password`, and many more forms of keys than are looked for in what agents print: for
//! reports of failures and the memory of them, in which a word too many that is masked does no harm.
//!
//! Must not know where the text goes. What looks random but stands by no name of a secret (hashes, ids, paths) stays,
//! since logs are useless without it.

use std::borrow::Cow;
use std::sync::LazyLock;

use regex::{Captures, Regex};

use super::shapes;

/// What stands where a secret stood; it tells nothing of the secret, not even its length.
pub const PLACEHOLDER: &str = "[secret]";
/// What each placeholder begins with, also one with a name.
const MASKED: &str = "[secret";

/// Rounds to a fixed point: what one mask uncovers, the next takes; the bound keeps it linear.
const ROUNDS: usize = 4;

/// The text without its secrets: each is replaced by `[secret]`. Linear in the length of the text; applying it twice
/// changes nothing more. A text without secrets is lent, not copied.
///
/// Taken as secrets are: keys and tokens with their issuers' prefixes (Anthropic, OpenAI, AWS, GitHub, GitLab, Slack, npm,
/// PyPI, Google, Stripe and others), JSON web tokens, private key blocks (cut off ones too), `Authorization` and cookie
/// headers, credentials in URLs, and the values of names such as `password`, `API_KEY` or `client_secret`.
///
/// A secret that goes on over several lines goes as a whole: key blocks whatever stands before their lines, values below
/// their names, values that a terminal or an encoder has broken. So does one in a text of two-byte characters.
pub fn redact(text: &str) -> Cow<'_, str> {
    if text.contains('\0') {
        // Two-byte characters read as single ones: nothing is recognised between them.
        let narrow = text.replace('\0', "");
        let masked = redact(&narrow);
        return if *masked == narrow { Cow::Borrowed(text) } else { Cow::Owned(masked.into_owned()) };
    }
    let mut current = match key_blocks(text) {
        Some(masked) => Cow::Owned(masked),
        None => Cow::Borrowed(text),
    };
    for _ in 0..ROUNDS {
        if current.contains(MASKED) {
            current = Cow::Owned(shapes::without_padding(&current));
        }
        match once(&current) {
            Some(masked) if masked != *current => current = Cow::Owned(masked),
            Some(_) | None => break,
        }
    }
    current
}

/// Bytes that a private key has at most, with all that a log writes before its lines.
const KEY_BLOCK: usize = 16 * 1024;

/// Private keys from their first line to their last one, whatever stands before the lines between; nothing if none is there.
fn key_blocks(text: &str) -> Option<String> {
    let mut masked = String::new();
    let mut rest = text;
    while let Some(begin) = KEY_BEGIN.as_ref().and_then(|form| form.find(rest)) {
        let inside = rest.get(begin.end()..).unwrap_or_default();
        let near = inside.get(..inside.floor_char_boundary(KEY_BLOCK)).unwrap_or(inside);
        let end = KEY_END.as_ref().and_then(|form| form.find(near));
        let another = KEY_BEGIN.as_ref().and_then(|form| form.find(near));
        let keep = match end.filter(|end| another.is_none_or(|another| end.start() < another.start())) {
            Some(end) => {
                masked.push_str(rest.get(..begin.start()).unwrap_or_default());
                masked.push_str(PLACEHOLDER);
                begin.end() + end.end()
            }
            None => {
                masked.push_str(rest.get(..begin.end()).unwrap_or_default());
                begin.end()
            }
        };
        rest = rest.get(keep..).unwrap_or_default();
    }
    (rest.len() < text.len()).then(|| masked + rest)
}

static KEY_BEGIN: LazyLock<Option<Regex>> =
    LazyLock::new(|| Regex::new(r"-----BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----").ok());
static KEY_END: LazyLock<Option<Regex>> =
    LazyLock::new(|| Regex::new(r"-----END [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----").ok());

/// One round; nothing if no form matches anywhere.
fn once(text: &str) -> Option<String> {
    let mut current: Option<String> = None;
    for (form, replace) in MASKS.iter() {
        let seen = current.as_deref().unwrap_or(text);
        if !form.is_match(seen) {
            continue;
        }
        let masked = form.replace_all(seen, replace).into_owned();
        current = Some(masked);
    }
    current
}

/// What stands for a match.
type Replace = fn(&Captures<'_>) -> String;

/// Patterns with what replaces them. Names come before prefixes, so that the whole value goes.
const FORMS: &[(&str, Replace)] = &[
    // A private key with its beginning: to its end, or as far as it goes.
    (
        r"-----BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----(?:(?:\\[nr]|\s)*(?:[A-Za-z-]{2,20}: [^\r\n\\]{1,120}|[A-Za-z0-9+/=]{16,}))*(?:(?:\\[nr]|\s)*[A-Za-z0-9+/=]{0,80}(?:\\[nr]|\s)*-----END [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----)?",
        whole,
    ),
    // One whose beginning is cut off.
    (
        r"(?:[A-Za-z0-9+/=]{16,}(?:\\[nr]|\s)+)*[A-Za-z0-9+/=]{1,80}(?:\\[nr]|\s)*-----END [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----",
        whole,
    ),
    // Authorization headers, in requests and in recorded objects.
    (
        r#"(?i)\b((?:proxy-)?authorization\\?["']?\s{0,3}[:=]\s{0,12}(?:\[\s{0,12})?\\?["']?(?:(?:bearer|basic|token|digest|negotiate|apikey|ntlm)\s{1,12})?)([^\s"'\\,;<>]{6,})"#,
        after_name,
    ),
    (r"(?i)\b((?:set-)?cookie: ?)([\w.-]+=[^\r\n]+)", after_name),
    (r#"(?i)\b((?:bearer|basic) +)([A-Za-z0-9._~+/=-]{12,})"#, if_random),
    // Credentials in URLs.
    (r#"(\b[A-Za-z][A-Za-z0-9+.-]{1,20}://[^\s/:@?#"'<>]*:)([^\s/?#"'<>]+)@"#, before_at),
    (r#"(\bhttps?://)([A-Za-z0-9_~.-]{16,})@"#, token_before_at),
    (
        r"(https://(?:hooks\.slack\.com/services|(?:canary\.|ptb\.)?discord(?:app)?\.com/api/webhooks)/)([\w/-]{8,})",
        after_name,
    ),
    (
        r#"(?i)([?&](?:sig|signature|x-amz-signature|x-amz-security-token|x-amz-credential|x-goog-signature|code|auth|key)=)([^&\s"'<>]{12,})"#,
        if_random,
    ),
    // Names of secrets with values: passwords are taken in any form, tokens if the value looks like one.
    (
        r#"(?i)((?:passw(?:or)?d|passphrase|passwort|kennwort|mot[_ ]de[_ ]passe|密码|pwd)\\?["'`]?\s{0,2}(?:=>|:=|[:=])[ \t]{0,3})(\\?"[^"\r\n]{1,400}"|\\?'[^'\r\n]{1,400}'|[^\s"',;&|<>)}\]]+)"#,
        password,
    ),
    (
        r#"(?i)((?:secret|token|(?:api|access|secret|private|auth|signing|encryption|account|service|master|shared)[ _-]?key(?:[ _-]?id)?|apikey|credentials?|_auth|csrf)\\?["'`]?\s{0,2}(?:=>|:=|[:=])[ \t]{0,3})(\\?"[^"\r\n]{1,1000}"|\\?'[^'\r\n]{1,1000}'|[^\s"',;&|<>)}\]]+)"#,
        token,
    ),
    (
        r"(?i)(--[a-z-]{0,40}(?:password|passwd|token|secret|api-?key|access-?key|passphrase) +)([^\s-]\S{3,})",
        if_random,
    ),
    (r"(?i)(\blogin\s+\S+\s+password\s+)(\S+)", after_name),
    (r"(?im)^([ \t]*(?:password|passwd)[ \t]+)(\S+)[ \t]*$", password),
    (
        r#"(?im)((?:passw(?:or)?d|passphrase|passwort|kennwort|pwd)\\?["'`]?[ \t]{0,2}(?:=>|:=|[:=])[ \t]{0,3}\r?\n[ \t]{0,40})([^\s,;]+)[ \t]*$"#,
        password,
    ),
    (r#"("auth"\s{0,3}:\s{0,12}")([A-Za-z0-9+/=]{8,})"#, after_name),
    // A value below its name, plain or as a block of YAML: only if it looks like one.
    (
        r#"(?i)((?:passw(?:or)?d|passphrase|secret|token|api[ _-]?key|apikey|(?:access|private|signing|encryption)[ _-]?key|credentials?)\\?["'`]?[ \t]{0,3}(?:=>|:=|[:=])[ \t]{0,3}(?:[>|][+-]?)?[ \t]*\r?\n[ \t]{0,40}["'`]?)([^\s"',;&|<>)}\]]{8,})"#,
        if_random,
    ),
    (r"((?:^|\s)(?:-u|--user)[ =]['\x22]?[\w.@-]+:)([^\s'\x22]*[A-Za-z][^\s'\x22]*)", after_name),
    // Issuers' prefixes.
    (
        concat!(
            r"\b(?:sk-(?:ant|proj|svcacct|admin|or|lf)-[A-Za-z0-9_-]{8,}|sk-[A-Za-z0-9]{20,}|gh[pousr]_[A-Za-z0-9]{20,}|github_pat_[A-Za-z0-9_]{20,}|",
            r"gl(?:pat|dt|rt|ptt|cbt|oas|soat|ft|imt|agent)-[A-Za-z0-9_-]{16,}|xox[abeoprs]-[A-Za-z0-9-]{8,}|xapp-[A-Za-z0-9-]{8,}|(?:AKIA|ASIA|ABIA|ACCA)[A-Z0-9]{16}\b|",
            r"AIza[0-9A-Za-z_-]{30,}|ya29\.[0-9A-Za-z_-]{20,}|GOCSPX-[0-9A-Za-z_-]{20,}|npm_[A-Za-z0-9]{30,}|pypi-Ag[A-Za-z0-9_-]{16,}|",
            r"(?:sk|rk|pk)_(?:live|test)_[A-Za-z0-9]{10,}|whsec_[A-Za-z0-9+/=]{16,}|hf_[A-Za-z0-9]{30,}|r8_[A-Za-z0-9]{30,}|gsk_[A-Za-z0-9]{30,}|xai-[A-Za-z0-9]{40,}|",
            r"do[opr]_v1_[a-f0-9]{40,}|SG\.[A-Za-z0-9_-]{16,}\.[A-Za-z0-9_-]{16,}|hv[sbr]\.[A-Za-z0-9_-]{20,}|shp(?:at|ca|pa|ss)_[a-fA-F0-9]{32}|dckr_(?:pat|oat)_[A-Za-z0-9_-]{20,}|",
            r"lin_api_[A-Za-z0-9]{30,}|dp\.(?:pt|st|ct|sa)\.[A-Za-z0-9.]{30,}|dapi[0-9a-f]{32}|[A-Za-z0-9]{14}\.atlasv1\.[A-Za-z0-9_-]{40,}|cio[A-Za-z0-9]{32}\b|rubygems_[a-f0-9]{40,}|",
            r"AGE-SECRET-KEY-1[A-Z0-9]{40,}|oy2[a-z0-9]{43}\b|ATATT3[A-Za-z0-9_=-]{20,}|figd_[A-Za-z0-9_-]{30,}|PMAK-[A-Za-z0-9-]{30,}|sntry[su]_[A-Za-z0-9_=+/]{30,}|NRAK-[A-Z0-9]{27}|",
            r"sbp_[a-f0-9]{40}|tskey-[a-z]+-[A-Za-z0-9-]{16,}|ops_eyJ[A-Za-z0-9_-]{20,}|\d{8,10}:AA[A-Za-z0-9_-]{32,}|eyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}(?:\.[A-Za-z0-9_-]*)?)",
        ),
        whole,
    ),
    // What a terminal or an encoder has broken goes on in lines of nothing else.
    (
        r#"(\[secret(?: [A-Za-z0-9_.-]+)?\])((?:\\?\r?\n[ \t]{0,40}[A-Za-z0-9_+/=.-]{12,})+(?:\r?\n[ \t]{0,40}[A-Za-z0-9_+/-]{1,11}={1,2})?)(["',;]|\s|$)"#,
        continued,
    ),
];

static MASKS: LazyLock<Vec<(Regex, Replace)>> =
    LazyLock::new(|| FORMS.iter().filter_map(|(form, replace)| Some((Regex::new(form).ok()?, *replace))).collect());

fn group<'text>(found: &Captures<'text>, at: usize) -> &'text str {
    found.get(at).map_or("", |group| group.as_str())
}

fn whole(_: &Captures<'_>) -> String {
    PLACEHOLDER.to_owned()
}

fn after_name(found: &Captures<'_>) -> String {
    format!("{}{PLACEHOLDER}", group(found, 1))
}

fn if_random(found: &Captures<'_>) -> String {
    if looks_random(group(found, 2)) { after_name(found) } else { group(found, 0).to_owned() }
}

/// Lines that go on with a secret; a digest or a word on a line of its own is none of it.
fn continued(found: &Captures<'_>) -> String {
    let lines = group(found, 2).lines().map(str::trim).filter(|line| line.len() > 1);
    let digest = |line: &str| matches!(line.len(), 32 | 40 | 64) && line.bytes().all(|byte| byte.is_ascii_hexdigit());
    if lines.into_iter().all(|line| !digest(line) && (looks_random(line) || line.len() >= 60 || line.ends_with('='))) {
        format!("{}{}", group(found, 1), group(found, 3))
    } else {
        group(found, 0).to_owned()
    }
}

fn before_at(found: &Captures<'_>) -> String {
    // A variable that the shell or a template fills in is not a secret.
    if is_code(group(found, 2)) && !group(found, 2).contains(MASKED) {
        return group(found, 0).to_owned();
    }
    format!("{}{PLACEHOLDER}@", group(found, 1))
}

fn token_before_at(found: &Captures<'_>) -> String {
    if looks_random(group(found, 2)) { format!("{}@", after_name(found)) } else { group(found, 0).to_owned() }
}

/// The value of a password: anything but code, variables and words that tell of a password's state.
fn password(found: &Captures<'_>) -> String {
    valued(found, |value, _| value.chars().count() >= 3)
}

/// The value of a token or key: something random, or whatever stands in an environment's assignment.
fn token(found: &Captures<'_>) -> String {
    valued(found, |value, name| {
        // `API_TOKEN=value` in an environment or a file of one; `token: value` in prose is about grammar.
        let assigned = name.ends_with('=') && !name.chars().any(|letter| letter.is_ascii_lowercase());
        looks_random(value) || (assigned && value.chars().count() >= 6)
    })
}

fn valued(found: &Captures<'_>, secret: fn(&str, &str) -> bool) -> String {
    let (name, shown) = (group(found, 1), group(found, 2));
    let opening: usize =
        shown.chars().take_while(|letter| matches!(letter, '\\' | '"' | '\'')).map(char::len_utf8).sum();
    let closed = shown.trim_end_matches(['"', '\'', '\\']);
    let value = closed.get(opening..).unwrap_or_default();
    if value.is_empty() || is_code(value) || is_state(value) || !secret(value, name) {
        return group(found, 0).to_owned();
    }
    let closing = shown.get(closed.len()..).unwrap_or_default();
    format!("{name}{}{PLACEHOLDER}{closing}", shown.get(..opening).unwrap_or_default())
}

/// Letters and digits together, or letters of both cases and long: words and numbers are neither.
fn looks_random(value: &str) -> bool {
    let value = value.trim_matches(['"', '\'']);
    let count = value.chars().count();
    let has = |test: fn(&char) -> bool| value.chars().any(|letter| test(&letter));
    let (digits, letters) = (has(char::is_ascii_digit), has(char::is_ascii_alphabetic));
    let both_cases = has(char::is_ascii_lowercase) && has(char::is_ascii_uppercase);
    let wordy = value.contains(['/', '\\', '(', '{', ' ', '$']) && !value.ends_with('=');
    if value.contains(MASKED) || is_code(value) || count < 8 {
        return false;
    }
    (digits && letters && !wordy) || (both_cases && count >= 20 && !value.contains(['.', ' ', '(', ':']))
}

/// Whether the value is an expression, a type, a variable or a mask rather than a value.
fn is_code(value: &str) -> bool {
    value.contains(MASKED)
        || value.starts_with(['$', '<', '{', '[', '*', '&', '(', '%', '@', '`', '…', '#', '|', '='])
        || value.contains(['(', '{'])
        || value.contains("::")
        || ["os.environ", "process.env", "env.", "self.", "this.", "secrets.", "config.", "Option<", "String"]
            .iter()
            .any(|start| value.starts_with(start))
        || value.chars().all(|letter| matches!(letter, '*' | 'x' | 'X' | '.' | '•' | '-' | '?'))
}

/// Words that tell of a secret's state or type.
fn is_state(value: &str) -> bool {
    const STATES: &str = "none null nil true false undefined str string int bool bytes text any required missing invalid \
        incorrect wrong empty expired unset set not no yes optional failed failure error denied unknown hidden masked \
        prompt is must the a an too does cannot expected unexpected authentication falsch ungültig char varchar self \
        value default ok mismatch redacted file stdin env";
    let word = value.trim_end_matches(['.', ',', ';', ':', '!', '?']).to_lowercase();
    STATES.split(' ').any(|state| state == word)
}

#[cfg(test)]
#[path = "redact_test.rs"]
mod tests;
