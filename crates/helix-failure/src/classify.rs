//! Weighs facts and rules against each other and names the cause, with the line that says so and the evidence.
//!
//! Must not know a single tool: facts, readings and the table know them.

use std::cmp::Reverse;

use regex::Regex;
use serde::Serialize;

use super::cause::{self, Cause};
use super::facts::{self, FactFinding};
use super::lexicon::{DOUBTED, LIKELY, Lexicon};
use super::location::{Location, Locator};
use super::log::{LogSample, Stream};
use super::observation::{FailureObservation, Termination};
use super::own_check::OwnFindings;
use super::reading::{Forms, Mark, Prepared, prepare};
use super::rule::{Rule, RuleTableError, TABLE_VERSION};
use super::rules;
use super::verdict::{Blame, Category, RetryAdvice};

/// Bytes of a line that are read.
const READ: usize = 12 * 1024;

/// With fewer lines than this on standard error, the first of them is the script's own message.
const FEW: usize = 3;

/// Weight of a guess: its confidence stays below a half.
const GUESS: i32 = 22;

/// Weight up to which a rule is a net for messages of tools that no rule knows.
const WEAK: i32 = 24;

/// Likelihood from which words overrule such a rule.
const SURER: f64 = 0.6;

/// The same for heavier rules.
const CERTAIN: f64 = 0.9;

/// Weight up to which a rule knows a kind of message; beyond, it knows this one.
const KIND: i32 = 83;

/// Highest confidence of a guess.
const GUESSED: f64 = 0.49;

/// Weight up to which "an exception was raised" and "a test failed" explain nothing.
const UNSPECIFIC: i32 = 60;

/// Lines whose words are weighed, from the end.
const WEIGHED: usize = 60;

/// Words that are named as the reason of a guess.
const REASONS: usize = 3;

/// The line that names the cause.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct CauseLine {
    /// As it was written.
    pub text: String,
    pub stream: Stream,
    /// Number within the stream, from 1.
    pub number: u64,
}

/// Something else that it could have been.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Alternative {
    /// What decided: a rule's or a fact's name.
    pub decided_by: String,
    pub category: Category,
    pub cause: &'static str,
    pub score: i32,
    /// The line that it rests on.
    pub line: Option<CauseLine>,
}

/// Why it was decided so.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct ClassificationEvidence {
    /// Version of the rule table.
    pub table: u32,
    /// What decided: `rule:…`, `fact:…`, `words:…` (the words that weighed most) or `nothing`.
    pub decided_by: String,
    /// What else was considered, best first.
    pub alternatives: Vec<Alternative>,
}

/// The answer.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Classified {
    /// One of the contract's ten.
    pub category: Category,
    pub cause: &'static str,
    /// When to try again.
    pub retry: RetryAdvice,
    /// Whose move it is.
    pub blame: Blame,
    /// From 0 to 1; below a half: a guess.
    pub confidence: f64,
    /// The line that names the cause, if one does.
    pub cause_line: Option<CauseLine>,
    /// Places in files that the log names near the cause, nearest first.
    pub locations: Vec<Location>,
    pub evidence: ClassificationEvidence,
}

/// A rule's or fact's claim.
#[derive(Debug, Clone)]
struct Claim {
    decided_by: String,
    cause: &'static Cause,
    retry: Option<RetryAdvice>,
    blame: Option<Blame>,
    score: i32,
    /// Weight of the rule or fact, wherever it was found.
    priority: i32,
    /// How likely a guess is, if it is one of words.
    likely: Option<f64>,
    line: Option<usize>,
}

impl Claim {
    /// One without anything special.
    fn new(decided_by: impl Into<String>, cause: &'static Cause, score: i32, line: Option<usize>) -> Self {
        let decided_by = decided_by.into();
        Self { decided_by, cause, retry: None, blame: None, score, priority: score, likely: None, line }
    }

    /// Whether it says only that something went wrong.
    fn explains_nothing(&self) -> bool {
        let whatever = [&cause::UNEXPLAINED, &cause::NO_REASON].contains(&self.cause);
        whatever
            || self.decided_by == LINTER_FAILED
            || (self.cause == &cause::RUNTIME_EXCEPTION && self.priority <= UNSPECIFIC)
            || self.sums_up()
    }

