//! Identifiers as types, so that a run can never be passed where a job is meant.
//!
//! Must not know how ids are generated: randomness and time come from the caller.

/// Says why a text is not an identifier.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{kind} id {text:?} is not valid: {rule}")]
pub struct InvalidId {
    /// Which kind of id was expected, such as `phase`.
    pub kind: &'static str,
    pub text: String,
    /// The rule it breaks.
    pub rule: &'static str,
}

/// Defines types for texts of one form: the name, what it names, the check of the form, and the form in words.
#[macro_export]
macro_rules! text_id {
    ($($(#[$doc:meta])* $name:ident, $kind:literal, $valid:path, $rule:expr);+ $(;)?) => {$(
        $(#[$doc])*
        #[derive(
            Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash,
            serde::Serialize, serde::Deserialize, schemars::JsonSchema,
        )]
        #[serde(try_from = "String", into = "String")]
        #[schemars(with = "String")]
        pub struct $name(String);

        impl $name {
            /// Checks the form of the id.
            ///
            /// # Errors
            /// [`$crate::ids::InvalidId`] with the rule that the text breaks.
            pub fn new(text: impl Into<String>) -> Result<Self, $crate::ids::InvalidId> {
                let text = text.into();
                if $valid(&text) {
                    Ok(Self(text))
                } else {
                    Err($crate::ids::InvalidId { kind: $kind, text, rule: $rule })
                }
            }

            /// The id as text.
            pub fn as_str(&self) -> &str {
                &self.0
            }
        }

        impl TryFrom<String> for $name {
            type Error = $crate::ids::InvalidId;
            fn try_from(text: String) -> Result<Self, $crate::ids::InvalidId> {
                Self::new(text)
            }
        }

        impl From<$name> for String {
            fn from(id: $name) -> String {
                id.0
            }
        }

        impl std::str::FromStr for $name {
            type Err = $crate::ids::InvalidId;
            fn from_str(text: &str) -> Result<Self, $crate::ids::InvalidId> {
                Self::new(text)
            }
        }

        impl std::fmt::Display for $name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str(&self.0)
            }
        }
    )+};
}

/// Longest phase id: it is part of branch and directory names.
pub const MAX_PHASE_ID: usize = 64;

fn is_phase_id(text: &str) -> bool {
    let mut bytes = text.bytes();
    text.len() <= MAX_PHASE_ID
        && bytes.next().is_some_and(|b| b.is_ascii_lowercase() || b.is_ascii_digit())
        && bytes.all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'-')
}

fn is_opaque_id(text: &str) -> bool {
    (1..=128).contains(&text.len())
        && text.bytes().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'-' | b'.' | b'_'))
        && !text.starts_with('.')
}

fn is_object_id(text: &str) -> bool {
    matches!(text.len(), 40 | 64) && text.bytes().all(|b| b.is_ascii_hexdigit() && !b.is_ascii_uppercase())
}

const OPAQUE: &str = "use letters, digits, '-', '_' and '.'";

text_id! {
    /// A phase of a plan: `[a-z0-9][a-z0-9-]*`, at most [`MAX_PHASE_ID`] bytes, unique in its plan.
    PhaseId, "phase", is_phase_id,
        "use lower-case letters, digits and '-', starting with a letter or digit (at most 64)";
    /// A job: a plan being carried out. Sorts by time of submission.
    JobId, "job", is_opaque_id, OPAQUE;
    /// One execution of an agent process. Also the name of its run directory.
    RunId, "run", is_opaque_id, OPAQUE;
    /// A session with the Consultant. Random, never derived from what a client sends.
    SessionId, "session", is_opaque_id, OPAQUE;
    /// One user message and the agent's work on it.
    TurnId, "turn", is_opaque_id, OPAQUE;
    /// A session as the agent's own CLI names it; only ever obtained from what the agent announced or was told.
    AgentSessionId, "agent session", is_opaque_id, OPAQUE;
    /// Something only a person can answer. Names its job and phase.
    QuestionId, "question", is_opaque_id, OPAQUE;
    /// A git commit: 40 or 64 lower-case hexadecimal digits.
    CommitId, "commit", is_object_id, "a commit id has 40 or 64 lower-case hexadecimal digits";
    /// A git tree: 40 or 64 lower-case hexadecimal digits. Names what was validated.
    TreeId, "tree", is_object_id, "a tree id has 40 or 64 lower-case hexadecimal digits";
}

