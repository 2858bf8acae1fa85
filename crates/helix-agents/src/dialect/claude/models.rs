//! Names of models, as far as Claude Code itself knows them.
//!
//! Must not refuse any: behind another endpoint than the provider's own a model may be called anything.

use crate::dialect::HostEnvironment;
use crate::profile::AgentProfile;

/// Names that stand for the latest model of a kind (list in the executable of 2.1.197; `default` and `opusplan` from its help).
const ALIASES: [&str; 7] = ["sonnet", "opus", "haiku", "fable", "best", "opusplan", "default"];
/// What makes an alias one with the long context.
const LONG: &str = "[1m]";
/// Variables by which another endpoint is used, which has names of its own.
const ELSEWHERE: [&str; 4] =
    ["ANTHROPIC_BASE_URL", "CLAUDE_CODE_USE_BEDROCK", "CLAUDE_CODE_USE_VERTEX", "CLAUDE_CODE_USE_FOUNDRY"];

/// The aliases, if there is reason to doubt that the provider knows the model.
pub(super) fn doubted(profile: &AgentProfile, model: &str, own: &HostEnvironment) -> Option<&'static [&'static str]> {
    let set = |name: &str| profile.env.contains_key(name) || own.get(name).is_some();
    let alias = model.strip_suffix(LONG).unwrap_or(model);
    // Full names, those of other clouds too, have the family in them: `claude-…`, `us.anthropic.claude-…`, `arn:aws:…`.
    let full = model.contains("claude") || model.starts_with("arn:");
    (!full && !ALIASES.contains(&alias) && !ELSEWHERE.into_iter().any(set)).then_some(&ALIASES)
}

#[cfg(test)]
#[path = "models_test.rs"]
mod tests;
