use super::*;

fn upload(name: Option<&str>, media_type: &str) -> Upload {
    Upload { name: name.map(Into::into), media_type: media_type.into(), bytes: b"abc".as_slice().into() }
}

#[tokio::test]
async fn files_are_kept_once_under_names_that_cannot_leave_their_directory() {
    let directory = tempfile::tempdir().unwrap();
    let root = directory.path().to_str().unwrap();
    let uploads = [upload(Some("../../etc/pa ss"), "text/plain"), upload(None, "image/png"), upload(None, "image/png")];
    let kept = keep(root, &uploads, Language::English).await.unwrap();
    assert_eq!(kept[0].path, "attachments/ba7816bf8f01-_.._etc_pa_ss");
    assert_eq!(kept[1].path, "attachments/ba7816bf8f01-file.png");
    assert_eq!(kept[1], kept[2]);
    assert_eq!(std::fs::read(directory.path().join(&kept[0].path)).unwrap(), b"abc");
    assert_eq!(std::fs::read_dir(directory.path().join(DIRECTORY)).unwrap().count(), 2);
}

#[test]
fn the_agent_is_told_where_they_are() {
    let one = Attachment {
        path: "attachments/x.png".into(),
        name: Some("x.png".into()),
        media_type: "image/png".into(),
        bytes: 1_200,
    };
    let text = named("/work", &[&one]);
    assert!(
        text.starts_with("[Helix: files")
            && text.contains("- /work/attachments/x.png (image/png, 2 kB, sent as \"x.png\")\n]\n\n"),
        "{text}"
    );
    assert_eq!(named("/work", &[]), "");
}
