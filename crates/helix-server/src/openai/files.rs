//! Images and files inside a request: `data:` URLs, bare base64, or a reference to something elsewhere.
//!
//! Must not know messages. Nothing is ever fetched: a URL in a message is the user's text, not a command to Helix.

use std::collections::HashMap;

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

/// Files that a client quotes in the text of a message, as Open WebUI does with attached texts: in each message anew. Pieces of one file
/// are one.
pub(super) fn quoted(text: &str) -> Vec<Upload> {
    let context = text.split_once("<context>").and_then(|(_, rest)| rest.rsplit_once("</context>"));
    let Some((context, _)) = context.filter(|_| text.trim_start().starts_with("### Task:")) else { return Vec::new() };
    let mut files: Vec<(&str, String)> = Vec::new();
    let mut known = HashMap::new();
    let sources = context.trim().strip_prefix("<source ").and_then(|sources| sources.strip_suffix("</source>"));
    for (head, content) in
        sources.unwrap_or_default().split("</source>\n<source ").filter_map(|one| one.split_once('>'))
    {
        let name = attribute(head, "name").unwrap_or("source");
        let at = *known.entry(name).or_insert(files.len());
        match files.get_mut(at) {
            Some((_, whole)) => whole.extend(["\n\n", content]),
            None => files.push((name, content.to_owned())),
        }
    }
    let upload = |(name, content): (&str, String)| Upload {
        name: Some(name.to_owned()),
        media_type: "text/plain".into(),
        bytes: content.into_bytes().into(),
    };
    files.into_iter().map(upload).collect()
}

/// Names of the images that a client lists before the text of a message, in their order.
pub(super) fn listed_images(text: &str) -> Vec<String> {
    let list = text.trim_start().strip_prefix("<attached_files>").and_then(|rest| rest.split_once("</attached_files>"));
    let files = list.map_or("", |(list, _)| list).split("<file ");
    let images = files.filter(|file| attribute(file, "content_type").is_some_and(|kind| kind.starts_with("image/")));
    images.filter_map(|file| attribute(file, "name").map(str::to_owned)).collect()
}

fn attribute<'a>(tag: &'a str, name: &str) -> Option<&'a str> {
    let (_, rest) = tag.split_once(&format!("{name}=\""))?;
    rest.split('"').next()
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
    // Both alphabets, over any number of lines.
    let text = text.replace(|letter: char| letter.is_ascii_whitespace(), "").replace('-', "+").replace('_', "/");
    TOLERANT.decode(text).map_err(|error| at.refuse(format!("is not base64: {error}")))
}

#[cfg(test)]
#[path = "files_test.rs"]
mod tests;
