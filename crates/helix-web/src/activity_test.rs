use helix_core::usage::Usage;

use super::*;

#[test]
fn a_failed_end_says_why_in_the_agents_words() {
    let mut items = Items::new(Language::English, &JobId::from_parts(0, 0));
    let mut end = |is_error| {
        let answer = Some("Not logged in · Please run /login".to_owned());
        let event = AgentEvent::Finished { answer, structured: None, is_error, usage: Usage::default() };
        items.hear(event).unwrap().markup.into_string()
    };
    assert!(end(true).contains("Please run /login"));
    assert!(!end(false).contains("/login"), "an answer has been shown");
}
