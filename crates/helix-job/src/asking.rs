//! How questions move a phase: what is asked, and what an answer or its absence means.
//!
//! Must not know how a question reaches a person.

use std::time::Duration;

use jiff::Timestamp;

use super::attempt::{Check, GiveUp, PhaseContext};
use super::attempts::after_attempts;
use super::event::AdviceAction;
use super::illegal::Illegal;
use super::person::Person;
use super::phrases::{runs_by_itself, titled};
use super::state::{
    Active, AskedQuestion, Between, Dependents, LeftOutBy, PhaseProgress, PhaseState, PlannedBy, Stage,
};
use super::view::unfinished;
use crate::question::{
    ACCEPT, APPROVE, About, Answer, CHECK, FAIL, Question, QuestionOption, QuestionStatus, REJECT, RETRY, SKIP,
};
use helix_core::evidence::GateReport;
use helix_core::finding::{Finding, Verdict};
use helix_core::said::Words;
use helix_language::{ErrorView, RECORD, correction, finding, recorded, summed_up};
use helix_plan::{Approval, GateSpec, Phase, PhaseType};

/// Questions that the agents of one phase may ask; more is a loop.
pub const MAX_AGENT_QUESTIONS: usize = 5;

impl Active {
    /// Who approved last what a phase does, its beginning or its result, and when.
    pub fn approved_by(&self) -> Option<(&Person, Timestamp)> {
        self.pairs().filter_map(|(phase, progress)| progress.approved_by(phase)).max_by_key(|(_, at)| *at)
    }
}

impl PhaseProgress {
    fn approved_by(&self, phase: &Phase) -> Option<(&Person, Timestamp)> {
        let approves = |about: &About| match about {
            About::Approval { .. } => true,
            About::Gate { gate } => matches!(phase.gates.get(*gate), Some(GateSpec::Approval { .. })),
            About::RunsByItself { .. } | About::Escalation { .. } | About::Agent => false,
        };
        self.questions.iter().rev().filter(|asked| approves(&asked.question.about)).find_map(|asked| {
            match &asked.status {
                QuestionStatus::Answered { answer, at } if answer.choice.as_deref() == Some(APPROVE) => {
                    Some((&answer.by, *at))
                }
                QuestionStatus::Answered { .. }
                | QuestionStatus::Open
                | QuestionStatus::Expired { .. }
                | QuestionStatus::Closed => None,
            }
        })
    }

    /// What a gate asks. What an agent wrote is never read as Helix's own words.
    fn gate_words(&self, phase: &Phase, gate: usize) -> Words {
        let (asked, otherwise) = match phase.gates.get(gate) {
            Some(GateSpec::Manual { question }) => (question, recorded!("ask-gate-manual")),
            Some(GateSpec::Approval { question, .. }) => (question, recorded!("ask-gate-approval")),
            Some(_) | None => return recorded!("ask-gate-result", phase = phase.id.as_str()),
        };
        let (id, task) = (phase.id.as_str(), phase.description.trim());
        let step = match phase.kind {
            PhaseType::Manual => Some(recorded!("ask-manual", phase = id)),
            PhaseType::Decision => Some(recorded!("ask-decision", phase = id)),
            _ => None,
        };
        let by_agent = self.planned_by == PlannedBy::Agent && (asked.is_some() || step.is_some());
        let asked = match asked {
            // In lines that Helix's own never look like.
            words if by_agent => {
                let said = [step.is_some().then_some(task), words.as_deref()].into_iter().flatten();
                let lines = said.flat_map(|part| part.lines().chain([""])).map(|line| format!("> {line}\n"));
                recorded!("ask-gate-agent", question = lines.collect::<String>().trim_end_matches("> \n").trim_end())
            }
            words => {
                let asked = words.as_ref().map_or(otherwise, Words::from);
                if step.is_some() { Words::from(task).and("\n\n").and(asked) } else { asked }
            }
        };
        match step {
            Some(step) => step.and("\n\n").and(asked),
            None => recorded!("ask-gate", phase = titled(id, &phase.name), question = asked),
        }
    }

