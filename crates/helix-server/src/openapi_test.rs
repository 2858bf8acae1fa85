use super::*;
use crate::routes;

#[test]
fn the_document_lists_every_route_once() {
    let document = document(&routes::list());
    let listed: usize = document["paths"].as_object().unwrap().values().map(|one| one.as_object().unwrap().len()).sum();
    assert_eq!(listed, routes::list().len());
    for route in routes::list() {
        assert!(document["paths"][route.path][route.method]["responses"].is_object(), "{}", route.path);
    }
}

#[test]
fn every_reference_leads_somewhere() {
    fn references(value: &Value, found: &mut Vec<String>) {
        match value {
            Value::Object(fields) => {
                if let Some(Value::String(reference)) = fields.get("$ref") {
                    found.push(reference.clone());
                }
                fields.values().for_each(|one| references(one, found));
            }
            Value::Array(items) => items.iter().for_each(|one| references(one, found)),
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
        }
    }
    let document = document(&routes::list());
    let mut found = Vec::new();
    references(&document, &mut found);
    assert!(found.len() > 20, "{found:?}");
    for reference in found {
        let pointer = reference.strip_prefix('#').unwrap();
        assert!(document.pointer(pointer).is_some(), "{reference}");
    }
}

#[test]
fn queries_are_parameters() {
    let document = document(&routes::list());
    let parameters = document["paths"]["/api/v1/jobs/{id}/events"]["get"]["parameters"].as_array().unwrap();
    let names: Vec<_> =
        parameters.iter().map(|one| (one["in"].as_str().unwrap(), one["name"].as_str().unwrap())).collect();
    assert_eq!(names, [("path", "id"), ("query", "after")]);
}
