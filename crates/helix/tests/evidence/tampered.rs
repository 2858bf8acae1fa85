//! Bundles that something has changed: each is refused, with a reason.

use std::path::Path;

use base64::Engine as _;
use base64::engine::general_purpose::{STANDARD, STANDARD_NO_PAD, URL_SAFE};
use ed25519_dalek::SigningKey;
use serde_json::{Value, json};

use super::{bundled, envelope, open_ssh, own_key, payload, refused, run, signature, signed};
use crate::stage::Stage;

const KIND: &str = "application/vnd.in-toto+json";

/// Not a bundle; not signed so; by an unknown key; not following from its events.
const REASONS: [&str; 4] = ["HX0830", "HX0831", "HX0832", "HX0833"];

/// What was changed, the text, and the code that it has to be refused with; any of them where it does not matter which.
struct Tampered(String, Vec<u8>, Option<&'static str>);

fn as_text(what: impl Into<String>, text: impl Into<String>, code: impl Into<Option<&'static str>>) -> Tampered {
    Tampered(what.into(), text.into().into_bytes(), code.into())
}

/// Pointers to all that is in a value.
fn places(value: &Value, at: &str, all: &mut Vec<String>) {
    let mut below = |key: String, value: &Value| {
        let place = format!("{at}/{}", key.replace('~', "~0").replace('/', "~1"));
        all.push(place.clone());
        places(value, &place, all);
    };
    match value {
        Value::Object(fields) => fields.iter().for_each(|(key, value)| below(key.clone(), value)),
        Value::Array(items) => items.iter().enumerate().for_each(|(key, value)| below(key.to_string(), value)),
        _ => {}
    }
}

/// The statement with one value changed to another of its kind.
fn changed(statement: &Value, place: &str) -> Value {
    let mut other = statement.clone();
    let value = other.pointer_mut(place).unwrap();
    *value = match &*value {
        Value::Null => json!("something"),
        Value::Bool(value) => json!(!value),
        Value::Number(number) => number.as_u64().map_or(json!(0.25), |number| json!(number + 1)),
        Value::String(text) => json!(flipped(text)),
        Value::Array(items) => json!(items.iter().skip(1).chain([&json!("more")]).collect::<Vec<_>>()),
        Value::Object(fields) if fields.is_empty() => json!({ "more": 1 }),
        Value::Object(_) => json!({}),
    };
    other
}

/// A text of the same form, where that can be: the last digit is another one.
fn flipped(text: &str) -> String {
    match text.rfind(|c: char| c.is_ascii_digit()) {
        Some(at) => {
            let digit = if &text[at..=at] == "1" { "2" } else { "1" };
            format!("{}{digit}{}", &text[..at], &text[at + 1..])
        }
        None => format!("{text}x"),
    }
}

/// The statement without one field or item.
fn without(statement: &Value, place: &str) -> Value {
    let mut other = statement.clone();
    let (parent, key) = place.rsplit_once('/').unwrap();
    match other.pointer_mut(parent).unwrap() {
        Value::Object(fields) => drop(fields.shift_remove(&key.replace("~1", "/").replace("~0", "~"))),
        Value::Array(items) => drop(items.remove(key.parse().unwrap())),
        _ => unreachable!("only these have places below"),
    }
    other
}

/// So many of them, from the first to the last.
fn some<T>(all: &[T], wanted: usize) -> impl Iterator<Item = &T> {
    all.iter().step_by((all.len() / wanted).max(1))
}

/// Whether a place is what all else follows from: another text there is another story, and not a contradiction.
fn is_source(place: &str) -> bool {
    // Of a run's output, nothing else in a bundle tells the digest; of a gate's, not the length.
    let in_record = place.starts_with("/predicate/seen/runs/") && place.contains("/content/");
    ["/predicate/helix", "/predicate/made_at"].contains(&place) || in_record || place.ends_with("/content/bytes")
}

/// What a thief of the file can do, who has no key: the signature is the old one, or none.
fn without_a_key(text: &str, statement: &Value, sig: &(String, String), all: &mut Vec<Tampered>) {
    let mut everywhere = Vec::new();
    places(statement, "", &mut everywhere);
    for place in some(&everywhere, 60) {
        let other = changed(statement, place).to_string();
        all.push(as_text(format!("changed: {place}"), envelope(other.as_bytes(), std::slice::from_ref(sig)), "HX0831"));
    }
    for at in (0..text.len()).step_by(text.len() / 40) {
        let mut bytes = text.as_bytes().to_vec();
        bytes[at] ^= 1;
        all.push(Tampered(format!("flipped: byte {at}"), bytes, None));
        all.push(Tampered(format!("cut: at byte {at}"), text.as_bytes()[..at].to_vec(), "HX0830".into()));
    }
    let own = payload_of(text);
    let encoded = STANDARD.encode(&own);
    let spellings = [
        ("base 64 for URLs", URL_SAFE.encode([own.clone(), vec![0xff; 3]].concat())),
        ("base 64 without padding", STANDARD_NO_PAD.encode([own.clone(), b" ".to_vec()].concat())),
        ("base 64 in lines", encoded.as_bytes().chunks(76).map(|line| String::from_utf8_lossy(line) + "\\n").collect()),
        ("base 64 with a space", format!(" {encoded}")),
        ("base 64 that ends twice", format!("{encoded}====")),
        ("no base 64", text_of(&own).replace('"', "'")),
        ("no payload", String::new()),
    ];
    all.extend(spellings.map(|(what, other)| as_text(what, text.replace(&encoded, &other), None)));
    let value: Value = serde_json::from_str(text).unwrap();
    let forms = [
        ("spaces", serde_json::to_string_pretty(&value).unwrap() + "\n"),
        ("no line end", text.trim_end().to_owned()),
        ("two line ends", format!("{text}\n")),
        ("bytes after the end", format!("{text}{{}}")),
        ("twice", format!("{text}{text}")),
        ("a mark before the beginning", format!("\u{feff}{text}")),
        ("a space before the beginning", format!(" {text}")),
        ("a field more", text.replacen('{', "{\"more\":1,", 1)),
        ("payload twice", text.replacen('{', "{\"payload\":\"e30=\",", 1)),
        ("type twice", text.replace("\"payloadType\"", &format!("\"payloadType\":\"{KIND}\",\"payloadType\""))),
        ("an escaped letter", text.replacen("payload", "p\\u0061yload", 1)),
        ("in a list", format!("[{}]\n", text.trim_end())),
        ("nothing", String::new()),
        ("an empty object", "{}\n".to_owned()),
        ("a number", "1\n".to_owned()),
        ("null", "null\n".to_owned()),
        ("the statement alone", text_of(&own)),
    ];
    all.extend(forms.map(|(what, other)| as_text(what, other, "HX0830")));
    for field in ["payload", "payloadType", "signatures"] {
        let mut other = value.clone();
        other.as_object_mut().unwrap().shift_remove(field);
        all.push(as_text(format!("without {field}"), other.to_string() + "\n", "HX0830"));
        let mut other = value.clone();
        let first = other.as_object_mut().unwrap().shift_remove(field).unwrap();
        other.as_object_mut().unwrap().insert(field.to_owned(), first);
        let moved = other.to_string() + "\n";
        if moved != text {
            all.push(as_text(format!("{field} at the end"), moved, "HX0830"));
        }
    }
    for other in ["application/json", "application/vnd.in-toto+json ", "APPLICATION/VND.IN-TOTO+JSON", ""] {
        all.push(as_text(format!("type {other:?}"), text.replace(KIND, other), "HX0830"));
    }
    let (key, sig) = sig.clone();
    let raw = STANDARD.decode(&sig).unwrap();
    let again = |signatures: &[(&str, &str)]| {
        let all: Vec<(String, String)> =
            signatures.iter().map(|(key, sig)| (key.to_string(), sig.to_string())).collect();
        envelope(&own, &all)
    };
    let high = [&raw[..63], &[raw[63] | 0x80]].concat();
    let many: Vec<(&str, &str)> = vec![(&key, &sig); 17];
    let shorter = STANDARD.encode(&raw[..63]);
    let longer = STANDARD.encode([&raw[..], &[0]].concat());
    let signatures = [
        ("no signature", again(&[])),
        ("an empty signature", again(&[(&key, "")])),
        ("a signature of zeros", again(&[(&key, &STANDARD.encode([0; 64]))])),
        ("a short signature", again(&[(&key, &shorter)])),
        ("a long signature", again(&[(&key, &longer)])),
        ("a signature beyond its range", again(&[(&key, &STANDARD.encode(high))])),
        ("a signature for URLs", again(&[(&key, &(URL_SAFE.encode(&raw) + "-_"))])),
        ("the same signature twice", again(&[(&key, &sig), (&key, &sig)])),
        ("too many signatures", again(&many)),
        ("no key", again(&[("", &sig)])),
        ("a key of another kind", again(&[(&key.replace("ed25519", "rsa"), &sig)])),
        ("a key with a comment", again(&[(&format!("{key} ana"), &sig)])),
        ("a key of zeros", again(&[(&zero_key(), &STANDARD.encode([0; 64]))])),
    ];
    all.extend(signatures.map(|(what, other)| as_text(what, other, "HX0831")));
}

/// The key of which everything is a signature where that is not looked at.
fn zero_key() -> String {
    let wire = [b"\0\0\0\x0bssh-ed25519\0\0\0\x20".as_slice(), &[1], &[0; 31]].concat();
    format!("ssh-ed25519 {}", STANDARD.encode(wire))
}

/// What someone with a key of their own can do.
fn with_another_key(text: &str, statement: &Value, sig: &(String, String), all: &mut Vec<Tampered>) {
    let (other, third) = (SigningKey::from_bytes(&[7; 32]), SigningKey::from_bytes(&[8; 32]));
    let own = payload_of(text);
    all.push(as_text("signed by another key", signed(&other, &own), "HX0832"));
    let by = |key: &SigningKey| (open_ssh(key), signature(key, KIND, &own));
    all.push(as_text("signed by two other keys", envelope(&own, &[by(&other), by(&third)]), "HX0832"));
    all.push(as_text("in the name of the known key", envelope(&own, &[(sig.0.clone(), by(&other).1)]), "HX0831"));
    let beside = envelope(&own, &[sig.clone(), (open_ssh(&other), sig.1.clone())]);
    all.push(as_text("beside the right signature a wrong one", beside, "HX0831"));
    let mut everywhere = Vec::new();
    places(statement, "", &mut everywhere);
    for place in some(&everywhere, 20) {
        let text = signed(&other, changed(statement, place).to_string().as_bytes());
        all.push(as_text(format!("changed and signed by another key: {place}"), text, "HX0832"));
    }
}

/// What does not follow, even where the known key has signed it.
fn with_the_key(key: &SigningKey, own: &[u8], statement: &Value, all: &mut Vec<Tampered>) {
    let mut everywhere = Vec::new();
    places(statement, "", &mut everywhere);
    everywhere.retain(|place| !is_source(place));
    for place in some(&everywhere, 120) {
        let other = changed(statement, place).to_string();
        all.push(as_text(format!("changed by the signer: {place}"), signed(key, other.as_bytes()), None));
    }
    for place in some(&everywhere, 60) {
        let other = without(statement, place).to_string();
        all.push(as_text(format!("left out by the signer: {place}"), signed(key, other.as_bytes()), None));
    }
    let own = text_of(own);
    let mut turned = statement.clone();
    turned["predicate"]["events"].as_array_mut().unwrap().swap(1, 2);
    let mut more = statement.clone();
    let last = more["predicate"]["events"].as_array().unwrap().last().unwrap().clone();
    more["predicate"]["events"].as_array_mut().unwrap().push(last);
    let mut reversed = serde_json::Map::new();
    for (field, value) in statement.as_object().unwrap().iter().rev() {
        reversed.insert(field.clone(), value.clone());
    }
    let forms = [
        ("events in another order", turned.to_string()),
        ("an event twice", more.to_string()),
        ("fields in another order", Value::Object(reversed).to_string()),
        ("spaces", serde_json::to_string_pretty(statement).unwrap()),
        ("a line end", format!("{own}\n")),
        ("bytes after the end", format!("{own}{{}}")),
        ("proved twice", own.replacen("\"proved\":true", "\"proved\":true,\"proved\":true", 1)),
        ("job twice", own.replacen("\"job\":", "\"job\":\"j1\",\"job\":", 1)),
        ("a field more", own.replacen('{', "{\"more\":1,", 1)),
        ("another statement type", own.replacen("Statement/v1", "Statement/v0.1", 1)),
        ("another predicate type", own.replacen("urn:helix:evidence:1", "https://slsa.dev/provenance/v1", 1)),
        ("a later form", own.replacen("urn:helix:evidence:1", "urn:helix:evidence:2", 1)),
        ("an escaped letter", own.replacen("\"proved\"", "\"pr\\u006fved\"", 1)),
        ("no JSON", "proved".to_owned()),
        ("nothing", String::new()),
    ];
    all.extend(
        forms.map(|(what, other)| as_text(format!("by the signer: {what}"), signed(key, other.as_bytes()), None)),
    );
}

fn payload_of(text: &str) -> Vec<u8> {
    let envelope: Value = serde_json::from_str(text).unwrap();
    STANDARD.decode(envelope["payload"].as_str().unwrap()).unwrap()
}

fn text_of(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

fn refuses(stage: &Stage, file: &Path, Tampered(what, text, wanted): &Tampered) {
    std::fs::write(file, text).unwrap();
    let (code, message) = refused(stage, &["verify", file.to_str().unwrap()], 7);
    assert!(REASONS.contains(&code.as_str()), "{what}: {code} {message}");
    assert!(wanted.is_none_or(|wanted| wanted == code), "{what}: {code} {message}, not {wanted:?}");
    assert!(message.len() > 20, "{what}: {message}");
}

#[test]
fn every_changed_bundle_is_refused_with_a_reason() {
    let (stage, _, file) = bundled();
    let text = std::fs::read_to_string(&file).unwrap();
    let (own, key) = (payload(&file), own_key(&stage));
    assert_eq!(signed(&key, &own), text, "the test writes bundles as Helix does");
    let statement: Value = serde_json::from_slice(&own).unwrap();
    assert_eq!(statement.to_string().as_bytes(), own, "the test writes statements as Helix does");
    let sig = (open_ssh(&key), signature(&key, KIND, &own));

    let mut all = Vec::new();
    without_a_key(&text, &statement, &sig, &mut all);
    with_another_key(&text, &statement, &sig, &mut all);
    with_the_key(&key, &own, &statement, &mut all);
    // The signature of another job's bundle by the same key, and that one's statement under this signature.
    let second = super::job(&stage, "nothing", super::FAILS, 1);
    let other = stage.sandbox.path().join("other.json");
    let made = run(&stage, &["jobs", "evidence", &second, "--bundle", other.to_str().unwrap()]);
    assert_eq!(made.status.code(), Some(6), "{}", text_of(&made.stderr));
    let others = payload(&other);
    let other_sig = (sig.0.clone(), signature(&key, KIND, &others));
    all.push(as_text("the signature of another job", envelope(&own, &[other_sig]), "HX0831"));
    all.push(as_text("the statement of another job", envelope(&others, std::slice::from_ref(&sig)), "HX0831"));
    let untyped = envelope(&own, &[(sig.0.clone(), signature(&key, "application/json", &own))]);
    all.push(as_text("signed as another type", untyped.clone(), "HX0831"));
    all.push(as_text("signed and declared as another type", untyped.replace(KIND, "application/json"), "HX0830"));
    all.push(Tampered("larger than a bundle may be".into(), vec![b' '; (64 << 20) + 1], "HX0830".into()));
    let mut mixed: Value = serde_json::from_slice(&others).unwrap();
    mixed["predicate"]["events"] = statement["predicate"]["events"].clone();
    all.push(as_text("the events of another job", signed(&key, mixed.to_string().as_bytes()), "HX0833"));

    assert!(all.len() >= 200, "only {} changes", all.len());
    let changed = stage.sandbox.path().join("changed.json");
    for tampered in &all {
        assert_ne!(tampered.1, text.as_bytes(), "{}: nothing was changed", tampered.0);
        refuses(&stage, &changed, tampered);
    }
    println!("{} changed bundles were refused", all.len());
    // What nobody has changed still holds, and so do two signatures of which one is known.
    assert!(run(&stage, &["verify", file.to_str().unwrap()]).status.success());
    let other = SigningKey::from_bytes(&[7; 32]);
    let beside = envelope(&own, &[(open_ssh(&other), signature(&other, KIND, &own)), sig]);
    std::fs::write(&changed, beside).unwrap();
    assert!(run(&stage, &["verify", changed.to_str().unwrap()]).status.success());
}
