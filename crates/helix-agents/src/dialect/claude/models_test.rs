use super::*;
use crate::profile::DialectName;

#[test]
fn only_what_nobody_can_know_is_doubted() {
    let mut profile = AgentProfile::new("claude", DialectName::Claude, vec!["claude".into()]);
    let none = HostEnvironment::default();
    for known in ["sonnet", "opus[1m]", "claude-sonnet-4-5", "us.anthropic.claude-opus-5-v1:0", "arn:aws:bedrock:x"] {
        assert_eq!(doubted(&profile, known, &none), None, "{known}");
    }
    for odd in ["sonet", "gpt-5", "Sonnet", "[1m]"] {
        assert!(doubted(&profile, odd, &none).is_some(), "{odd}");
    }
    // A gateway may call its models as it likes.
    profile.env.insert("ANTHROPIC_BASE_URL".into(), "http://localhost:4000".into());
    assert_eq!(doubted(&profile, "gpt-5", &none), None);
}
