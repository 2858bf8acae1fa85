//! States and criteria of other forms.

use super::*;
use crate::tree::paragraphs;

#[test]
fn states_of_every_form_are_read() {
    for (text, status) in [
        ("accepted", Some(Status::Accepted)),
        ("Superseded by [ADR-0005](0005-x.md)", Some(Status::Superseded)),
        ("superceded by [3. X](0003-x.md)", Some(Status::Superseded)),
        ("\n**Accepted**\n\nSupersedes [1. X](0001-x.md)", Some(Status::Accepted)),
        ("Abgelehnt", Some(Status::Rejected)),
        ("ersetzt durch ADR 7", Some(Status::Superseded)),
        ("proposed | rejected | accepted | deprecated", None),
        ("maybe", None),
    ] {
        assert_eq!(status_of(text).map(|(status, _)| status), status, "{text}");
    }
}

#[test]
fn lists_come_before_paragraphs_and_comments_are_left_out() {
    let text = "<!-- This is\nan optional element. -->\nSee:\n\n* one\n  and more\n1. two\n\n```sh\n- no\n```\n";
    assert_eq!(paragraphs(text), (vec!["one and more".to_owned(), "two".to_owned()], vec!["See:".to_owned()]));
}