    /// Whether it says only that a test failed.
    fn sums_up(&self) -> bool {
        self.cause == &cause::TEST_ASSERTION && (WEAK + 1..=UNSPECIFIC).contains(&self.priority)
    }
}

/// Weight of a finding of Helix's own that is quoted.
const OWN_WORDS: i32 = 99;

/// The line before the evidence of a finding, which is fenced.
const EVIDENCE_FOLLOWS: &str = "Evidence (tool output, data only):";

/// Where in a quoted finding a line is.
#[derive(Clone, Copy)]
enum Evidenced {
    No,
    Announced,
    /// Within a fence of so many backticks.
    Fenced(usize),
}

/// What says that a linter found something, where no rule knows its words.
const LINTER_FAILED: &str = "fact:a linter ended with 1";

/// Knows the table, compiled.
#[derive(Debug)]
pub struct Classifier {
    forms: Forms,
    locator: Locator,
    /// One automaton a rule: a common one for all has so many states that building them costs more than it saves.
    table: Vec<(&'static Rule, Regex)>,
    lexicon: Lexicon,
    own: OwnFindings,
}

impl Classifier {
    /// The classifier with all rules and the words learned from all labelled sets.
    ///
    /// # Errors
    /// When a pattern of the table is wrong; a test proves that none is.
    pub fn new() -> Result<Self, RuleTableError> {
        Self::with(rules::all(), Lexicon::shipped()?)
    }

    /// One with these rules and words, for measuring what they are worth.
    ///
    /// # Errors
    /// As [`Classifier::new`].
    pub fn with(rules: impl Iterator<Item = &'static Rule>, lexicon: Lexicon) -> Result<Self, RuleTableError> {
        let table: Result<Vec<_>, regex::Error> = rules.map(|rule| Ok((rule, Regex::new(&rule.expanded())?))).collect();
        Ok(Self { forms: Forms::new()?, locator: Locator::new()?, table: table?, lexicon, own: OwnFindings::new()? })
    }

    /// Classifies one failure. The same arguments give the same answer; no text makes it panic.
    pub fn classify(&self, observation: &FailureObservation, log: &LogSample) -> Classified {
        let mut lines = prepare(&self.forms, log);
        if facts::is_agent(observation) {
            self.set_aside_quoted(&mut lines);
        }
        let mut claims = self.rule_claims(observation, &lines);
        claims.extend(self.own_claims(observation, &lines));
        let textual = claims.clone();
        claims.extend(
            facts::findings(observation).into_iter().map(|finding| fact_claim(observation, finding, &textual, &lines)),
        );
        claims.extend(silence(observation, &lines));
        claims.sort_by_key(|claim| (Reverse(claim.score), claim.line.is_none(), claim.line));
        // A tool that reports only that a command failed passes on what the command said.
        let explains = |claim: &Claim| !claim.explains_nothing() && claim.priority > WEAK;
        if claims.first().is_some_and(|first| first.cause == &cause::NO_REASON)
            && let Some(at) = claims.iter().position(explains)
        {
            claims[..=at].rotate_right(1);
        }
        let said = match claims.first() {
            Some(first) if !first.explains_nothing() => self.overruled(&lines, first),
            first => self.guess(&lines, first),
        };
        claims.splice(0..0, said);
        let mut claims = claims.into_iter();
        let best = claims.next().unwrap_or_else(|| Claim::new("nothing", &cause::UNEXPLAINED, 0, None));
        self.answer(observation, &lines, best, claims.take(5).collect())
    }

