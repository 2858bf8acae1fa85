use super::*;

#[test]
fn sums_of_costs_have_no_noise() {
    let cost = |cost_usd| Usage { cost_usd, ..Usage::default() };
    assert_eq!((cost(0.1) + cost(0.2)).cost_usd.to_string(), "0.3");
    assert_eq!(dollars(0.1 + 0.7).to_string(), "0.8");
}
