//! What is copied for agents.

use super::*;

#[test]
fn settings_of_production_are_nothing_for_agents() {
    for name in [".env", ".env.local", ".env.test", ".env.development"] {
        assert!(is_settings(name), "{name}");
    }
    for name in [".env.production", ".env.production.local", ".env.prod", ".env.Prod.local", ".envrc", "a.env"] {
        assert!(!is_settings(name), "{name}");
    }
}
