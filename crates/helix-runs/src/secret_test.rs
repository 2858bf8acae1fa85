use super::*;

#[test]
fn a_token_names_its_run_and_nobody_makes_one_without_the_key() {
    let tokens = RunTokens::new([7; 32]);
    let (run, other) = (RunId::new("j1.work.1").unwrap(), RunId::new("j1.work.2").unwrap());
    let token = tokens.token(&run);
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
