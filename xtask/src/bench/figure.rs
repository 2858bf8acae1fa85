//! A measured figure, the bare work that it is compared with, and the bar that it has to reach.
//!
//! Must not know how anything is measured.

use serde_json::{Value, json};

/// One row of the table.
#[derive(Debug, Clone)]
pub(crate) struct Figure {
    pub(crate) name: String,
    pub(crate) value: f64,
    /// The same without Helix, in the same run.
    pub(crate) bare: Option<f64>,
    pub(crate) unit: &'static str,
    /// What it has to reach.
    pub(crate) bar: Bar,
    /// What a reader has to know to understand it.
    pub(crate) note: String,
}

/// What a figure has to reach.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Bar {
    /// Nothing: it is shown for orientation.
    None,
    /// So much or less.
    AtMost(f64),
    /// At most so much more than the bare work.
    AboveBareAtMost(f64),
    /// At most so many times the bare work.
    TimesBareAtMost(f64),
    /// So much or more, or this share of the bare work or more.
    AtLeastOrShare(f64, f64),
}

/// Whether a figure reaches its bar.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Verdict {
    Met,
    Missed,
    /// There is no bar.
    Open,
}

impl Figure {
    /// A figure without bar, bare work and note.
    pub(crate) fn new(name: impl Into<String>, value: f64, unit: &'static str) -> Self {
        Self { name: name.into(), value, bare: None, unit, bar: Bar::None, note: String::new() }
    }

    /// Names the bare work.
    pub(crate) fn beside(self, bare: f64) -> Self {
        Self { bare: Some(bare), ..self }
    }

    pub(crate) fn bar(self, bar: Bar) -> Self {
        Self { bar, ..self }
    }

    pub(crate) fn note(self, note: impl Into<String>) -> Self {
        Self { note: note.into(), ..self }
    }

    /// Value by bare work.
    pub(crate) fn ratio(&self) -> Option<f64> {
        self.bare.filter(|bare| *bare > 0.0).map(|bare| self.value / bare)
    }

    /// Whether it reaches its bar. A bar that compares with bare work which was not measured is missed.
    pub(crate) fn verdict(&self) -> Verdict {
        let met = match self.bar {
            Bar::None => return Verdict::Open,
            Bar::AtMost(most) => self.value <= most,
            Bar::AboveBareAtMost(most) => self.bare.is_some_and(|bare| self.value - bare <= most),
            Bar::TimesBareAtMost(most) => self.ratio().is_some_and(|ratio| ratio <= most),
            Bar::AtLeastOrShare(least, share) => {
                self.value >= least || self.ratio().is_some_and(|ratio| ratio >= share)
            }
        };
        if met { Verdict::Met } else { Verdict::Missed }
    }

    pub(crate) fn json(&self) -> Value {
        json!({
            "name": self.name, "value": rounded(self.value), "bare": self.bare.map(rounded), "unit": self.unit,
            "ratio": self.ratio().map(rounded), "bar": self.bar.text(self.unit), "verdict": self.verdict().text(),
            "note": self.note,
        })
    }
}

impl Bar {
    fn text(self, unit: &str) -> String {
        match self {
            Self::None => String::new(),
            Self::AtMost(most) => format!("≤ {most} {unit}"),
            Self::AboveBareAtMost(most) => format!("≤ bare + {most} {unit}"),
            Self::TimesBareAtMost(most) => format!("≤ {most} × bare"),
            Self::AtLeastOrShare(least, share) => format!("≥ {least} {unit} or ≥ {:.0} % of bare", share * 100.0),
        }
    }
}

impl Verdict {
    fn text(self) -> &'static str {
        match self {
            Self::Met => "met",
            Self::Missed => "MISSED",
            Self::Open => "",
        }
    }
}