    /// The question that the phase waits to ask, if it does.
    pub(super) fn question(&self, phase: &Phase, about: &About, trouble: Option<&ErrorView>) -> Question {
        let (id, name) = (phase.id.as_str(), &phase.name);
        let (said, options) = match about {
            About::Approval { when: Approval::Before } => {
                let mut asked =
                    recorded!("ask-start", phase = titled(id, name)).and("\n\n").and(phase.description.trim());
                for delivery in phase.gates.iter().filter_map(GateSpec::delivery) {
                    let target = delivery.target.as_deref().unwrap_or(id);
                    let delivers = recorded!("ask-delivers", target = target, what = delivery.words());
                    asked = asked.and("\n\n").and(delivers);
                }
                (asked, yes_or_no(recorded!("option-start"), recorded!("option-no-start")))
            }
            About::Approval { when: Approval::After } => (
                recorded!("ask-accept", phase = titled(id, name))
                    .and("\n")
                    .and(recorded!("ask-accept-see", phase = id)),
                yes_or_no(recorded!("option-accept"), recorded!("option-send-back")),
            ),
            About::Gate { gate } => {
                (self.gate_words(phase, *gate), yes_or_no(recorded!("option-approve"), recorded!("option-reject")))
            }
            About::RunsByItself { files, .. } => (
                Words::default().and(runs_by_itself(RECORD, id, name, files)),
                yes_or_no(recorded!("option-let-in"), recorded!("option-leave-out")),
            ),
            About::Escalation { conflict } => (self.escalation(phase, trouble, *conflict), self.ways_out(phase)),
            About::Agent => (Words::default(), Vec::new()),
        };
        let approvers = match about {
            About::Gate { gate } => phase.gates.get(*gate).and_then(GateSpec::approvers),
            About::Approval { .. } | About::RunsByItself { .. } | About::Escalation { .. } | About::Agent => None,
        };
        let (number, text) = (self.questions.len() as u32 + 1, RECORD.words(&said));
        Question { number, about: about.clone(), text, said, options, free_text: true, approvers }
    }

    fn ways_out(&self, phase: &Phase) -> Vec<QuestionOption> {
        let skip = match phase.optional {
            true => recorded!("option-skip-optional"),
            false => recorded!("option-skip"),
        };
        let mut all = options([(RETRY, recorded!("option-retry"))]);
        if self.can_check() {
            all.extend(options([(CHECK, recorded!("option-check"))]));
        }
        if let Some(spec) = self.gate_to_accept(phase).and_then(|gate| phase.gates.get(gate)) {
            all.extend(options([(ACCEPT, recorded!("option-accept-unproved", gate = spec.name()))]));
        }
        all.extend(options([(SKIP, skip), (FAIL, recorded!("option-fail"))]));
        all
    }

    fn escalation(&self, phase: &Phase, trouble: Option<&ErrorView>, conflict: bool) -> Words {
        let (id, name) = (phase.id.as_str(), &phase.name);
        let stuck = match conflict {
            true => recorded!("ask-unmerged", phase = id),
            false => recorded!("ask-stuck", phase = titled(id, name)),
        };
        let attempts = after_attempts(self.counted_attempts(), self.granted_attempts(phase));
        let mut said = stuck.and(" ").and(attempts).and(".");
        if let Some(trouble) = trouble {
            said = said.and("\n\n").and(trouble.words());
        }
        for finding in self.last_findings().iter().take(FINDINGS_SHOWN) {
            let mut text = String::new();
            let shown = finding.evidence.iter().flat_map(|evidence| evidence.lines());
            let lines: Vec<&str> = shown.map(str::trim_end).filter(|line| !line.trim().is_empty()).collect();
            // What decides stands at the end of what a command prints.
            for line in lines.iter().skip(lines.len().saturating_sub(EVIDENCE_SHOWN)) {
                text.push_str(&format!("\n    {line}"));
            }
            let is_said = trouble.is_some_and(|why| finding.is_all_said_in(&why.words()));
            said = if is_said { said } else { said.and("\n- ").and(finding.placed()) };
            said = said.and(text);
        }
        if let Some(hint) =
            trouble.map(|trouble| unfinished(trouble.clone()).hint_words()).filter(|hint| !hint.is_empty())
        {
            said = said.and("\n").and(recorded!("hint", hint = hint));
        }
        let advice = self.advice.get(self.advice_epoch..).unwrap_or_default();
        for same in advice.chunk_by(|one, next| one.reason.trim() == next.reason.trim()) {
            let Some(first) = same.first() else { continue };
            let (times, reason) = (same.len(), first.words());
            let advice = match &first.action {
                AdviceAction::Unusable { .. } => recorded!("ask-no-advice", times = times, reason = reason),
                AdviceAction::Retry { .. }
                | AdviceAction::OtherModel { .. }
                | AdviceAction::Split { .. }
                | AdviceAction::Skip
                | AdviceAction::GiveUp => recorded!("ask-advice", times = times, reason = reason),
            };
            said = said.and("\n").and(advice);
        }
        said.and("\n\n").and(recorded!("ask-what"))
    }

