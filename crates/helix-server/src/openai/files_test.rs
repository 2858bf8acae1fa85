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

#[test]
fn time_grows_with_the_number_of_quoted_files_and_not_with_its_square() {
    let sources: Vec<String> = (0..100_000).map(|n| format!("<source id=\"1\" name=\"{n}\">x</source>")).collect();
    let text = format!("### Task:\n<context>\n{}\n</context>", sources.join("\n"));
    let started = std::time::Instant::now();
    assert_eq!(quoted(&text).len(), sources.len());
    assert!(started.elapsed() < std::time::Duration::from_secs(5), "{:?}", started.elapsed());
}
