//! The command line of the embedded agent.
//!
//! Must not read files or the environment.

use std::path::PathBuf;

use helix_core::ids::AgentSessionId;

/// Which take is played where.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Play {
    pub(super) cassette: PathBuf,
    /// Where sessions are kept.
    pub(super) sessions: PathBuf,
    /// Name of the session afterwards.
    pub(super) session: AgentSessionId,
    /// The session that it continues.
    pub(super) resume: Option<AgentSessionId>,
    /// Key of the take.
    pub(super) key: String,
    /// Number of the take; the session's count where absent.
    pub(super) take: Option<u32>,
    /// Milliseconds between fragments; the cassette's where absent.
    pub(super) pause_ms: Option<u64>,
    /// The Helix program that `{{helix}}` stands for; this program where absent.
    pub(super) helix: Option<PathBuf>,
}

impl Play {
    /// Reads the arguments after the program's (and subcommand's) own name.
    pub(super) fn parse(args: &[String]) -> Result<Self, String> {
        let mut given: [(&str, Option<String>); 8] =
            ["--cassette", "--sessions", "--session", "--resume", "--key", "--take", "--pause-ms", "--helix"]
                .map(|name| (name, None));
        let mut rest = args.iter();
        while let Some(name) = rest.next() {
            let Some((_, slot)) = given.iter_mut().find(|(known, _)| known == name) else {
                return Err(format!("unknown argument {name:?}"));
            };
            *slot = Some(rest.next().ok_or_else(|| format!("{name} needs a value"))?.clone());
        }
        let [cassette, sessions, session, resume, key, take, pause_ms, helix] = given.map(|(_, value)| value);
        let id = |text: String| AgentSessionId::new(text).map_err(|error| error.to_string());
        let resume = resume.map(id).transpose()?;
        let session = match session {
            Some(session) => id(session)?,
            None => resume.clone().ok_or("--session or --resume is missing")?,
        };
        Ok(Self {
            cassette: cassette.ok_or("--cassette is missing")?.into(),
            sessions: sessions.ok_or("--sessions is missing")?.into(),
            session,
            resume,
            key: key.unwrap_or_else(|| "*".to_owned()),
            take: number(take, "--take")?,
            pause_ms: number(pause_ms, "--pause-ms")?,
            helix: helix.map(PathBuf::from),
        })
    }
}

fn number<N: std::str::FromStr>(text: Option<String>, name: &str) -> Result<Option<N>, String> {
    let read = |text: String| text.parse().map_err(|_| format!("{name} {text:?} is not a number"));
    text.map(read).transpose()
}
