//! Evidence that leaves the machine: a statement of in-toto about a job. All of it but the job's events, what was looked up for them,
//! and who made it when, is derived from these; a reader derives it again and compares, so that nothing in it has to be believed.
//!
//! Must not judge: what the events prove is for the examiner to say.

use std::collections::BTreeMap;

use helix_core::ids::{CommitId, JobId, PhaseId, TreeId};
use helix_core::said::Words;
use helix_job::{Active, Event, JobEvent, JobState, Person, Recorded};
use helix_plan::{GateSpec, Phase, Verify};
use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use super::JobEvidence;
use super::envelope::{self, EvidenceKey, MAX_ENVELOPE, PublicKey, Unopened};
use super::examiner::Examiner;
use super::look::{Look, Seen, Witness};
use crate::error::EngineError;

const STATEMENT_TYPE: &str = "https://in-toto.io/Statement/v1";
const PREDICATE_TYPE: &str = "urn:helix:evidence:1";

/// What is stated of a job.
#[derive(Debug, Serialize)]
pub struct Statement {
    #[serde(rename = "_type")]
    kind: &'static str,
    subject: Vec<Subject>,
    #[serde(rename = "predicateType")]
    predicate_type: &'static str,
    predicate: Predicate,
}

/// What it is about: the merged commit and its tree, where there are any, and always the record of the job.
#[derive(Debug, Serialize)]
struct Subject {
    name: &'static str,
    digest: BTreeMap<&'static str, String>,
}

#[derive(Debug, Serialize)]
struct Predicate {
    #[serde(flatten)]
    source: Source,
    proved: bool,
    #[serde(with = "helix_language::english")]
    lacking: Vec<Words>,
    base: GitState,
    submitted_by: Option<Person>,
    /// SHA-256 of the plan as JSON, as the first event has it.
    plan_sha256: String,
    /// SHA-256 of the files that the gates' commands read to decide, by path, at submit.
    closure: BTreeMap<String, String>,
    phases: Vec<Definition>,
    /// SHA-256 over all events, each over the one before.
    head: String,
    evidence: JobEvidence,
}

/// What nothing else follows from: the rest of the statement follows from this.
#[derive(Debug, Serialize, Deserialize)]
struct Source {
    /// Version of Helix.
    helix: String,
    made_at: Timestamp,
    job: JobId,
    /// What the evidence names, as it was found when the statement was made.
    seen: Seen,
    /// All events of the job, numbered from 1.
    events: Vec<EventText>,
}

/// An event as the journal has it.
#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct EventText {
    at: Timestamp,
    /// The event, JSON.
    body: String,
}

#[derive(Debug, Serialize)]
struct GitState {
    commit: CommitId,
    tree: Option<TreeId>,
}

/// What a phase was asked to pass, and who worked on it.
#[derive(Debug, Serialize)]
struct Definition {
    phase: PhaseId,
    agent: String,
    model: Option<String>,
    verify: Option<Verify>,
    gates: Vec<GateDefinition>,
}

#[derive(Debug, Serialize)]
struct GateDefinition {
    definition: GateSpec,
    /// SHA-256 of the definition as JSON.
    sha256: String,
}

impl Statement {
    /// What a job's events prove by what a look at their evidence finds.
    fn derive(source: Source, look: &dyn Look) -> Result<(Self, JobState), EngineError> {
        let events = source
            .events
            .iter()
            .zip(1..)
            .map(|(text, number)| JobEvent::read(&text.body).map(|event| Recorded { number, at: text.at, event }));
        let events: Vec<Recorded<JobEvent>> = events.collect::<Result<_, _>>().map_err(EngineError::refused)?;
        let contradicts = |error| EngineError::Contradiction { job: source.job.clone(), source: Box::new(error) };
        let state = JobState::fold(&events).map_err(contradicts)?;
        let active = state.active().ok_or_else(|| EngineError::not_found("job", &source.job))?;
        let witness = Witness::new(look);
        let evidence = Examiner { look: &witness }.job(&source.job, &state, active)?;
        let head = head(&source.job, &source.events);
        let base = GitState { tree: witness.tree(&evidence.base), commit: evidence.base.clone() };
        let subject = subjects(&evidence, &head, &witness);
        let predicate = Predicate {
            proved: evidence.proved,
            lacking: evidence.lacking.clone(),
            base,
            submitted_by: active.spec.by.clone(),
            plan_sha256: digest_of(&active.spec.plan)?,
            closure: active.spec.gate_files.clone(),
            phases: active.pairs().map(|(phase, _)| definition(active, phase)).collect::<Result<_, _>>()?,
            head,
            evidence,
            source: Source { seen: witness.seen(), ..source },
        };
        Ok((Self { kind: STATEMENT_TYPE, subject, predicate_type: PREDICATE_TYPE, predicate }, state))
    }

