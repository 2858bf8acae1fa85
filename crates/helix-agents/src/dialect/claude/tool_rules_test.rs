use std::path::Path;

use super::*;

#[test]
fn rules_of_settings_keep_their_meaning_from_another_directory() {
    let cases = [
        ("Read(.env)", "read:.env", "Read(//work/**/.env)"),
        ("Read(./.env)", "read:./.env", "Read(//work/.env)"),
        ("Read(/secrets/**)", "read:./secrets/**", "Read(//work/secrets/**)"),
        ("Read(//etc/shadow)", "read:/etc/shadow", "Read(//etc/shadow)"),
        ("Read(~/.ssh/**)", "read:~/.ssh/**", "Read(~/.ssh/**)"),
        ("Edit(infra/**)", "write:infra/**", "Edit(//work/infra/**)"),
        ("Read(**/*.pem)", "read:**/*.pem", "Read(//work/**/*.pem)"),
        ("Bash(git push:*)", "shell:git push:*", "Bash(git push:*)"),
        ("Bash", "shell", "Bash"),
        ("Bash(*)", "shell", "Bash"),
        ("WebFetch(domain:example.com)", "web:example.com", "WebFetch(domain:example.com)"),
        ("WebSearch", "tool:WebSearch", "WebSearch"),
        ("mcp__tracker__close", "mcp:tracker/close", "mcp__tracker__close"),
        ("mcp__tracker", "mcp:tracker", "mcp__tracker"),
        ("Skill(deploy)", "tool:Skill(deploy)", "Skill(deploy)"),
    ];
    for (settings, general, again) in cases {
        let rule = read(settings);
        assert_eq!(rule.to_string(), general);
        assert_eq!(written(&rule, Path::new("/work")), [again], "{settings}");
    }
    assert_eq!(written(&"web".parse().unwrap(), Path::new("/work")), ["WebSearch", "WebFetch"]);
}
