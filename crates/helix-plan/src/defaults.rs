//! Gates in their order of cost, and gates by default.
//!
//! Must not know how they are read; parser, schema and docs take their lists from here.

use super::model::{GateCost, GateSpec, PhaseType};

impl PhaseType {
    /// The gates of a phase of this type that names none; those about claims only check anything where there are outputs.
    pub(super) fn default_gates(self) -> Vec<GateSpec> {
        let claimed = GateSpec::OutputsClaimed { strict: false };
        match self {
            Self::Consultant | Self::Planning | Self::Feasibility | Self::Research | Self::Documentation => {
                vec![GateSpec::FilesExist { files: Vec::new() }, claimed]
            }
            Self::Development => vec![GateSpec::SyntaxCheck { files: Vec::new() }, claimed],
            Self::Review => vec![GateSpec::ReviewApproved { model: None }],
            Self::Decision => vec![GateSpec::approval(None)],
            Self::Manual => vec![GateSpec::Manual { question: None }],
            Self::Test | Self::Deploy | Self::Integration => Vec::new(),
        }
    }

    /// The default gates that have something to check in a phase with or without outputs.
    pub(super) fn useful_default_gates(self, has_outputs: bool) -> Vec<GateSpec> {
        self.default_gates().into_iter().filter(|gate| has_outputs || !gate.is_about_claims()).collect()
    }

    /// The gate that the author must write where none is named, because only they know its command.
    pub(super) fn own_gate(self) -> Option<&'static str> {
        match self {
            Self::Test => Some("tests_pass"),
            Self::Deploy => Some("deploy_success"),
            Self::Integration => Some("integration_pass"),
            _ => None,
        }
    }
}

/// The table of default gates as Markdown, for `docs/plan.md`.
pub fn default_gates_markdown() -> String {
    let mut out = String::from("| type | gates when `gates` is absent |\n|---|---|\n");
    for kind in PhaseType::ALL {
        let mut cells: Vec<String> = Vec::new();
        for gate in kind.default_gates() {
            let condition = if gate.is_about_claims() { " (with `outputs`)" } else { "" };
            cells.push(format!("`{}`{condition}", gate.name()));
        }
        cells.extend(kind.own_gate().map(|own| format!("none: write `{own}` with its command")));
        out.push_str(&format!("| `{}` | {} |\n", kind.word(), cells.join(", ")));
    }
    out
}

/// The gates of a phase that lists these, in the order in which they run: declared outputs are checked whatever is listed.
pub(super) fn gates_of_phase(mut listed: Vec<GateSpec>, has_outputs: bool) -> Vec<GateSpec> {
    if has_outputs && !listed.iter().any(|gate| matches!(gate, GateSpec::OutputsClaimed { .. })) {
        listed.push(GateSpec::OutputsClaimed { strict: false });
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
#[path = "defaults_test.rs"]
mod tests;