    pub(super) fn question_asked(&mut self, context: &PhaseContext<'_>, question: &Question) -> Result<(), Illegal> {
        if context.cancelling {
            return Err(Illegal::CANCELLING);
        }
        let next = self.questions.len() as u32 + 1;
        if question.number != next {
            return Err(self.illegal(format!("has question {next} as its next one")));
        }
        match (&self.state, &question.about) {
            (PhaseState::Pending, About::Approval { when: Approval::Before }) if !self.approved => {
                self.state = PhaseState::Asking { about: question.about.clone(), trouble: None };
            }
            (PhaseState::Asking { about, .. }, asked) if about == asked && self.open_question().is_none() => {}
            (PhaseState::Working { stage: Stage::Agent }, About::Agent) => {
                if self.questions.iter().filter(|asked| asked.question.about == About::Agent).count()
                    >= MAX_AGENT_QUESTIONS
                {
                    return Err(self.illegal("has asked too many questions"));
                }
                if let Some(last) = self.attempts.last_mut() {
                    last.asked.push(question.number);
                }
            }
            _ => return Err(self.wrong_state()),
        }
        let pause = context.policy.question_seconds.map(Duration::from_secs);
        self.questions.push(AskedQuestion {
            question: question.clone(),
            at: context.at,
            expires_at: pause.and_then(|pause| context.at.checked_add(pause).ok()),
            approved_by: Vec::new(),
            status: QuestionStatus::Open,
        });
        Ok(())
    }

    pub(super) fn question_answered(
        &mut self,
        context: &PhaseContext<'_>,
        number: u32,
        answer: &Answer,
    ) -> Result<(), Illegal> {
        let id = self.id.clone();
        let asked = self.open(number)?;
        let accepted = asked.question.accepts(answer, context.submitter, &asked.approved_by);
        accepted.map_err(|source| Illegal::Answer { phase: id, number, source })?;
        let approves = answer.choice.as_deref() == Some(APPROVE);
        if let Some(approvers) = asked.question.approvers.filter(|_| approves) {
            asked.approved_by.push(answer.by.clone());
            if asked.approved_by.len() < approvers.count as usize {
                return Ok(());
            }
        }
        let approved_by = asked.approved_by.clone();
        asked.status = QuestionStatus::Answered { answer: answer.clone(), at: context.at };
        let about = asked.question.about.clone();
        let words = answer.text.as_deref().map(str::trim).filter(|text| !text.is_empty());
        match about {
            About::Approval { when: Approval::Before } if approves => {
                self.approved = true;
                self.state = PhaseState::Pending;
            }
            About::Approval { when: Approval::Before } => {
                let message = match words {
                    Some(words) => recorded!("cause-not-approved-because", by = &answer.by, why = words),
                    None => recorded!("cause-not-approved", by = &answer.by),
                };
                self.give_up(context, GiveUp::Environment, ErrorView::of_words(message, Words::default()));
            }
            About::Approval { when: Approval::After } if approves => self.check(context, Check::Nothing),
            About::Approval { when: Approval::After } => self.rejected_by_person(context, answer, words),
            About::RunsByItself { gate, files } if approves => {
                self.let_in.extend(files);
                self.check(context, gate.map_or(Check::Person, Check::Gate));
            }
            About::RunsByItself { files, .. } => self.not_let_in(context, answer, words, &files),
            About::Gate { gate } => {
                self.answer_gate(context, gate, answer, &approved_by, words);
                match approves {
                    true => self.check(context, Check::Gate(gate + 1)),
                    false => self.rejected_by_person(context, answer, words),
                }
            }
            About::Escalation { .. } => {
                let error = self.trouble();
                match answer.choice.as_deref() {
                    Some(CHECK) => self.check_again(context)?,
                    Some(ACCEPT) => self.accept(context, &answer.by, words.unwrap_or_default())?,
                    Some(RETRY) => self.try_with_hint(context, &error, words.unwrap_or_default()),
                    Some(SKIP) => {
                        let why = recorded!("cause-skipped-by", by = &answer.by, why = error.words());
                        let dependents = if context.phase.optional { Dependents::Run } else { Dependents::Skip };
                        self.state = PhaseState::Skipped { why, dependents, by: LeftOutBy::Person };
                    }
                    Some(_) | None => self.settle_failed(context, error),
                }
            }
            About::Agent => self.agents_question_settled(),
        }
        Ok(())
    }

