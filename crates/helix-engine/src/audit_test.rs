use super::*;

/// Compared with the values of R's `binom::binom.confint(method = "wilson")`.
#[test]
fn the_interval_is_wilsons() {
    let near = |(low, high): (f64, f64), wanted: (f64, f64)| {
        assert!((low - wanted.0).abs() < 1e-3 && (high - wanted.1).abs() < 1e-3, "{low} {high}");
    };
    near(wilson(0, 10), (0.0, 0.2775));
    near(wilson(5, 10), (0.2366, 0.7634));
    near(wilson(10, 10), (0.7225, 1.0));
    near(wilson(2, 40), (0.0138, 0.1650));
    assert_eq!(wilson(0, 0), (0.0, 1.0));
}
