//! From a client's messages to what the Consultant is asked. Must not know headers or sessions.

use helix_engine::consultant::{Author, Message as HistoryMessage, Purpose, Upload};
use sha2::{Digest, Sha256};

use super::marks;
use super::request::{BadRequest, Message, Role};

/// What the agent is asked when the client wants the last answer to go on.
const CONTINUE: &str = "Continue your last answer exactly where it stopped, without repeating anything.";

/// A conversation, ready for a turn.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Conversation {
    /// The client's instructions.
    pub(crate) system: Option<String>,
    /// What was said before.
    pub(crate) history: Vec<HistoryMessage>,
    /// What is to be done.
    pub(crate) purpose: Purpose,
    /// What is to be answered.
    pub(crate) message: String,
    /// The user's own words in it.
    pub(crate) words: String,
    /// Files that came with it.
    pub(crate) uploads: Vec<Upload>,
    /// The user's first words, without what clients wrap around them and later drop; empty when they held no text.
    pub(crate) opening: String,
}

impl Conversation {
    /// Sorts messages. Roles need not alternate: a client that lost an answer sends two user messages in a row.
    ///
    /// # Errors
    /// [`BadRequest`] when there is nothing to answer.
    pub(crate) fn from_messages(messages: &[Message]) -> Result<Self, BadRequest> {
        let system: Vec<&str> =
            messages.iter().filter(|one| one.role == Role::System).map(|one| one.text.trim()).collect();
        let system = Some(system.join("\n\n")).filter(|text| !text.trim().is_empty());
        let said: Vec<(usize, &Message)> =
            messages.iter().enumerate().filter(|(_, one)| one.role != Role::System).collect();
        let Some(opening) = said.iter().find(|(_, one)| one.role == Role::User) else {
            return Err(BadRequest::new("messages", "there is no user message to answer"));
        };
        let opening = unwrapped(&opening.1.text).to_owned();
        let Some(((last_index, last), earlier)) = said.split_last() else {
            return Err(BadRequest::new("messages", "there is no user message to answer"));
        };
        let at = format!("messages[{last_index}]");
        let asked = Self {
            system,
            history: Vec::new(),
            purpose: Purpose::Answer,
            message: String::new(),
            words: String::new(),
            uploads: Vec::new(),
            opening,
        };
        let (asked, history) = match last.role {
            Role::User => {
                let (message, words) = (last.with_remarks(), unwrapped(&last.text).to_owned());
                (Self { message, words, uploads: last.uploads.clone(), ..asked }, earlier)
            }
            // "Continue Response" sends the answer so far as the last message.
            Role::Assistant => {
                (Self { purpose: Purpose::Continue, message: CONTINUE.to_owned(), ..asked }, said.as_slice())
            }
            Role::Tool => {
                let message = "the last message answers a client's tool; Helix's agents run their own tools, so send a user message";
                return Err(BadRequest::new(format!("{at}.role"), message));
            }
            Role::System => return Err(BadRequest::new(format!("{at}.role"), "the last message must be the user's")),
        };
        if asked.message.trim().is_empty() && asked.uploads.is_empty() {
            return Err(BadRequest::new(format!("{at}.content"), "the user message is empty"));
        }
        let history = history.iter().filter_map(|(_, one)| one.said()).collect();
        Ok(Self { history, ..asked })
    }

    /// What the request says, as a digest: the same request sent again has the same.
    pub(crate) fn digest(&self, model: Option<&str>) -> String {
        let mut hash = Sha256::new();
        let mut part = |text: &str| {
            // With its length, so that no two lists of parts give the same bytes.
            hash.update((text.len() as u64).to_le_bytes());
            hash.update(text.as_bytes());
        };
        part(model.unwrap_or_default());
        for one in &self.history {
            part(match one.author {
                Author::User => "user",
                Author::Consultant => "consultant",
            });
            part(&one.text);
        }
        part(&self.message);
        for upload in &self.uploads {
            hash.update(Sha256::digest(&upload.bytes));
        }
        hash.finalize().iter().take(16).map(|byte| format!("{byte:02x}")).collect()
    }
}

impl Message {
    fn with_remarks(&self) -> String {
        let mut text = self.text.clone();
        if !self.left_out.is_empty() {
            if !text.is_empty() {
                text.push_str("\n\n");
            }
            text.push_str("[Helix: the user also sent ");
            text.push_str(&self.left_out.join(", "));
            text.push_str(", which Helix cannot pass on: say so if the answer depends on it.]");
        }
        text
    }

