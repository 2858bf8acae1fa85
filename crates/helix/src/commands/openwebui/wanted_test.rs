use super::*;

#[test]
fn what_others_have_entered_stays() {
    let before = json!({
        "ENABLE_OPENAI_API": true, "OPENAI_API_BASE_URLS": ["https://api.example", "http://h/v1/"], "OPENAI_API_KEYS": ["secret"],
        "OPENAI_API_CONFIGS": {
            "https://api.example": { "prefix_id": "ex" },
            "1": { "prefix_id": "hx", "auth_type": "none", "headers": { "X-Own": "1", "X-Task": "old" } },
        },
    });
    let found = Connections::with(&before, "http://h/v1", "key");
    assert_eq!(found.index, 1);
    assert_eq!(found.all["OPENAI_API_KEYS"], json!(["secret", "key"]));
    assert_eq!(found.all["OPENAI_API_CONFIGS"]["0"]["prefix_id"], "ex", "those by address would be dropped");
    assert_eq!(
        (&found.own()["headers"]["X-Own"], &found.own()["headers"]["X-Task"]),
        (&json!("1"), &json!("{{TASK}}"))
    );
    assert_eq!(found.model_id("helix"), "hx.helix");
    let changes: Vec<String> = found.changes.iter().map(|one| one.text(Language::English)).collect();
    assert!(changes.contains(&"connection: key".to_owned()) && !changes.join(" ").contains("secret"), "{changes:?}");
    assert!(changes.contains(&"connection: headers: X-Task".to_owned()), "{changes:?}");
    let again = Connections::with(&found.all, "http://h/v1", "key");
    assert_eq!((again.changes.len(), &again.all), (0, &found.all), "{:?}", again.changes);

    let model = json!({ "name": "Helix", "info": { "meta": { "description": "d", "profile_image_url": "data:x", "capabilities": { "usage": true } } } });
    let there = json!({
        "id": "helix", "base_model_id": null, "name": "Ours", "params": { "system": "s" }, "is_active": true, "user_id": "u",
        "meta": { "description": "old", "profile_image_url": "https://own", "capabilities": { "vision": true }, "tags": [] },
        "access_grants": [{ "id": "1", "principal_type": "group", "principal_id": "g", "permission": "write" }],
    });
    let (wanted, changes) = entry(Some(&there), "helix", &model, false);
    assert_eq!((&wanted["name"], &wanted["params"]["system"]), (&json!("Ours"), &json!("s")));
    assert_eq!(wanted["meta"]["profile_image_url"], "https://own");
    assert_eq!(wanted["meta"]["capabilities"], json!({ "vision": true, "usage": true }));
    assert_eq!(wanted["access_grants"].as_array().unwrap().len(), 1, "an administrator has decided who may use it");
    assert_eq!(changes.len(), 2, "{changes:?}");
    assert_eq!(entry(Some(&wanted), "helix", &model, false).1, Vec::new());
    let (switched_off, _) = entry(Some(&json!({ "id": "helix", "is_active": false })), "helix", &model, false);
    assert_eq!(switched_off["is_active"], false);
    let (new, changes) = entry(None, "helix", &model, false);
    assert_eq!(
        (&new["access_grants"][0]["principal_id"], changes),
        (&json!("*"), vec![Change::Model { id: "helix".to_owned(), private: false }])
    );
    let (private, _) = entry(Some(&new), "helix", &model, true);
    assert_eq!(private["access_grants"], json!([]));
}

#[test]
fn the_documentation_gives_the_same_headers() {
    let page = include_str!("../../../../../docs/open-webui.md");
    for (name, template) in HEADERS {
        assert_eq!(page.matches(&format!("\"{name}\":\"{template}\"")).count(), 2, "{name}");
    }
}
