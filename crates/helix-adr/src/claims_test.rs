//! Who claims what, and what it costs to ask.

use super::*;
use crate::known::KnownAdrs;

fn claiming(number: u32, files: &str) -> Adr {
    let source = format!(
        "---\nadr_id: \"{number:03}\"\ntitle: Decision {number}\nstatus: Accepted\nfiles: {{modify: [{files}]}}\n---\n# x\n"
    );
    Adr::parse(&format!("adr/{number:03}-x.md"), &source)
}

/// However many decisions claim one file, a check looks at the few that it names.
#[test]
fn a_check_looks_at_few_of_the_many_that_share_a_file() {
    let adrs: Vec<Adr> = (1..=500).map(|number| claiming(number, "src/cart.py, 'src/*.py', src/")).collect();
    let known = KnownAdrs::new(&adrs);
    let mut looked = 0;
    for adr in &adrs {
        let mut few = 0;
        known.claims().before("src/cart.py", &adr.id().unwrap(), |claimant| {
            assert!(claimant.id < adr.id().unwrap());
            (few, looked) = (few + 1, looked + 1);
            if few > 3 { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        });
    }
    assert!(looked <= 4 * adrs.len(), "{looked} claimants were looked at for {} decisions", adrs.len());
    assert_eq!(known.claims().claimants("src/cart.py").len(), 3 * adrs.len());
    assert!(known.claims().claimants("docs/cart.md").is_empty());
}