    /// What Helix found is told to agents, who repeat it: it is not why their run failed.
    fn set_aside_quoted(&self, lines: &mut [Prepared<'_>]) {
        let mut evidence = Evidenced::No;
        for line in lines.iter_mut().filter(|line| line.mark != Mark::AgentResult) {
            let ticks = line.text.len() - line.text.trim_start_matches('`').len();
            let quoted = match evidence {
                Evidenced::Announced => {
                    evidence = if ticks >= 3 { Evidenced::Fenced(ticks) } else { Evidenced::No };
                    ticks >= 3
                }
                Evidenced::Fenced(fence) => {
                    if ticks >= fence {
                        evidence = Evidenced::No;
                    }
                    true
                }
                Evidenced::No => {
                    if line.text == EVIDENCE_FOLLOWS {
                        evidence = Evidenced::Announced;
                    }
                    self.own.has(&line.text)
                }
            };
            if quoted {
                line.mark = Mark::Noise;
            }
        }
    }

    /// Findings of Helix's own that somebody has put into a text.
    fn own_claims(&self, observation: &FailureObservation, lines: &[Prepared<'_>]) -> Option<Claim> {
        if facts::is_agent(observation) {
            return None;
        }
        let mut spoken = lines.iter().enumerate().filter(|(_, line)| !line.is_quiet());
        let (at, cause) = spoken.find_map(|(at, line)| Some((at, self.own.cause(readable(&line.text))?)))?;
        Some(Claim::new(format!("rule:helix.{}", cause.slug), cause, OWN_WORDS, Some(at)))
    }

    /// Every rule's best line.
    fn rule_claims(&self, observation: &FailureObservation, lines: &[Prepared<'_>]) -> Vec<Claim> {
        let table: Vec<_> = self.table.iter().filter(|(rule, _)| applies(rule, observation)).collect();
        let mut best: Vec<Option<(i32, usize)>> = vec![None; table.len()];
        for (at, line) in lines.iter().enumerate() {
            let bonus = match line.mark {
                Mark::Noise | Mark::Warning | Mark::AgentEvent | Mark::AgentContent => continue,
                Mark::Plain => 0,
                Mark::Heading => -45,
                Mark::Raised | Mark::AgentResult => 30,
                Mark::RaisedFirst => 32,
            };
            let text = readable(&line.text);
            for (index, (rule, pattern)) in table.iter().enumerate() {
                if !pattern.is_match(text) {
                    continue;
                }
                // Titles are what summaries are made of: rules for them lose little there.
                let bonus = if rule.priority < 50 { bonus.max(-3) } else { bonus };
                let score = rule.priority + bonus;
                // Of equal ones the first: later lines are consequences.
                if best[index].is_none_or(|(held, _)| score > held) {
                    best[index] = Some((score, at));
                }
            }
        }
        let claims = best.into_iter().zip(table).filter_map(|(best, (rule, _))| {
            best.map(|(score, line)| Claim {
                retry: rule.retry,
                blame: rule.blame,
                priority: rule.priority,
                ..Claim::new(format!("rule:{}", rule.id), rule.cause, score, Some(line))
            })
        });
        claims.collect()
    }

    fn answer(
        &self,
        observation: &FailureObservation,
        lines: &[Prepared<'_>],
        best: Claim,
        rest: Vec<Claim>,
    ) -> Classified {
        let line = best.line.map(|at| &lines[at]);
        let (cause, retry, blame) = axes(observation, &best);
        let written = |at: usize| CauseLine {
            text: lines[at].line.raw.clone(),
            stream: lines[at].line.stream,
            number: lines[at].line.number,
        };
        let runner_up = rest.iter().find(|claim| claim.cause.category != cause.category).map_or(0, |claim| claim.score);
        let sure = confidence(best.score, best.score - runner_up, cause.category);
        let confidence = match best.likely {
            Some(likely) => (likely.min(GUESSED) * 100.0).round() / 100.0,
            None if best.decided_by.starts_with("rule:") && self.doubts(cause.category, line) => sure.min(GUESSED),
            None => sure,
        };
        Classified {
            category: cause.category,
            cause: cause.slug,
            retry,
            blame,
            confidence,
            cause_line: best.line.map(written),
            locations: self.locator.near(lines, best.line),
            evidence: ClassificationEvidence {
                table: TABLE_VERSION,
                decided_by: best.decided_by,
                alternatives: rest
                    .into_iter()
                    .map(|claim| Alternative {
                        decided_by: claim.decided_by,
                        category: claim.cause.category,
                        cause: claim.cause.slug,
                        score: claim.score,
                        line: claim.line.map(written),
                    })
                    .collect(),
            },
        }
    }

    /// What the words of the log say, where the best claim is only that something went wrong.
    fn guess(&self, lines: &[Prepared<'_>], best: Option<&Claim>) -> Option<Claim> {
        let failed_test = best.is_some_and(Claim::sums_up);
        let raises = |line: &Prepared<'_>| matches!(line.mark, Mark::Raised | Mark::RaisedFirst);
        let speaks = |line: &Prepared<'_>| {
            let titled = line.mark == Mark::Heading && !failed_test;
            (titled || line.mark == Mark::Plain || raises(line)) && !line.text.is_empty()
        };
        let read = (0..lines.len()).rev().filter(|at| speaks(&lines[*at])).take(WEIGHED);
        let judged = read.map(|at| (at, self.lexicon.judge(&lines[at].text).best()));
        let (line, (category, likely)) = judged.max_by(|(_, (_, first)), (_, (_, second))| first.total_cmp(second))?;
        if likely < LIKELY {
            return None;
        }
        if let Some(best) = best.filter(|best| best.cause.category == category) {
            let line = best.line.filter(|_| best.cause == &cause::RUNTIME_EXCEPTION).or(Some(line));
            return Some(Claim { line, ..best.clone() });
        }
        Some(self.words_claim(lines, line, category, likely))
    }

    /// What the words of a line say, if a rule says something else and they are surer.
    fn overruled(&self, lines: &[Prepared<'_>], best: &Claim) -> Option<Claim> {
        let by_rule = best.decided_by.starts_with("rule:") && best.priority <= KIND;
        let line = best.line.filter(|at| by_rule && !lines[*at].text.is_empty())?;
        let likelihoods = self.lexicon.judge(&lines[line].text);
        let (category, _) = likelihoods.best();
        let likely = likelihoods.likelihood(category);
        let sure = if best.priority <= WEAK { SURER } else { CERTAIN };
        let differs = category != best.cause.category && likely >= sure;
        differs.then(|| self.words_claim(lines, line, category, likely))
    }

    fn words_claim(&self, lines: &[Prepared<'_>], line: usize, category: Category, likely: f64) -> Claim {
        let reasons = self.lexicon.reasons(&lines[line].text, category, REASONS).join(", ");
        let claim = Claim::new(format!("words:{reasons}"), cause::usual(category), GUESS, Some(line));
        Claim { likely: Some(likely), ..claim }
    }

    /// Whether the words of a line speak against what a rule says of it.
    fn doubts(&self, category: Category, line: Option<&Prepared<'_>>) -> bool {
        let message = line.map(|line| line.text.as_str()).filter(|text| !text.is_empty());
        category != Category::Unknown
            && message.is_some_and(|text| self.lexicon.judge(text).likelihood(category) < DOUBTED)
    }
}

/// The cause as the environment sees it, and whose move that makes it.
fn axes(observation: &FailureObservation, claim: &Claim) -> (&'static Cause, RetryAdvice, Blame) {
    let agent = facts::is_agent(observation);
    let mut cause = claim.cause;
    // What refuses a tool's connection is mostly a service on this machine that is not running.
    if cause == &cause::CONN_REFUSED && !agent {
        cause = &cause::SERVICE_DOWN;
    }
    let mut retry = claim.retry.unwrap_or(cause.retry);
    let mut blame = claim.blame.unwrap_or(cause.blame);
    let of_provider =
        [&cause::RATE_LIMITED, &cause::CONN_RESET, &cause::HTTP_5XX, &cause::REMOTE_DEADLINE, &cause::CONN_REFUSED];
    if agent && claim.blame != Some(Blame::Platform) && of_provider.contains(&cause) {
        blame = Blame::Provider;
    } else if !agent && blame == Blame::Provider {
        blame = Blame::Environment;
    }
    if observation.needs_person {
        retry = RetryAdvice::Human;
    } else if agent && observation.deadline_passed {
        retry = RetryAdvice::AfterChange;
    }
    (cause, retry, blame)
}

/// What of a line is looked at: nobody says what failed beyond this.
fn readable(text: &str) -> &str {
    text.get(..text.floor_char_boundary(READ)).unwrap_or(text)
}

fn applies(rule: &Rule, observation: &FailureObservation) -> bool {
    let of = |scope: &[&str], value: &str| scope.is_empty() || value.is_empty() || scope.contains(&value);
    let of_helix = rule.id.starts_with("helix.") && facts::is_agent(observation);
    !of_helix && of(rule.tools, &observation.tool) && of(rule.phases, &observation.phase)
}

/// A fact, with the best line that says the same.
fn fact_claim(
    observation: &FailureObservation,
    finding: FactFinding,
    textual: &[Claim],
    lines: &[Prepared<'_>],
) -> Claim {
    let supports = |claim: &&Claim| claim.cause.category == finding.cause.category && claim.score > 20;
    let support = textual.iter().filter(supports).max_by_key(|claim| claim.score);
    let said =
        lines.iter().rposition(|line| line.mark == Mark::AgentResult).or_else(|| last_word(finding.cause, lines));
    // Rights are only one of the reasons for which a thing does not run.
    let score = if finding.score == facts::CANNOT_RUN && support.is_none() { GUESS } else { finding.score };
    // The text may know the finer cause of the same kind.
    let cause = support
        .filter(|_| finding.score < 140 || finding.cause == &cause::DEADLINE)
        .map_or(finding.cause, |claim| claim.cause);
    let line = match observation.own_cause {
        // Each finding is a line, the first one first.
        Some(_) => lines.iter().position(|line| !line.text.is_empty()),
        None => support.and_then(|claim| claim.line).or(said),
    };
    Claim {
        retry: support.filter(|claim| claim.cause == cause).and_then(|claim| claim.retry),
        blame: support.filter(|claim| claim.cause == cause).and_then(|claim| claim.blame),
        ..Claim::new(format!("fact:{}", finding.fact), cause, score, line)
    }
}

/// What a process that crashed, or a shell that could not run it, wrote last.
fn last_word(cause: &'static Cause, lines: &[Prepared<'_>]) -> Option<usize> {
    let speaks = [&cause::RUNTIME_EXCEPTION, &cause::MISSING_COMMAND, &cause::PERMISSION_DENIED].contains(&cause);
    let last = || {
        lines.iter().rposition(|line| line.line.stream == Stream::Stderr && !line.text.is_empty() && !line.is_quiet())
    };
    speaks.then(last).flatten()
}

/// What it means that nothing is said.
fn silence(observation: &FailureObservation, lines: &[Prepared<'_>]) -> Option<Claim> {
    let claim = |cause, by: &str, score| Claim::new(by, cause, score, None);
    let events = lines.iter().any(|line| line.mark == Mark::AgentEvent);
    let told = observation.own_cause.is_some() || lines.iter().any(|line| line.mark == Mark::AgentResult);
    if let Some(content) = lines.iter().rposition(|line| line.mark == Mark::AgentContent) {
        let mut empty = claim(&cause::NO_RESULT, "fact:the agent saw no failure", 45);
        empty.line = Some(content);
        return Some(empty);
    }
    if facts::is_agent(observation) && !told && (events || lines.iter().all(|line| line.text.is_empty())) {
        return Some(claim(&cause::NO_RESULT, "fact:agent ended without a result", 45));
    }
    // A few words are the reason, in whatever words; those on standard error first.
    let spoken: Vec<usize> =
        (0..lines.len()).filter(|at| !lines[*at].text.is_empty() && !lines[*at].is_quiet()).collect();
    let errors: Vec<usize> = spoken.iter().copied().filter(|at| lines[*at].line.stream == Stream::Stderr).collect();
    let words = if errors.is_empty() { spoken } else { errors };
    let mut unexplained = match observation.termination {
        // What a linter says by its status is that it found something, in whatever words it tells of it.
        Termination::Exited { code: 1 } if observation.phase == "lint" => claim(&cause::LINT, LINTER_FAILED, 6),
        _ if words.is_empty() => claim(&cause::NO_REASON, "nothing", 5),
        _ => claim(&cause::UNEXPLAINED, "nothing", 5),
    };
    unexplained.line = words.first().copied().filter(|_| words.len() < FEW);
    Some(unexplained)
}

/// How sure: weight, and distance to the best claim of another kind.
fn confidence(score: i32, margin: i32, category: Category) -> f64 {
    let by_weight = (0.35 + f64::from(score) / 160.0).clamp(0.05, 0.98);
    let close = if margin < 3 && category != Category::Unknown { 0.55 } else { 1.0 };
    (by_weight * close * 100.0).round() / 100.0
}
