//! Request options that agents cannot fulfil. They are refused, since the client would take the answer for what it asked.
//!
//! Must not know messages, nor forms of answers that some requests may have. Options that only shape an answer (temperature, seed, stop, token limits) are ignored.

use serde_json::Value;

use super::error::ApiError;
use super::field::Field;

/// Refuses what cannot be done in either form.
///
/// # Errors
/// [`ApiError`] with the field at fault.
pub(super) fn refuse(body: &Field<'_>) -> Result<(), ApiError> {
    let count = body.get("n");
    if count.value.is_some_and(|count| count.as_u64() != Some(1)) {
        return Err(count.refuse(format!("must be 1, not {}: a turn has one answer", count.shown())));
    }
    let logprobs = body.get("logprobs");
    if logprobs.value == Some(&Value::Bool(true)) {
        return Err(logprobs.refuse("is not supported: agents report no probabilities"));
    }
    let modalities = body.get("modalities");
    if modalities.items().any(|one| one.text() == Some("audio")) {
        return Err(modalities.refuse("audio is not supported: the Consultant answers in text"));
    }
    Ok(())
}

/// Refuses what cannot be done in the responses form.
///
/// # Errors
/// [`ApiError`] with the field at fault.
pub(super) fn refuse_of_responses(body: &Field<'_>) -> Result<(), ApiError> {
    let (conversation, background) = (body.get("conversation"), body.get("background"));
    if conversation.value.is_some() {
        let message = "is not supported: use `previous_response_id`, or send the earlier messages in `input`";
        return Err(conversation.refuse(message));
    }
    if background.value == Some(&Value::Bool(true)) {
        let message = "is not supported; a turn continues in the background when its client disconnects";
        return Err(background.refuse(message));
    }
    Ok(())
}

#[cfg(test)]
#[path = "unsupported_test.rs"]
mod tests;
