use super::*;

#[test]
fn only_offered_models_are_known() {
    let models = vec!["opus".to_owned()];
    assert_eq!(resolve(None, &models), Ok(None));
    assert_eq!(resolve(Some("helix"), &models), Ok(None));
    assert_eq!(resolve(Some("helix:opus"), &models), Ok(Some("opus".into())));
    let error = resolve(Some("gpt-4o"), &models).unwrap_err();
    assert!(error.envelope.error.message.contains("helix, helix:opus"), "{error:?}");
    assert!(resolve(Some("helix:haiku"), &models).is_err());
}

#[test]
fn a_model_may_name_the_profile() {
    assert_eq!(split_profile(Some("helix:opus@plain")), (Some("helix:opus"), Some(Profile::Plain)));
    assert_eq!(split_profile(Some("helix@other")), (Some("helix@other"), None), "part of the name");
    assert_eq!(split_profile(None), (None, None));
}