    fn said(&self) -> Option<HistoryMessage> {
        let (author, text) = match self.role {
            Role::User => (Author::User, unwrapped(&self.text).to_owned()),
            Role::Assistant => (Author::Consultant, marks::strip(&self.text)),
            // Activity, not words.
            Role::Tool | Role::System => return None,
        };
        let uploads = self.uploads.clone();
        (!text.trim().is_empty() || !uploads.is_empty()).then_some(HistoryMessage { author, text, uploads })
    }
}

/// The user's own words in a message that a client wrapped in retrieved context or a list of files. The client sends the
/// wrapping with that turn only, so that it must not be part of what identifies a conversation.
fn unwrapped(text: &str) -> &str {
    let mut text = text.trim();
    if let Some(rest) = text.strip_prefix("<attached_files>") {
        text = rest.split_once("</attached_files>").map_or(text, |(_, words)| words).trim();
    }
    if text.starts_with("### Task:")
        && let Some((_, words)) = text.rsplit_once("</context>")
        && !words.trim().is_empty()
    {
        text = words.trim();
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    fn message(role: Role, text: &str) -> Message {
        Message { role, text: text.into(), uploads: Vec::new(), left_out: Vec::new() }
    }

    #[test]
    fn the_last_user_message_is_asked_and_the_rest_is_history() {
        let conversation = Conversation::from_messages(&[
            message(Role::System, "be brief"),
            message(Role::User, "one"),
            message(Role::Assistant, &format!("first\n\n{}", marks::caution("it broke", None))),
            message(Role::Assistant, ""),
            message(Role::Tool, "output"),
            message(Role::User, "lost"),
            message(Role::User, "two"),
        ])
        .unwrap();
        let said = |author, text: &str| HistoryMessage { author, text: text.into(), uploads: Vec::new() };
        assert_eq!(
            conversation,
            Conversation {
                system: Some("be brief".into()),
                history: vec![said(Author::User, "one"), said(Author::Consultant, "first"), said(Author::User, "lost"),],
                purpose: Purpose::Answer,
                message: "two".into(),
                words: "two".into(),
                uploads: Vec::new(),
                opening: "one".into(),
            }
        );
    }

    #[test]
    fn an_answer_at_the_end_is_continued() {
        let conversation =
            Conversation::from_messages(&[message(Role::User, "one"), message(Role::Assistant, "half")]).unwrap();
        assert_eq!((conversation.purpose, conversation.message.as_str()), (Purpose::Continue, CONTINUE));
        assert_eq!(conversation.history.len(), 2);
    }

    #[test]
    fn files_go_with_the_message_and_what_cannot_go_is_told() {
        let mut image = message(Role::User, "");
        image.left_out.push("an image at http://x".into());
        let conversation = Conversation::from_messages(&[image.clone()]).unwrap();
        assert!(
            conversation.message.starts_with("[Helix: the user also sent an image at http://x,"),
            "{conversation:?}"
        );
        image.left_out.clear();
        image.uploads.push(Upload { name: None, media_type: "image/png".into(), bytes: b"x".as_slice().into() });
        let conversation = Conversation::from_messages(&[image]).unwrap();
        assert_eq!((conversation.message.as_str(), conversation.uploads.len()), ("", 1), "a file alone is a message");
    }

    #[test]
    fn only_the_same_request_has_the_same_digest() {
        let of = |texts: &[&str]| {
            let messages: Vec<Message> = texts.iter().map(|text| message(Role::User, text)).collect();
            Conversation::from_messages(&messages).unwrap().digest(None)
        };
        assert_eq!(of(&["a", "b"]), of(&["a", "b"]));
        assert_ne!(of(&["a", "b"]), of(&["ab"]));
        assert_ne!(of(&["a", "bc"]), of(&["ab", "c"]));
    }

    #[test]
    fn nothing_to_answer_is_refused() {
        for messages in [
            vec![message(Role::System, "x")],
            vec![message(Role::Assistant, "x")],
            vec![message(Role::User, "x"), message(Role::Tool, "y")],
            vec![message(Role::User, " \n")],
        ] {
            assert!(Conversation::from_messages(&messages).is_err(), "{messages:?}");
        }
    }

    #[test]
    fn wrapping_is_no_part_of_the_opening() {
        let wrapped = "### Task:\nRespond to the user query using the provided context\n<context>\nsecret\n</context>\n\nfile full context";
        assert_eq!(unwrapped(wrapped), "file full context");
        assert_eq!(unwrapped("<attached_files><file name=\"a\"/></attached_files>\nlook"), "look");
        assert_eq!(unwrapped("### Task: build it"), "### Task: build it");
    }
}
