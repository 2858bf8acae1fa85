//! Gates in their order of cost, and gates by default.
//!
//! Must not know how they are read; parser, schema and docs take their lists from here.

use super::model::{GateCost, GateSpec, PhaseType};

impl PhaseType {
    /// The gates of a phase of this type that names none.
    pub fn default_gates(self) -> DefaultGates {
        use DefaultGate::{Approval, FilesExist, Manual, OutputsClaimed, ReviewApproved, SyntaxCheck};
        let (gates, own): (&'static [DefaultGate], Option<&'static str>) = match self {
            Self::Consultant | Self::Planning | Self::Feasibility | Self::Research | Self::Documentation => {
                (&[FilesExist, OutputsClaimed], None)
            }
            Self::Development => (&[SyntaxCheck, OutputsClaimed], None),
            Self::Review => (&[ReviewApproved], None),
            Self::Decision => (&[Approval], None),
            Self::Manual => (&[Manual], None),
            Self::Test => (&[], Some("tests_pass")),
            Self::Deploy => (&[], Some("deploy_success")),
            Self::Integration => (&[], Some("integration_pass")),
        };
        DefaultGates { gates, own }
    }
}

/// What proves a phase that names no gates.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DefaultGates {
    /// The gates that are used.
    pub gates: &'static [DefaultGate],
    /// The gate that the author must write, because only they know its command.
    pub own: Option<&'static str>,
}

/// A gate that needs no parameters from the author.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DefaultGate {
    /// `files_exist` of the outputs; only for phases with outputs.
    FilesExist,
    /// `outputs_claimed`; only for phases with outputs.
    OutputsClaimed,
    /// `syntax_check` of every changed file.
    SyntaxCheck,
    /// `review_approved` by the configured reviewer.
    ReviewApproved,
    /// `approval` by a person.
    Approval,
    /// `manual` work by a person.
    Manual,
}

impl DefaultGate {
    pub fn spec(self) -> GateSpec {
        match self {
            Self::FilesExist => GateSpec::FilesExist { files: Vec::new() },
            Self::OutputsClaimed => GateSpec::OutputsClaimed { strict: false },
            Self::SyntaxCheck => GateSpec::SyntaxCheck { files: Vec::new() },
            Self::ReviewApproved => GateSpec::ReviewApproved { model: None },
            Self::Approval => GateSpec::Approval { question: None },
            Self::Manual => GateSpec::Manual { question: None },
        }
    }

    /// Whether it can check anything only where outputs are claimed.
    pub fn needs_outputs(self) -> bool {
        match self {
            Self::FilesExist | Self::OutputsClaimed => true,
            Self::SyntaxCheck | Self::ReviewApproved | Self::Approval | Self::Manual => false,
        }
    }
}

/// The table of default gates as Markdown, for `docs/plan.md`.
pub fn default_gates_markdown() -> String {
    let mut out = String::from("| type | gates when `gates` is absent |\n|---|---|\n");
    for kind in PhaseType::ALL {
        let default = kind.default_gates();
        let mut cells: Vec<String> = Vec::new();
        for gate in default.gates {
            let condition = if gate.needs_outputs() { " (with `outputs`)" } else { "" };
            cells.push(format!("`{}`{condition}", gate.spec().name()));
        }
        if let Some(own) = default.own {
            cells.push(format!("none: write `{own}` with its command"));
        }
        out.push_str(&format!("| `{}` | {} |\n", kind.word(), cells.join(", ")));
    }
    out
}

/// The gates of a phase that lists these, in the order in which they run: declared outputs are checked whatever is listed.
pub(super) fn gates_of_phase(mut listed: Vec<GateSpec>, has_outputs: bool) -> Vec<GateSpec> {
    if has_outputs && !listed.iter().any(|gate| matches!(gate, GateSpec::OutputsClaimed { .. })) {
        listed.push(DefaultGate::OutputsClaimed.spec());
    }
    in_order_of_cost(listed)
}

/// Puts gates into the order in which they run.
///
/// Reading gates come first. The others go by cost too, but none crosses a gate that asks a person or acts outside the
/// repository: what the author put behind an approval stays behind it. Otherwise the author's order is kept.
pub fn in_order_of_cost(gates: Vec<GateSpec>) -> Vec<GateSpec> {
    let mut stretch = 1;
    let mut keyed: Vec<((u32, GateCost), GateSpec)> = Vec::with_capacity(gates.len());
    for gate in gates {
        let cost = gate.cost();
        keyed.push((if cost == GateCost::Reading { (0, cost) } else { (stretch, cost) }, gate));
        if cost == GateCost::Outside {
            stretch += 1;
        }
    }
    keyed.sort_by_key(|(key, _)| *key);
    keyed.into_iter().map(|(_, gate)| gate).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Seconds;

    fn names(gates: Vec<GateSpec>) -> Vec<&'static str> {
        in_order_of_cost(gates).iter().map(GateSpec::name).collect()
    }

    fn tests() -> GateSpec {
        GateSpec::TestsPass { command: "pytest".into(), timeout: Seconds(60) }
    }

    fn deploy() -> GateSpec {
        GateSpec::DeploySuccess(crate::Delivery::of_command("deploy"))
    }

    #[test]
    fn cheap_gates_come_first_and_paid_ones_late() {
        let review = GateSpec::ReviewApproved { model: None };
        let syntax = GateSpec::SyntaxCheck { files: vec![] };
        let claimed = GateSpec::OutputsClaimed { strict: false };
        assert_eq!(
            names(vec![review, tests(), syntax, claimed]),
            ["syntax_check", "outputs_claimed", "tests_pass", "review_approved"]
        );
    }

    #[test]
    fn nothing_overtakes_an_approval() {
        let approval = || GateSpec::Approval { question: None };
        assert_eq!(names(vec![approval(), tests()]), ["approval", "tests_pass"]);
        assert_eq!(names(vec![tests(), approval(), deploy()]), ["tests_pass", "approval", "deploy_success"]);
        assert_eq!(names(vec![deploy(), approval()]), ["deploy_success", "approval"]);
        assert_eq!(names(vec![deploy(), tests()]), ["deploy_success", "tests_pass"]);
    }
}
