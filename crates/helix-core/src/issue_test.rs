use super::*;

#[test]
fn a_number_or_a_url_and_nothing_else() {
    let read = |text: &str| text.parse::<Issue>().map(|issue| issue.to_string());
    assert_eq!((read("17").unwrap(), read("#17").unwrap()), ("#17".to_owned(), "#17".to_owned()));
    for (url, host, project, kind, number) in [
        ("https://github.com/octo/shop/issues/17", "github.com", "octo/shop", "issues", 17),
        ("https://github.com/octo/shop/pull/5/files#diff-1", "github.com", "octo/shop", "pull", 5),
        ("https://git.corp.example:8443/a/b/c/-/issues/3", "git.corp.example:8443", "a/b/c", "issues", 3),
        ("https://gitlab.com/a/b/-/merge_requests/9?tab=x", "gitlab.com", "a/b", "merge_requests", 9),
        ("https://gitlab.com/a/issues/-/merge_requests/9", "gitlab.com", "a/issues", "merge_requests", 9),
        ("http://gitlab.com/a/b/-/work_items/2", "gitlab.com", "a/b", "issues", 2),
    ] {
        assert_eq!(read(url).unwrap(), url);
        let url = IssueUrl::new(url).unwrap();
        assert_eq!(url.place().unwrap(), IssuePlace { host, project, kind, number });
    }
    for wrong in [
        "",
        "0",
        "-1",
        "##17",
        "seventeen",
        "https://github.com/octo/shop",
        "https://github.com/octo/shop/issues/0",
        "https://github.com/shop/issues/1",
        "https://token@github.com/octo/shop/issues/1",
        "https://-h/octo/shop/issues/1",
        "https://github.com/octo/../issues/1",
        "https://github.com/octo/sh op/issues/1",
        "https://github.com/octo/shop%2F:id/issues/1",
        "ftp://github.com/octo/shop/issues/1",
        "https://github.com/octo/shop/issues/1#a\nb",
    ] {
        assert!(read(wrong).is_err(), "{wrong:?}");
    }
}

#[test]
fn programs_write_a_number_or_a_text() {
    let read = |text: &str| serde_json::from_str::<Issue>(text);
    assert_eq!(serde_json::to_string(&read("17").unwrap()).unwrap(), "17");
    let url = "\"https://github.com/octo/shop/issues/17\"";
    assert_eq!(serde_json::to_string(&read(url).unwrap()).unwrap(), url);
    for wrong in ["0", "-1", "1.5", "\"17\"", "[17]", "\"https://github.com/octo\""] {
        assert!(read(wrong).unwrap_err().to_string().contains("the issue must be its number"), "{wrong}");
    }
}
