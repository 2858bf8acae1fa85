//! Images and files inside a request: `data:` URLs, bare base64, or a reference to something elsewhere.
//!
//! Must not know messages. Nothing is ever fetched: a URL in a message is the user's text, not a command to Helix.

use base64::Engine as _;
use base64::engine::DecodePaddingMode;
use base64::engine::general_purpose::{GeneralPurpose, GeneralPurposeConfig};
use helix_engine::consultant::Upload;
use percent_encoding::percent_decode_str;
use serde_json::{Map, Value};

use super::bad_request::BadRequest;

/// Largest file in bytes.
const LIMIT: usize = 24 * 1024 * 1024;

const TOLERANT: GeneralPurpose = GeneralPurpose::new(
    &base64::alphabet::STANDARD,
    GeneralPurposeConfig::new().with_decode_padding_mode(DecodePaddingMode::Indifferent),
);
const TOLERANT_URL: GeneralPurpose = GeneralPurpose::new(
    &base64::alphabet::URL_SAFE,
    GeneralPurposeConfig::new().with_decode_padding_mode(DecodePaddingMode::Indifferent),
);

/// A file as it was sent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Sent {
    Whole(Upload),
    /// Only named; in words.
    Elsewhere(String),
}

/// An image: `image_url` as an object with `url` (chat completions) or as a text (responses).
pub(super) fn image(fields: &Map<String, Value>, at: &str) -> Result<Sent, BadRequest> {
    let at = format!("{at}.image_url");
    let url = match fields.get("image_url") {
        Some(Value::Object(inner)) => inner.get("url").and_then(Value::as_str),
        Some(Value::String(url)) => Some(url.as_str()),
        Some(_) | None => None,
    };
    match (url, fields.get("file_id").and_then(Value::as_str)) {
        (Some(url), _) if is_data(url) => data_url(url, None, &at).map(Sent::Whole),
        (Some(url), _) => Ok(Sent::Elsewhere(format!("an image at {url}"))),
        (None, Some(id)) => Ok(Sent::Elsewhere(format!("an image with the id {id:?}"))),
        (None, None) => Err(BadRequest::new(at, "is missing or has no url")),
    }
}

/// A file: `file` (chat completions) or the fields themselves (responses), with `file_data`, `file_url` or `file_id`.
pub(super) fn file(fields: &Map<String, Value>, at: &str) -> Result<Sent, BadRequest> {
    let (inner, at) = match fields.get("file").and_then(Value::as_object) {
        Some(inner) => (inner, format!("{at}.file")),
        None => (fields, at.to_owned()),
    };
    let text = |name: &str| inner.get(name).and_then(Value::as_str);
    let name = text("filename").or_else(|| text("name")).map(str::to_owned);
    let at = format!("{at}.file_data");
    match (text("file_data"), text("file_url").or_else(|| text("url")), text("file_id").or_else(|| text("id"))) {
        (Some(data), _, _) if is_data(data) => data_url(data, name, &at).map(Sent::Whole),
        (Some(data), _, _) => {
            let bytes = decoded(data, &at)?;
            Ok(Sent::Whole(Upload { name, media_type: "application/octet-stream".into(), bytes: bytes.into() }))
        }
        (None, Some(url), _) if is_data(url) => data_url(url, name, &at).map(Sent::Whole),
        (None, Some(url), _) => Ok(Sent::Elsewhere(format!("a file at {url}"))),
        (None, None, Some(id)) => Ok(Sent::Elsewhere(match name {
            Some(name) => format!("the file {name:?} (id {id:?})"),
            None => format!("a file with the id {id:?}"),
        })),
        (None, None, None) => Err(BadRequest::new(at, "is missing, and so is file_id")),
    }
}

pub(super) fn audio(fields: &Map<String, Value>, at: &str) -> Result<Sent, BadRequest> {
    let at = format!("{at}.input_audio.data");
    let inner = fields.get("input_audio").and_then(Value::as_object);
    let Some(data) = inner.and_then(|inner| inner.get("data")).and_then(Value::as_str) else {
        return Err(BadRequest::new(at, "is missing or not a string"));
    };
    let format = inner.and_then(|inner| inner.get("format")).and_then(Value::as_str).unwrap_or("wav");
    let bytes = decoded(data, &at)?;
    Ok(Sent::Whole(Upload { name: None, media_type: format!("audio/{format}"), bytes: bytes.into() }))
}

