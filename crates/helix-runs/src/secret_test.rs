use std::os::unix::fs::PermissionsExt as _;

use super::*;

#[test]
fn a_token_names_its_run_and_nobody_makes_one_without_the_key() {
    let tokens = RunTokens::new([7; 32]);
    let (run, other) = (RunId::new("j1.work.1").unwrap(), RunId::new("j1.work.2").unwrap());
    let token = tokens.of(&run);
    assert_eq!(tokens.run(&token), Some(run.clone()));
    assert_eq!(RunTokens::new([8; 32]).run(&token), None);
    // Its own token with another run's name, half of it, and none of it.
    let signature = token.rsplit_once('.').unwrap().1;
    for forged in [
        format!("hxr-{other}.{signature}"),
        token[..token.len() - 2].to_owned(),
        format!("hxr-{run}."),
        format!("{run}.{signature}"),
        format!("hxr-{run}.{signature}é"),
    ] {
        assert_eq!(tokens.run(&forged), None, "{forged}");
    }
}

#[test]
fn a_key_is_made_once_for_its_owner_only() {
    let place = tempfile::tempdir().unwrap();
    let path = place.path().join("run.key");
    let key = kept_key(&path).unwrap();
    assert_eq!(kept_key(&path).unwrap(), key);
    assert_eq!(std::fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
    assert_ne!(key, Key::default());
    // What was cut short signs nothing.
    std::fs::write(&path, b"short").unwrap();
    assert_ne!(key, kept_key(&path).unwrap());
}