    /// The statement of what a look finds now, of all events of a job with their times.
    pub(super) fn made(
        job: JobId,
        events: Vec<(Timestamp, String)>,
        helix: &str,
        look: &dyn Look,
    ) -> Result<Self, EngineError> {
        let events = events.into_iter().map(|(at, body)| EventText { at, body }).collect();
        let source = Source { helix: helix.to_owned(), made_at: Timestamp::now(), job, seen: Seen::default(), events };
        Self::derive(source, look).map(|(statement, _)| statement)
    }

    /// The statement in an envelope with a signature, as the text of a file.
    ///
    /// # Errors
    /// [`EngineError::Refused`]: it is too large.
    pub fn signed(&self, key: &EvidenceKey) -> Result<String, EngineError> {
        let payload = serde_json::to_vec(self).map_err(EngineError::environment)?;
        let text = key.seal(&payload).map_err(EngineError::environment)?;
        match text.len() > MAX_ENVELOPE {
            true => Err(EngineError::refused(format!("the bundle is larger than {} MiB", MAX_ENVELOPE >> 20))),
            false => Ok(text),
        }
    }

    /// What is proved of the job, and what is not.
    pub fn evidence(&self) -> &JobEvidence {
        &self.predicate.evidence
    }

    /// The tree of the commit from which the job started.
    pub fn base_tree(&self) -> Option<&TreeId> {
        self.predicate.base.tree.as_ref()
    }

    /// SHA-256 over the files of the integrated result.
    pub fn content(&self) -> Option<&str> {
        self.subject.iter().find(|one| one.name == TREE)?.digest.get("sha256").map(String::as_str)
    }

    /// SHA-256 over all events of the job.
    pub fn head(&self) -> &str {
        &self.predicate.head
    }

    pub fn made_at(&self) -> Timestamp {
        self.predicate.source.made_at
    }
}

const TREE: &str = "tree";

fn subjects(evidence: &JobEvidence, head: &str, look: &dyn Look) -> Vec<Subject> {
    let mut all = Vec::new();
    if let Some(done) = &evidence.integration {
        all.push(Subject { name: "commit", digest: [("gitCommit", done.result.commit.to_string())].into() });
        let mut digest: BTreeMap<_, _> = [("gitTree", done.result.tree.to_string())].into();
        digest.extend(look.content(&done.result.tree).map(|content| ("sha256", content)));
        all.push(Subject { name: TREE, digest });
    }
    all.push(Subject { name: "record", digest: [("sha256", head.to_owned())].into() });
    all
}

fn definition(active: &Active, phase: &Phase) -> Result<Definition, EngineError> {
    let gates =
        phase.gates.iter().map(|gate| Ok(GateDefinition { definition: gate.clone(), sha256: digest_of(gate)? }));
    Ok(Definition {
        phase: phase.id.clone(),
        agent: phase.agent.clone().unwrap_or_else(|| active.spec.default_agent.clone()),
        model: phase.model.clone(),
        verify: phase.verify.clone(),
        gates: gates.collect::<Result<_, EngineError>>()?,
    })
}

fn digest_of(value: &impl Serialize) -> Result<String, EngineError> {
    let text = serde_json::to_vec(value).map_err(EngineError::environment)?;
    Ok(format!("{:x}", Sha256::digest(text)))
}