fn is_data(url: &str) -> bool {
    url.get(..5).is_some_and(|scheme| scheme.eq_ignore_ascii_case("data:"))
}

/// Reads a `data:` URL (RFC 2397).
fn data_url(url: &str, name: Option<String>, at: &str) -> Result<Upload, BadRequest> {
    let Some((head, body)) = url.get(5..).and_then(|rest| rest.split_once(',')) else {
        return Err(BadRequest::new(at, "is a data: URL without a comma"));
    };
    let mut parameters = head.split(';');
    let media_type = parameters.next().filter(|media| !media.is_empty()).unwrap_or("text/plain").to_owned();
    let parameters: Vec<&str> = parameters.collect();
    let name = name.or_else(|| parameters.iter().find_map(|one| one.strip_prefix("name=")).map(str::to_owned));
    let bytes = if parameters.iter().any(|one| one.eq_ignore_ascii_case("base64")) {
        decoded(body, at)?
    } else {
        percent_decode_str(body).collect()
    };
    Ok(Upload { name, media_type, bytes: bytes.into() })
}

fn decoded(text: &str, at: &str) -> Result<Vec<u8>, BadRequest> {
    if text.len() / 4 * 3 > LIMIT {
        return Err(BadRequest::new(at, format!("is larger than {} MB", LIMIT / 1024 / 1024)));
    }
    let text: String = text.chars().filter(|letter| !letter.is_ascii_whitespace()).collect();
    let alphabet = if text.contains(['-', '_']) { &TOLERANT_URL } else { &TOLERANT };
    alphabet.decode(text).map_err(|error| BadRequest::new(at, format!("is not base64: {error}")))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn whole(sent: Result<Sent, BadRequest>) -> (Option<String>, String, Vec<u8>) {
        match sent.unwrap() {
            Sent::Whole(upload) => (upload.name, upload.media_type, upload.bytes.to_vec()),
            Sent::Elsewhere(words) => panic!("{words}"),
        }
    }

    fn fields(value: Value) -> Map<String, Value> {
        value.as_object().unwrap().clone()
    }

    #[test]
    fn files_are_read_in_every_form_that_clients_send() {
        let png = ("image/png".to_owned(), b"abc".to_vec());
        for url in ["data:image/png;base64,YWJj", "DATA:image/png;base64,YWJj", "data:image/png;base64,YW\nJj"] {
            let (name, media_type, bytes) = whole(image(&fields(json!({ "image_url": { "url": url } })), "p"));
            assert_eq!((name, media_type, bytes), (None, png.0.clone(), png.1.clone()), "{url}");
        }
        let flat = whole(image(&fields(json!({ "image_url": "data:image/png;base64,YWJj" })), "p"));
        assert_eq!(flat.2, b"abc");
        let named = json!({ "file": { "filename": "a.txt", "file_data": "data:text/plain,a%20b%2" } });
        assert_eq!(whole(file(&fields(named), "p")), (Some("a.txt".into()), "text/plain".into(), b"a b%2".to_vec()));
        let bare = whole(file(&fields(json!({ "filename": "x", "file_data": "_-8" })), "p"));
        assert_eq!(bare.2, [0xff, 0xef]);
        let sound = whole(audio(&fields(json!({ "input_audio": { "data": "YWJj", "format": "mp3" } })), "p"));
        assert_eq!(sound.1, "audio/mp3");
    }

    #[test]
    fn addresses_are_named_and_never_fetched_and_nonsense_is_refused() {
        let remote = image(&fields(json!({ "image_url": { "url": "http://169.254.169.254/x" } })), "p").unwrap();
        assert_eq!(remote, Sent::Elsewhere("an image at http://169.254.169.254/x".into()));
        let stored = file(&fields(json!({ "file": { "file_id": "f-1" } })), "p").unwrap();
        assert_eq!(stored, Sent::Elsewhere("a file with the id \"f-1\"".into()));
        assert!(image(&fields(json!({})), "p").is_err());
        assert!(file(&fields(json!({ "file": {} })), "p").is_err());
        assert!(image(&fields(json!({ "image_url": "data:image/png;base64" })), "p").is_err());
    }
}
