//! Tables with aligned columns. Must not know what the cells mean.

use unicode_width::UnicodeWidthStr as _;

use super::Meaning;

/// A text with what it means.
pub(crate) type Cell = (String, Option<Meaning>);

/// Draws a table: columns as wide as their widest cell, two spaces apart, the last one ragged. Without rows there is nothing to
/// draw. Padding is counted without colour codes.
pub(super) fn draw<const N: usize>(
    headings: [String; N],
    rows: impl IntoIterator<Item = [Cell; N]>,
    paint: impl Fn(Meaning, &str) -> String,
) -> String {
    let headings = headings.map(|text| (text, Some(Meaning::Weak)));
    let rows: Vec<[Cell; N]> = std::iter::once(headings).chain(rows).collect();
    if rows.len() < 2 {
        return String::new();
    }
    let width = |column: usize| rows.iter().map(|row| row[column].0.width()).max().unwrap_or(0);
    let widths: [usize; N] = std::array::from_fn(width);
    let line = |row: &[Cell; N]| {
        let cells = row.iter().zip(widths).map(|((text, meaning), width)| {
            let shown = meaning.map_or_else(|| text.clone(), |meaning| paint(meaning, text));
            shown + &" ".repeat(width - text.width())
        });
        cells.collect::<Vec<_>>().join("  ").trim_end().to_owned()
    };
    rows.iter().map(line).collect::<Vec<_>>().join("\n")
}

#[cfg(test)]
#[path = "table_test.rs"]
mod tests;
