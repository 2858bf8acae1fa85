//! Tables with aligned columns. Must not know what the cells mean.

use super::{Meaning, Terminal};

/// A table: columns as wide as their widest cell, two spaces apart, the last one ragged.
#[derive(Debug, Default)]
pub(crate) struct Table {
    rows: Vec<Vec<(String, Option<Meaning>)>>,
}

impl Table {
    /// A table with headings.
    pub(crate) fn new<const N: usize>(headings: [&str; N]) -> Self {
        Self { rows: vec![headings.into_iter().map(|text| (text.to_owned(), Some(Meaning::Weak))).collect()] }
    }

    pub(crate) fn row<const N: usize>(&mut self, cells: [(String, Option<Meaning>); N]) {
        self.rows.push(cells.into());
    }

    /// Draws it. Padding is counted without colour codes.
    pub(crate) fn draw(&self, paint: impl Fn(Meaning, &str) -> String) -> String {
        let columns = self.rows.iter().map(Vec::len).max().unwrap_or(0);
        let width = |column: usize| {
            self.rows.iter().filter_map(|row| row.get(column)).map(|(text, _)| text.chars().count()).max().unwrap_or(0)
        };
        let widths: Vec<usize> = (0..columns).map(width).collect();
        let draw_row = |row: &Vec<(String, Option<Meaning>)>| {
            let mut line = String::new();
            for (column, (text, meaning)) in row.iter().enumerate() {
                line.push_str(&meaning.map_or_else(|| text.clone(), |meaning| paint(meaning, text)));
                if column + 1 < row.len() {
                    line.push_str(&" ".repeat(widths[column] - text.chars().count() + 2));
                }
            }
            line
        };
        self.rows.iter().map(draw_row).map(|line| line.trim_end().to_owned()).collect::<Vec<_>>().join("\n")
    }

    /// Draws it for standard output; nothing if it has headings alone.
    pub(crate) fn for_data(&self, terminal: &Terminal) -> String {
        if self.rows.len() < 2 {
            return String::new();
        }
        self.draw(|meaning, text| terminal.paint(meaning, text))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_align_and_lines_do_not_trail() {
        let mut table = Table::new(["id", "state"]);
        table.row([("long-name".into(), None), ("ok".into(), Some(Meaning::Good))]);
        table.row([("b".into(), None), (String::new(), None)]);
        assert_eq!(table.draw(|_, text| text.to_owned()), "id         state\nlong-name  ok\nb");
    }
}
