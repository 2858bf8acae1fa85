//! Reads server-sent events from a response, frame by frame. Must not know what the frames mean.

use reqwest::Response;

/// Longest frame that is accepted: an event of a job is far smaller.
const LONGEST_FRAME: usize = 64 * 1024 * 1024;

/// One frame.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Frame {
    /// `id:`.
    pub(crate) id: Option<String>,
    /// `event:`.
    pub(crate) event: Option<String>,
    /// `data:` lines, joined.
    pub(crate) data: String,
}

/// Why there is no further frame.
#[derive(Debug, thiserror::Error)]
pub(crate) enum FramesError {
    /// The connection broke.
    #[error("the connection to the host broke")]
    Broken(#[from] reqwest::Error),
    /// A frame without end.
    #[error("the host sends a frame of more than {LONGEST_FRAME} bytes")]
    TooLong,
}

/// The frames of a response.
#[derive(Debug)]
pub(crate) struct Frames {
    response: Response,
    buffer: Vec<u8>,
}

impl Frames {
    /// The frames of this response.
    pub(crate) fn new(response: Response) -> Self {
        Self { response, buffer: Vec::new() }
    }

    /// The next frame; `None` when the stream has ended in order. Comments are skipped.
    ///
    /// # Errors
    /// [`FramesError`].
    pub(crate) async fn next(&mut self) -> Result<Option<Frame>, FramesError> {
        loop {
            while let Some(frame) = take_frame(&mut self.buffer) {
                if let Some(frame) = frame {
                    return Ok(Some(frame));
                }
            }
            if self.buffer.len() > LONGEST_FRAME {
                return Err(FramesError::TooLong);
            }
            match self.response.chunk().await? {
                Some(chunk) => self.buffer.extend_from_slice(&chunk),
                None => return Ok(None),
            }
        }
    }
}

/// Takes the first whole frame off the buffer; the inner `None` is a frame without data.
fn take_frame(buffer: &mut Vec<u8>) -> Option<Option<Frame>> {
    let end = buffer.windows(2).position(|pair| pair == b"\n\n")?;
    let text: Vec<u8> = buffer.drain(..end + 2).collect();
    let mut frame = Frame::default();
    let mut lines = Vec::new();
    for line in String::from_utf8_lossy(&text).lines() {
        let (field, value) = line.split_once(':').unwrap_or((line, ""));
        let value = value.strip_prefix(' ').unwrap_or(value);
        match field {
            "id" => frame.id = Some(value.to_owned()),
            "event" => frame.event = Some(value.to_owned()),
            "data" => lines.push(value.to_owned()),
            // Comments and fields that mean nothing here.
            _ => {}
        }
    }
    frame.data = lines.join("\n");
    Some((!lines.is_empty()).then_some(frame))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn frames_are_taken_whole_and_comments_skipped() {
        let mut buffer = b": keep-alive\n\nid: 7\nevent: text\ndata: {\"a\":\ndata: 1}\n\ndata: half".to_vec();
        assert_eq!(take_frame(&mut buffer), Some(None));
        let frame = Frame { id: Some("7".into()), event: Some("text".into()), data: "{\"a\":\n1}".into() };
        assert_eq!(take_frame(&mut buffer), Some(Some(frame)));
        assert_eq!(take_frame(&mut buffer), None);
        assert_eq!(buffer, b"data: half");
    }
}
