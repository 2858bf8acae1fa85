//! Which conversation a request belongs to: the client's own id where it sends one, else a key that stays the same. [15]
//!
//! Keys are opaque and never shortened or cleaned: two ids that differ anywhere are two conversations. [19]

use axum::http::{HeaderMap, HeaderValue, header};
use uuid::Uuid;

use super::conversation::Conversation;
use super::profile::{CHAT_HEADER, FORWARDED_CHAT_HEADER, FORWARDED_USER_HEADER};

/// Namespace of keys that are made from a conversation's beginning.
const NAMESPACE: Uuid = Uuid::from_u128(0x6f0d_42c1_7a53_4d0e_9b1c_5a2e_8c3f_1d77);

/// How the ids of Open WebUI's temporary chats begin. All temporary chats of a browser tab share one id.
const TEMPORARY: &[u8] = b"temporary:";

/// The key of a conversation.
pub(crate) fn session_key(headers: &HeaderMap, conversation: &Conversation) -> String {
    match chat(headers) {
        Some(id) if id.as_bytes().starts_with(TEMPORARY) => {
            format!("temporary:{}", derived(headers, Some(id), conversation))
        }
        Some(id) => named(id),
        None => format!("opening:{}", derived(headers, None, conversation)),
    }
}

/// The key of the conversation that a background task is about, where its headers name one. What such a request says is no
/// part of any conversation.
pub(crate) fn key_of_task(headers: &HeaderMap) -> Option<String> {
    chat(headers).filter(|id| !id.as_bytes().starts_with(TEMPORARY)).map(named)
}

/// The client's own id of the conversation.
fn chat(headers: &HeaderMap) -> Option<&HeaderValue> {
    let named = [CHAT_HEADER, FORWARDED_CHAT_HEADER].iter().filter_map(|name| headers.get(*name));
    let mut filled = named.filter(|value| !value.as_bytes().trim_ascii().is_empty());
    filled.next()
}

fn named(id: &HeaderValue) -> String {
    match id.to_str() {
        Ok(id) => format!("chat:{id}"),
        // Such a header has no text form; its bytes are as good an identity.
        Err(_) => format!("chat-bytes:{}", Uuid::new_v5(&NAMESPACE, id.as_bytes())),
    }
}

/// A key from the caller and the user's first words: what every turn of a conversation has in common. Instructions are not,
/// since they may change in mid-conversation.
fn derived(headers: &HeaderMap, chat: Option<&HeaderValue>, conversation: &Conversation) -> Uuid {
    let bytes = |name: &str| headers.get(name).map(HeaderValue::as_bytes).unwrap_or_default();
    let mut seed = Vec::new();
    for part in [
        bytes(header::AUTHORIZATION.as_str()),
        bytes(FORWARDED_USER_HEADER),
        chat.map(HeaderValue::as_bytes).unwrap_or_default(),
        conversation.opening.as_bytes(),
    ] {
        // With its length, so that no two lists of parts give the same bytes.
        seed.extend_from_slice(&(part.len() as u64).to_le_bytes());
        seed.extend_from_slice(part);
    }
    Uuid::new_v5(&NAMESPACE, &seed)
}

#[cfg(test)]
mod tests {
    use helix_engine::consultant::Purpose;

    use super::*;

    fn headers(pairs: &[(&'static str, &str)]) -> HeaderMap {
        pairs.iter().map(|(name, value)| (name.parse().unwrap(), value.parse().unwrap())).collect()
    }

    fn conversation(system: Option<&str>, opening: &str) -> Conversation {
        Conversation {
            system: system.map(Into::into),
            history: Vec::new(),
            purpose: Purpose::Answer,
            message: "now".into(),
            words: "now".into(),
            uploads: Vec::new(),
            opening: opening.into(),
        }
    }

    #[test]
    fn ids_of_clients_are_kept_as_they_are() {
        let any = conversation(None, "hi");
        assert_eq!(session_key(&headers(&[("x-chat", "a_b")]), &any), "chat:a_b");
        assert_ne!(session_key(&headers(&[("x-chat", "a-b")]), &any), "chat:a_b");
        assert_eq!(session_key(&headers(&[("x-chat", ""), ("x-openwebui-chat-id", "c1")]), &any), "chat:c1");
    }

    #[test]
    fn without_an_id_the_key_stays_the_same_for_all_turns() {
        let caller = headers(&[("authorization", "Bearer a")]);
        let first = session_key(&caller, &conversation(Some("s"), "hi"));
        let mut later = conversation(Some("s"), "hi");
        later.message = "and then?".into();
        assert_eq!(session_key(&caller, &later), first);
        assert_eq!(session_key(&caller, &conversation(None, "hi")), first, "instructions may change");
        for other in [
            session_key(&caller, &conversation(Some("s"), "hi there")),
            session_key(&headers(&[("authorization", "Bearer b")]), &conversation(Some("s"), "hi")),
            session_key(
                &headers(&[("authorization", "Bearer a"), ("x-openwebui-user-id", "u")]),
                &conversation(Some("s"), "hi"),
            ),
        ] {
            assert_ne!(other, first);
        }
    }

    #[test]
    fn temporary_chats_of_one_tab_are_told_apart() {
        let tab = headers(&[("x-chat", "temporary:QgVG")]);
        let one = session_key(&tab, &conversation(None, "temp one"));
        assert!(one.starts_with("temporary:"), "{one}");
        assert_ne!(session_key(&tab, &conversation(None, "temp two")), one);
        assert_eq!(session_key(&tab, &conversation(None, "temp one")), one);
    }
}
