//! What a client can show beyond text, decided from its headers. Must not know what a message says.

use axum::http::{HeaderMap, header};

/// What a client can show.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Profile {
    /// Any OpenAI client: text and reasoning. Activity becomes lines of reasoning.
    Plain,
    /// Open WebUI: also its `event` objects.
    OpenWebUi {
        /// How it shows tool calls.
        tools: ToolDisplay,
    },
}

/// How Open WebUI is shown tool calls.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ToolDisplay {
    /// As typed items with input and output (from 0.8).
    Items,
    /// As status lines (every version).
    StatusLines,
}

/// Names the profile outright: `openwebui`, `openwebui-basic` or `plain`.
pub(crate) const CLIENT_HEADER: &str = "x-helix-client";
/// Names the background task; empty for a user's turn.
pub(crate) const TASK_HEADER: &str = "x-task";
/// The conversation, by the connection's header template.
pub(crate) const CHAT_HEADER: &str = "x-chat";
/// The conversation, by Open WebUI's own forwarding.
pub(crate) const FORWARDED_CHAT_HEADER: &str = "x-openwebui-chat-id";
/// The user, by Open WebUI's own forwarding.
pub(crate) const FORWARDED_USER_HEADER: &str = "x-openwebui-user-id";

impl Profile {
    /// Names by which a connection's configuration chooses a profile.
    pub const NAMES: [&'static str; 3] = ["openwebui", "openwebui-basic", "plain"];

    /// The profile of this name.
    pub fn named(name: &str) -> Option<Self> {
        match name {
            "openwebui" => Some(Self::OpenWebUi { tools: ToolDisplay::Items }),
            "openwebui-basic" => Some(Self::OpenWebUi { tools: ToolDisplay::StatusLines }),
            "plain" => Some(Self::Plain),
            _ => None,
        }
    }

    /// The profile of a request: what its header names, else what the end of the model's name says (`helix@plain`), else
    /// what is configured for all, else what the client looks like.
    pub(crate) fn choose(headers: &HeaderMap, by_model: Option<Self>, configured: Option<Self>) -> Self {
        let by_header = headers.get(CLIENT_HEADER).and_then(|value| value.to_str().ok()).and_then(Self::named);
        by_header.or(by_model).or(configured).unwrap_or_else(|| Self::of(headers))
    }

    /// Reads the profile off a request's headers. Open WebUI is known by its HTTP library together with a header that only
    /// its connections carry (also when empty); anything else is [`Profile::Plain`].
    pub fn of(headers: &HeaderMap) -> Self {
        let items = Self::OpenWebUi { tools: ToolDisplay::Items };
        if let Some(named) = headers.get(CLIENT_HEADER).and_then(|value| value.to_str().ok()).and_then(Self::named) {
            return named;
        }
        let agent = headers.get(header::USER_AGENT).and_then(|value| value.to_str().ok()).unwrap_or_default();
        let marked = [TASK_HEADER, CHAT_HEADER, FORWARDED_CHAT_HEADER].iter().any(|name| headers.contains_key(*name));
        if agent.contains("aiohttp") && marked { items } else { Self::Plain }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(pairs: &[(&'static str, &'static str)]) -> Profile {
        Profile::of(&pairs.iter().map(|(name, value)| (name.parse().unwrap(), value.parse().unwrap())).collect())
    }

    #[test]
    fn only_open_webui_gets_its_objects() {
        let items = Profile::OpenWebUi { tools: ToolDisplay::Items };
        assert_eq!(of(&[("user-agent", "Python/3.11 aiohttp/3.14.5"), ("x-task", "")]), items);
        assert_eq!(of(&[("user-agent", "Python/3.11 aiohttp/3.14.5")]), Profile::Plain);
        assert_eq!(of(&[("user-agent", "OpenAI/Python 1.2"), ("x-chat", "c")]), Profile::Plain);
        assert_eq!(of(&[("x-helix-client", "openwebui")]), items);
        let marked = ("user-agent", "Python/3.11 aiohttp/3.14.5");
        assert_eq!(of(&[marked, ("x-chat", "c"), ("x-helix-client", "plain")]), Profile::Plain);
    }

    #[test]
    fn the_connection_chooses_before_the_model_before_the_server_before_the_looks() {
        let items = Profile::OpenWebUi { tools: ToolDisplay::Items };
        let header = HeaderMap::from_iter([("x-helix-client".parse().unwrap(), "plain".parse().unwrap())]);
        assert_eq!(Profile::choose(&header, Some(items), Some(items)), Profile::Plain);
        assert_eq!(Profile::choose(&HeaderMap::new(), Some(items), Some(Profile::Plain)), items);
        assert_eq!(Profile::choose(&HeaderMap::new(), None, Some(items)), items);
        assert_eq!(Profile::choose(&HeaderMap::new(), None, None), Profile::Plain);
        assert!(Profile::NAMES.iter().all(|name| Profile::named(name).is_some()));
    }
}