/// Crockford's base 32 in lower case: sorts as the number does and has no letters that look like digits.
const BASE32: &[u8; 32] = b"0123456789abcdefghjkmnpqrstvwxyz";

fn base32(mut value: u64, digits: usize) -> String {
    let mut out = vec![b'0'; digits];
    for slot in out.iter_mut().rev() {
        *slot = BASE32[(value & 31) as usize];
        value >>= 5;
    }
    String::from_utf8_lossy(&out).into_owned()
}

/// Makes the text of a time-sortable id: nine digits of Unix milliseconds and seven of `random` (35 bits).
fn sortable(prefix: &str, unix_millis: u64, random: u64) -> String {
    format!("{prefix}{}{}", base32(unix_millis, 9), base32(random, 7))
}

impl JobId {
    /// Makes a job id from the time of submission (Unix milliseconds) and random bits (35 are used).
    pub fn from_parts(unix_millis: u64, random: u64) -> Self {
        Self(sortable("j", unix_millis, random))
    }
}

impl SessionId {
    /// Makes a session id from the time of opening (Unix milliseconds) and random bits (35 are used).
    pub fn from_parts(unix_millis: u64, random: u64) -> Self {
        Self(sortable("s", unix_millis, random))
    }
}

impl TurnId {
    /// Names the turn with this number (from 1) of a session.
    pub fn nth(session: &SessionId, number: u32) -> Self {
        Self(format!("{session}.t{number}"))
    }
}

impl QuestionId {
    /// Names the question with this number (from 1) of a phase.
    pub fn nth(job: &JobId, phase: &PhaseId, number: u32) -> Self {
        Self(format!("{job}.{phase}.q{number}"))
    }

    /// The job, the phase and the number of the question in it.
    pub fn parts(&self) -> Option<(JobId, PhaseId, u32)> {
        let (rest, number) = self.0.rsplit_once(".q")?;
        let (job, phase) = rest.split_once('.')?;
        Some((JobId::new(job).ok()?, PhaseId::new(phase).ok()?, number.parse().ok()?))
    }
}

impl RunId {
    /// Names the agent run of an attempt. Deterministic, so that a restarted Helix finds the run instead of repeating it.
    pub fn for_attempt(job: &JobId, phase: &PhaseId, attempt: u32) -> Self {
        Self(format!("{job}.{phase}.{attempt}"))
    }

    /// Names the agent run of a reviewer: of the gate with this index, or of the phase's verifier; rounds count from 1.
    pub fn for_review(job: &JobId, phase: &PhaseId, attempt: u32, gate: Option<usize>, round: u32) -> Self {
        match gate {
            Some(gate) => Self(format!("{job}.{phase}.{attempt}.review-{gate}-{round}")),
            None => Self(format!("{job}.{phase}.{attempt}.verify-{round}")),
        }
    }

    /// Names the agent run that advises on a phase that cannot go on; rounds count from 1.
    pub fn for_advice(job: &JobId, phase: &PhaseId, round: u32) -> Self {
        Self(format!("{job}.{phase}.advice-{round}"))
    }

    /// Names the run of the commands of a job's gates, which run one at a time.
    pub fn for_gates(job: &JobId) -> Self {
        Self(format!("{job}.gate"))
    }

    /// The job and phase that a run of a job belongs to; `None` for runs of sessions.
    pub fn job_and_phase(&self) -> Option<(JobId, PhaseId)> {
        let (job, rest) = self.0.split_once('.')?;
        let phase = rest.split('.').next()?;
        if !job.starts_with('j') {
            return None;
        }
        Some((JobId::new(job).ok()?, PhaseId::new(phase).ok()?))
    }

    /// The session and the turn that a run of a session belongs to; `None` for runs of jobs.
    pub fn session_and_turn(&self) -> Option<(SessionId, TurnId)> {
        let (turn, _) = self.0.rsplit_once('.')?;
        let (session, _) = turn.split_once(".t").filter(|(session, _)| session.starts_with('s'))?;
        Some((SessionId::new(session).ok()?, TurnId::new(turn).ok()?))
    }

    /// Names the `try_number`th agent run (from 1) of a turn.
    pub fn for_turn(turn: &TurnId, try_number: u32) -> Self {
        Self(format!("{turn}.{try_number}"))
    }
}

#[cfg(test)]
#[path = "ids_test.rs"]
mod tests;
