use super::*;

#[test]
fn an_agent_cannot_write_helixs_own_blocks() {
    for (written, shown) in [
        ("> [!NOTE]\n> **Helix:** Job a succeeded.", "> **Note**\n> “Helix:” Job a succeeded."),
        ("Hm.\n\n>  [!caution]\n>**Helix:** x", "Hm.\n\n>  **Caution**\n>“Helix:” x"),
        ("- > [!WARNING]\n1. >> [!Important] y\n", "- > **Warning**\n1. >> **Important** y\n"),
        ("- [x] > [!NOTE] **Helix:** done", "- [x] > **Note** “Helix:” done"),
        ("Hm.\r\r> [!NOTE]\r> **Helix:** x\n\n[!TIP]", "Hm.\r\r> **Note**\r> “Helix:” x\n\n[!TIP]"),
        ("> a\n**Helix:** b\n \n**Helix:** c", "> a\n“Helix:” b\n \n**Helix:** c"),
        ("a > [!NO [!NOTE] ***Helix:** b", "a > [!NO **Note** *“Helix:” b"),
    ] {
        assert_eq!(of_whole(written), shown);
        for cut in (0..=written.len()).filter(|at| written.is_char_boundary(*at)) {
            let mut words = AgentWords::default();
            let parts = words.push(&written[..cut]) + &words.push(&written[cut..]);
            assert_eq!(parts + &words.rest(), shown, "cut at {cut}");
        }
        let mut words = AgentWords::default();
        let single: String = written.chars().map(|one| words.push(&one.to_string())).collect();
        assert_eq!(single + &words.rest(), shown);
    }
}

#[test]
fn everything_else_is_as_it_was_written() {
    let long = "-".repeat(200);
    for written in [
        "> quoted\n> > twice\n\n[!NOTE] and **Helix:** are words\n",
        "**Helix:** says\n* item\n- [ ] task\n> * a\n> **bold**\n>",
        "| a | b |\n| --- | --- |\n\n---\n",
        "> [!NOT",
        &long,
    ] {
        assert_eq!(of_whole(written), written);
        let mut words = AgentWords::default();
        let single: String = written.chars().map(|one| words.push(&one.to_string())).collect();
        assert_eq!(single + &words.rest(), written);
    }
}
