//! Images and files inside a request: `data:` URLs, bare base64, or a reference to something elsewhere.
//!
//! Must not know messages. Nothing is ever fetched: a URL in a message is the user's text, not a command to Helix.

use base64::Engine as _;
use base64::engine::DecodePaddingMode;
use base64::engine::general_purpose::{GeneralPurpose, GeneralPurposeConfig};
use helix_engine::consultant::Upload;
use percent_encoding::percent_decode_str;
use serde_json::Value;

use super::error::ApiError;
use super::field::Field;

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
pub(super) fn image(part: &Field<'_>) -> Result<Sent, ApiError> {
    let field = part.get("image_url");
    match (field.get("url").text().or(field.text()), part.get("file_id").text()) {
        (Some(url), _) if is_data(url) => data_url(url, None, &field).map(Sent::Whole),
        (Some(url), _) => Ok(Sent::Elsewhere(format!("an image at {url}"))),
        (None, Some(id)) => Ok(Sent::Elsewhere(format!("an image with the id {id:?}"))),
        (None, None) => Err(field.refuse("is missing or has no url")),
    }
}

/// A file: `file` (chat completions) or the fields themselves (responses), with `file_data`, `file_url` or `file_id`.
pub(super) fn file(part: &Field<'_>) -> Result<Sent, ApiError> {
    let inner = part.get("file");
    let fields = if inner.value.is_some_and(Value::is_object) { &inner } else { part };
    let first = |names: [&str; 2]| names.iter().find_map(|name| fields.get(name).text());
    let name = first(["filename", "name"]).map(str::to_owned);
    let data = fields.get("file_data");
    match (data.text(), first(["file_url", "url"]), first(["file_id", "id"])) {
        (Some(url), _, _) | (None, Some(url), _) if is_data(url) => data_url(url, name, &data).map(Sent::Whole),
        (Some(text), _, _) => {
            let bytes = decoded(text, &data)?;
            Ok(Sent::Whole(Upload { name, media_type: "application/octet-stream".into(), bytes: bytes.into() }))
        }
        (None, Some(url), _) => Ok(Sent::Elsewhere(format!("a file at {url}"))),
        (None, None, Some(id)) => Ok(Sent::Elsewhere(match name {
            Some(name) => format!("the file {name:?} (id {id:?})"),
            None => format!("a file with the id {id:?}"),
        })),
        (None, None, None) => Err(data.refuse("is missing, and so is file_id")),
    }
}

pub(super) fn audio(part: &Field<'_>) -> Result<Sent, ApiError> {
    let inner = part.get("input_audio");
    let data = inner.get("data");
    let bytes = decoded(data.required_text()?, &data)?;
    let format = inner.get("format").text().unwrap_or("wav");
    Ok(Sent::Whole(Upload { name: None, media_type: format!("audio/{format}"), bytes: bytes.into() }))
}

fn is_data(url: &str) -> bool {
    url.get(..5).is_some_and(|scheme| scheme.eq_ignore_ascii_case("data:"))
}

/// Reads a `data:` URL (RFC 2397).
fn data_url(url: &str, name: Option<String>, at: &Field<'_>) -> Result<Upload, ApiError> {
    let Some((head, body)) = url.get(5..).and_then(|rest| rest.split_once(',')) else {
        return Err(at.refuse("is a data: URL without a comma"));
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

fn decoded(text: &str, at: &Field<'_>) -> Result<Vec<u8>, ApiError> {
    if text.len() / 4 * 3 > LIMIT {
        return Err(at.refuse(format!("is larger than {} MB", LIMIT / 1024 / 1024)));
    }
    let text: String = text.chars().filter(|letter| !letter.is_ascii_whitespace()).collect();
    let alphabet = if text.contains(['-', '_']) { &TOLERANT_URL } else { &TOLERANT };
    alphabet.decode(text).map_err(|error| at.refuse(format!("is not base64: {error}")))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn whole(sent: Result<Sent, ApiError>) -> (Option<String>, String, Vec<u8>) {
        match sent.unwrap() {
            Sent::Whole(upload) => (upload.name, upload.media_type, upload.bytes.to_vec()),
            Sent::Elsewhere(words) => panic!("{words}"),
        }
    }

    #[test]
    fn files_are_read_in_every_form_that_clients_send() {
        let png = ("image/png".to_owned(), b"abc".to_vec());
        for url in ["data:image/png;base64,YWJj", "DATA:image/png;base64,YWJj", "data:image/png;base64,YW\nJj"] {
            let (name, media_type, bytes) = whole(image(&Field::body(&json!({ "image_url": { "url": url } }))));
            assert_eq!((name, media_type, bytes), (None, png.0.clone(), png.1.clone()), "{url}");
        }
        let flat = whole(image(&Field::body(&json!({ "image_url": "data:image/png;base64,YWJj" }))));
        assert_eq!(flat.2, b"abc");
        let named = json!({ "file": { "filename": "a.txt", "file_data": "data:text/plain,a%20b%2" } });
        assert_eq!(whole(file(&Field::body(&named))), (Some("a.txt".into()), "text/plain".into(), b"a b%2".to_vec()));
        let bare = whole(file(&Field::body(&json!({ "filename": "x", "file_data": "_-8" }))));
        assert_eq!(bare.2, [0xff, 0xef]);
        let sound = whole(audio(&Field::body(&json!({ "input_audio": { "data": "YWJj", "format": "mp3" } }))));
        assert_eq!(sound.1, "audio/mp3");
    }

    #[test]
    fn addresses_are_named_and_never_fetched_and_nonsense_is_refused() {
        let remote = image(&Field::body(&json!({ "image_url": { "url": "http://169.254.169.254/x" } }))).unwrap();
        assert_eq!(remote, Sent::Elsewhere("an image at http://169.254.169.254/x".into()));
        let stored = file(&Field::body(&json!({ "file": { "file_id": "f-1" } }))).unwrap();
        assert_eq!(stored, Sent::Elsewhere("a file with the id \"f-1\"".into()));
        assert!(image(&Field::body(&json!({}))).is_err());
        assert!(file(&Field::body(&json!({ "file": {} }))).is_err());
        assert!(image(&Field::body(&json!({ "image_url": "data:image/png;base64" }))).is_err());
    }
}