/// The figures as a Markdown table, for the terminal and for `docs/performance.md`.
pub(crate) fn table(figures: &[Figure]) -> String {
    let header = ["figure", "Helix", "bare work", "ratio", "bar", "", "note"].map(str::to_owned);
    let rows = figures.iter().map(|figure| {
        let unit = figure.unit;
        let number = |value: f64| format!("{} {unit}", shown(value));
        [
            figure.name.clone(),
            number(figure.value),
            figure.bare.map(number).unwrap_or_default(),
            figure.ratio().map(|ratio| format!("{ratio:.2}")).unwrap_or_default(),
            figure.bar.text(unit),
            figure.verdict().text().to_owned(),
            figure.note.clone(),
        ]
    });
    let rows: Vec<[String; 7]> = std::iter::once(header).chain(rows).collect();
    let width = |column: usize| rows.iter().map(|row| row[column].chars().count()).max().unwrap_or(0);
    let widths: Vec<usize> = (0..7).map(width).collect();
    let mut text = String::new();
    for (index, row) in rows.iter().enumerate() {
        let cells: Vec<String> = row.iter().zip(&widths).map(|(cell, width)| format!("{cell:<width$}")).collect();
        text.push_str(&format!("| {} |\n", cells.join(" | ")));
        if index == 0 {
            let dashes: Vec<String> = widths.iter().map(|width| "-".repeat((*width).max(3))).collect();
            text.push_str(&format!("| {} |\n", dashes.join(" | ")));
        }
    }
    text
}

/// Three digits or so: more would claim a precision that there is not.
fn shown(value: f64) -> String {
    match value.abs() {
        size if size >= 100.0 => format!("{value:.0}"),
        size if size >= 10.0 => format!("{value:.1}"),
        _ => format!("{value:.2}"),
    }
}

fn rounded(value: f64) -> f64 {
    (value * 1000.0).round() / 1000.0
}

/// The value below which this share (0 to 1) of the values lies; 0 for none.
pub(crate) fn quantile(values: &[f64], share: f64) -> f64 {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    let last = sorted.len().saturating_sub(1);
    sorted.get((last as f64 * share).round() as usize).copied().unwrap_or(0.0)
}

pub(crate) fn median(values: &[f64]) -> f64 {
    quantile(values, 0.5)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bars_are_judged_by_value_difference_or_share() {
        let figure = |value: f64, bare: f64, bar: Bar| Figure::new("", value, "ms").beside(bare).bar(bar).verdict();
        assert_eq!(figure(12.0, 0.0, Bar::AtMost(12.0)), Verdict::Met);
        assert_eq!(figure(12.1, 0.0, Bar::AtMost(12.0)), Verdict::Missed);
        assert_eq!(figure(92.0, 80.0, Bar::AboveBareAtMost(12.0)), Verdict::Met);
        assert_eq!(figure(93.0, 80.0, Bar::AboveBareAtMost(12.0)), Verdict::Missed);
        assert_eq!(figure(15.0, 10.0, Bar::TimesBareAtMost(1.5)), Verdict::Met);
        assert_eq!(figure(15.1, 10.0, Bar::TimesBareAtMost(1.5)), Verdict::Missed);
        assert_eq!(figure(40.0, 60.0, Bar::AtLeastOrShare(50.0, 0.6)), Verdict::Met);
        assert_eq!(figure(40.0, 80.0, Bar::AtLeastOrShare(50.0, 0.6)), Verdict::Missed);
        assert_eq!(figure(55.0, 800.0, Bar::AtLeastOrShare(50.0, 0.6)), Verdict::Met);
        assert_eq!(Figure::new("", 1.0, "").verdict(), Verdict::Open);
    }

    #[test]
    fn quantiles_are_values_that_were_measured() {
        let values: Vec<f64> = (0..=100).rev().map(f64::from).collect();
        assert_eq!([0.0, 0.5, 0.99, 1.0].map(|share| quantile(&values, share)), [0.0, 50.0, 99.0, 100.0]);
        assert_eq!(quantile(&[], 0.5), 0.0);
    }
}
