use super::*;

fn files(answer: &str) -> Vec<String> {
    read(answer, Path::new("/s/work")).files.into_iter().map(|file| file.path.display().to_string()).collect()
}

#[test]
fn a_file_is_named_by_a_link_or_its_full_path() {
    for (answer, named) in [
        ("See [the plan](phases.yaml).", vec!["/s/work/phases.yaml"]),
        ("See [it](./a/../adr%2Ddraft.md#status).", vec!["/s/work/adr-draft.md"]),
        ("Written to `/s/work/adr-draft.md:12`.", vec!["/s/work/adr-draft.md"]),
        ("I would put it into `src/export.py` and adr-draft.md.", vec![]),
        ("[x](https://example.org/a.md) [y](mailto:a@b.c) [z](#top) <https://e.org>", vec![]),
        ("[out](../../etc/passwd) `/etc/passwd` `/s/work`", vec![]),
        ("`/s/work/adr/NNN-title.md` `/s/work/*.md` `/s/work/<name>.md` [t](<{name}.md>)", vec![]),
        ("```sh\ncat /s/work/gone.md\n```", vec![]),
        ("[twice](a.md) [twice](a.md)", vec!["/s/work/a.md"]),
    ] {
        assert_eq!(files(answer), named, "{answer}");
    }
}

#[test]
fn whole_documents_count_and_excerpts_and_quotes_do_not() {
    let kinds = |answer: &str| -> Vec<SavedKind> {
        read(answer, Path::new("/w")).documents.into_iter().map(|document| document.kind).collect()
    };
    assert_eq!(kinds("```markdown\n---\nadr_id: draft\ntitle: x\n---\n# x\n```"), [SavedKind::Adr]);
    assert_eq!(kinds("```yaml\nname: x\nphases:\n  - id: a\n```"), [SavedKind::Plan]);
    assert_eq!(kinds("```yaml\nphases:\n  - id: a\n```"), [], "an excerpt");
    assert_eq!(kinds("```markdown\n## Decision\nUse it.\n```"), [], "an excerpt");
    assert_eq!(kinds("```markdown\n---\nadr_id: 12\n---\n# x\n```"), [], "a quote");
    assert_eq!(kinds("```python\nname: x\nphases:\n  - id: a\n```"), []);
    assert_eq!(kinds("What is an ADR? A file with `adr_id`."), []);
}