    pub(super) fn question_expired(&mut self, context: &PhaseContext<'_>, number: u32) -> Result<(), Illegal> {
        let asked = self.open(number)?;
        match asked.expires_at {
            Some(expires) if expires <= context.at => {}
            Some(_) | None => return Err(self.illegal(format!("has question {number} still open"))),
        }
        asked.status = QuestionStatus::Expired { at: context.at };
        let hint = recorded!("cause-unanswered.hint");
        match asked.question.about.clone() {
            About::Approval { .. } | About::Gate { .. } | About::RunsByItself { .. } => {
                let message = recorded!("cause-unanswered", phase = self.id.as_str());
                self.give_up(context, GiveUp::Environment, ErrorView::of_words(message, hint));
            }
            About::Escalation { .. } => {
                let error = self.trouble();
                let message = recorded!("cause-undecided", why = error.words());
                self.settle_failed(context, ErrorView::of_words(message, hint));
            }
            About::Agent => self.agents_question_settled(),
        }
        Ok(())
    }

    /// Number of the same question, if the agent of the last try has asked it before: one that did not hear that it was asked,
    /// since the host died meanwhile, asks again. So does one that was told that nobody has answered.
    pub fn asked_before(&self, question: &Question) -> Option<u32> {
        let (last, before) = (self.asked_by_agent(), self.attempts.iter().rev().nth(1));
        let before = before.map(|before| before.asked.as_slice()).unwrap_or_default();
        let known = |asked: &&AskedQuestion| {
            let number = &asked.question.number;
            let expired = matches!(asked.status, QuestionStatus::Expired { .. });
            last.contains(number) || (expired && before.contains(number))
        };
        let same =
            |asked: &&AskedQuestion| asked.question.text == question.text && asked.question.options == question.options;
        self.questions.iter().filter(known).find(same).map(|asked| asked.question.number)
    }

    /// Numbers of the questions that the agent of the last try asked.
    pub(super) fn asked_by_agent(&self) -> &[u32] {
        self.attempts.last().map(|last| last.asked.as_slice()).unwrap_or_default()
    }

    /// After a try whose agent asked: on with the answers, or waiting for them.
    pub(super) fn wait_for_answers(&mut self) {
        self.state = PhaseState::Asking { about: About::Agent, trouble: None };
        self.agents_question_settled();
    }

