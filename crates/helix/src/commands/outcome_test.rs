use super::*;

#[test]
fn signals_are_read_in_every_form() {
    let killed = || Ok(Ending::Signaled { signal: 9 });
    assert_eq!(["9", "KILL", "sigkill"].map(signal), [killed(), killed(), killed()]);
    assert_eq!(signal("SYS"), Ok(Ending::Signaled { signal: 31 }));
    assert!(signal("0").is_err() && signal("SIGNONE").is_err());
}