/// Begins with the job's id; each event's digest covers, line by line, the one before, the event's number, its time and its text.
fn head(job: &JobId, events: &[EventText]) -> String {
    let mut head = job.to_string();
    for (number, EventText { at, body }) in (1_u64..).zip(events) {
        head = format!("{:x}", Sha256::digest(format!("{head}\n{number}\n{at}\n{body}")));
    }
    head
}

/// Why a bundle is not what it has to be.
#[derive(Debug, thiserror::Error)]
pub enum BundleError {
    /// It cannot be read as a bundle.
    #[error("this is not a bundle of evidence: {why}")]
    Form { why: String },
    /// A signature is not valid.
    #[error("the bundle is not signed as it says: {why}")]
    Signature { why: String },
    /// Nobody has said that these keys may be believed.
    #[error("the signature is valid, but of a key that you have not named: {}", .keys.join(", "))]
    Unknown { keys: Vec<String> },
    /// The statement contradicts itself.
    #[error("what the bundle says does not follow from the job's events in it: {why}")]
    Contents {
        why: String,
        /// The version of Helix that made it.
        helix: String,
    },
}

/// A bundle that holds: signed by a known key, and all that it says follows from the events in it.
pub struct Verified {
    pub statement: Statement,
    /// The job as the events tell it.
    pub state: JobState,
    /// The known key that has signed it.
    pub key: PublicKey,
}

/// Checks a bundle by itself.
///
/// # Errors
/// [`BundleError`].
pub fn verify(text: &[u8], known: &[PublicKey]) -> Result<Verified, BundleError> {
    let opened = envelope::open(text).map_err(|error| match error {
        Unopened::Form(why) => BundleError::Form { why },
        Unopened::Signature(why) => BundleError::Signature { why },
    })?;
    let Some(key) = opened.signers.iter().find(|key| known.contains(key)) else {
        return Err(BundleError::Unknown { keys: opened.signers.iter().map(ToString::to_string).collect() });
    };
    let Heading { kind, predicate_type } = read(&opened.payload)?;
    if kind != STATEMENT_TYPE || predicate_type != PREDICATE_TYPE {
        let why = format!("it states {predicate_type:?} as {kind:?}, not {PREDICATE_TYPE} as {STATEMENT_TYPE}");
        return Err(BundleError::Form { why });
    }
    let Body { predicate: source } = read(&opened.payload)?;
    let (helix, seen) = (source.helix.clone(), source.seen.clone());
    let contents = |why: String| BundleError::Contents { why, helix: helix.clone() };
    let (statement, state) =
        Statement::derive(source, &seen).map_err(|error| contents(helix_core::error_chain(&error)))?;
    let derived = serde_json::to_vec(&statement).map_err(|error| contents(error.to_string()))?;
    if derived != opened.payload {
        return Err(contents(difference(&derived, &opened.payload)));
    }
    Ok(Verified { statement, state, key: key.clone() })
}

#[derive(Deserialize)]
struct Heading {
    #[serde(rename = "_type")]
    kind: String,
    #[serde(rename = "predicateType")]
    predicate_type: String,
}

#[derive(Deserialize)]
struct Body {
    predicate: Source,
}

fn read<'a, T: Deserialize<'a>>(payload: &'a [u8]) -> Result<T, BundleError> {
    serde_json::from_slice(payload).map_err(|error| BundleError::Form { why: format!("its payload: {error}") })
}

/// Where a text first differs from the one that it has to be, with some of what comes before and after.
fn difference(derived: &[u8], given: &[u8]) -> String {
    const AROUND: usize = 60;
    let at = derived.iter().zip(given).take_while(|(one, other)| one == other).count();
    let shown = |text: &[u8]| {
        let part = text.get(at.saturating_sub(AROUND)..text.len().min(at + AROUND)).unwrap_or_default();
        String::from_utf8_lossy(part).into_owned()
    };
    format!("at byte {at} it says {:?}, and {:?} follows", shown(given), shown(derived))
}