    fn agents_question_settled(&mut self) {
        // While the agent still runs, its answers are kept until it has ended.
        if !matches!(self.state, PhaseState::Asking { about: About::Agent, .. }) || self.open_question().is_some() {
            return;
        }
        let (mut findings, mut summary) = (Vec::new(), recorded!("cause-no-answer"));
        for number in self.asked_by_agent() {
            let Some(asked) = self.questions.iter().find(|asked| asked.question.number == *number) else { continue };
            let message = match &asked.status {
                QuestionStatus::Answered { answer, .. } => {
                    summary = recorded!("cause-answered");
                    answered(&asked.question, answer)
                }
                QuestionStatus::Open | QuestionStatus::Expired { .. } | QuestionStatus::Closed => {
                    recorded!("result-not-answered")
                }
            };
            let evidence = Some(asked.question.text.clone());
            findings.push(Finding { evidence, ..finding("question.answer", message) });
        }
        let correction = correction(summary, findings);
        let resume = self.session();
        self.state = PhaseState::Between(Between { not_before: None, correction, resume });
    }

    fn rejected_by_person(&mut self, context: &PhaseContext<'_>, answer: &Answer, words: Option<&str>) {
        let why = words.map_or_else(|| recorded!("result-no-reason"), Words::from);
        let finding = finding("approval.rejected", why);
        let summary = recorded!("cause-not-accepted", by = &answer.by);
        self.gate_rejected(context, correction(summary, vec![finding]));
    }

    /// A person's answer as the answer of the gate that asks for it.
    fn answer_gate(
        &mut self,
        context: &PhaseContext<'_>,
        gate: usize,
        answer: &Answer,
        approved_by: &[Person],
        words: Option<&str>,
    ) {
        let name = context.phase.gates.get(gate).map_or("approval", |spec| spec.name());
        let because = |said: Words| match words {
            Some(words) => said.and(": ").and(words),
            None => said,
        };
        let (verdict, summary) = match answer.choice.as_deref() == Some(APPROVE) {
            true => {
                let others = approved_by.iter().filter(|one| **one != answer.by).map(ToString::to_string);
                let others = others.collect::<Vec<_>>().join(", ");
                let approved = match others.is_empty() {
                    true => recorded!("result-approved", by = &answer.by),
                    false => recorded!("result-approved-and", others = others, by = &answer.by),
                };
                (Verdict::Pass, because(approved))
            }
            false => {
                let message = because(recorded!("result-rejected", by = &answer.by));
                let finding = finding(&format!("{name}.rejected"), message.clone());
                (Verdict::Fail { findings: vec![finding] }, message)
            }
        };
        if let Some(this) = self.attempts.last_mut()
            && let Some(result) = &this.result
        {
            let report = GateReport::new(name, verdict, String::new(), result.tree.clone());
            this.gates.push(summed_up(report, summary));
        }
    }

    fn open(&mut self, number: u32) -> Result<&mut AskedQuestion, Illegal> {
        let open = |asked: &&mut AskedQuestion| asked.question.number == number && asked.status == QuestionStatus::Open;
        let answered = self.illegal(format!("has no open question {number}"));
        self.questions.iter_mut().find(open).ok_or(answered)
    }

    fn trouble(&self) -> ErrorView {
        match &self.state {
            PhaseState::Asking { trouble: Some(error), .. } => error.clone(),
            _ => ErrorView::of_words(recorded!("cause-stuck", phase = self.id.as_str()), Words::default()),
        }
    }
}

/// Findings that a question to a person shows.
const FINDINGS_SHOWN: usize = 5;
/// Lines of each finding's evidence that it shows.
const EVIDENCE_SHOWN: usize = 3;

fn answered(question: &Question, answer: &Answer) -> Words {
    let label = answer.choice.as_ref().map(|choice| {
        let option = question.options.iter().find(|option| &option.key == choice);
        option.map_or_else(|| choice.clone(), |option| option.label.clone())
    });
    let text = answer.text.as_deref().map(str::trim).filter(|text| !text.is_empty());
    let said: Vec<&str> = [label.as_deref(), text].into_iter().flatten().collect();
    recorded!("result-answer", by = &answer.by, answer = said.join(". "))
}

fn yes_or_no(yes: Words, no: Words) -> Vec<QuestionOption> {
    options([(APPROVE, yes), (REJECT, no)])
}

fn options<const N: usize>(all: [(&str, Words); N]) -> Vec<QuestionOption> {
    all.map(|(key, said)| QuestionOption { key: key.into(), label: RECORD.words(&said), said }).into()
}
