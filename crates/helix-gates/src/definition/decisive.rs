//! What of a file decides how a check runs: of manifests, not the versions of what they depend on.
//!
//! Must not know commits.

use serde_json::Value;

/// Tables of manifests that name what is depended on.
const DEPENDENCIES: [&str; 9] = [
    "dependencies",
    "devDependencies",
    "peerDependencies",
    "optionalDependencies",
    "dev-dependencies",
    "build-dependencies",
    "optional-dependencies",
    "dependency-groups",
    "peerDependenciesMeta",
];
/// What describes a package to people.
const DESCRIPTION: [&str; 16] = [
    "version",
    "description",
    "keywords",
    "author",
    "authors",
    "license",
    "license-files",
    "repository",
    "homepage",
    "bugs",
    "readme",
    "urls",
    "classifiers",
    "documentation",
    "categories",
    "maintainers",
];

/// The part of a file that decides; `None` when all of it does.
pub(super) fn decisive(path: &str, text: &str) -> Option<String> {
    let value: Value = match path.rsplit('/').next().unwrap_or(path) {
        "package.json" => serde_json::from_str(text).ok()?,
        "Cargo.toml" | "pyproject.toml" => toml::from_str(text).ok()?,
        "go.mod" => return Some(go_mod(text)),
        // A file in which there is nothing to run decides nothing, wherever it lies.
        "__init__.py" => return (!has_code(text)).then(String::new),
        _ => return None,
    };
    Some(pruned(value, 0).to_string())
}

/// Lines of a module that replace, exclude or choose, and not which versions it requires.
fn go_mod(text: &str) -> String {
    let mut required = false;
    let mut kept = String::new();
    for line in text.lines().map(str::trim) {
        required = if required { !line.starts_with(')') } else { line == "require (" };
        if !required && !line.is_empty() && line != ")" && !line.starts_with("require ") && !line.starts_with("//") {
            kept.push_str(line);
            kept.push('\n');
        }
    }
    kept
}

fn has_code(text: &str) -> bool {
    text.lines().map(str::trim).any(|line| !line.is_empty() && !line.starts_with('#'))
}

/// Without what describes the package, and without dependencies that a registry resolves.
fn pruned(value: Value, depth: u8) -> Value {
    let Value::Object(fields) = value else { return value };
    let kept = fields.into_iter().filter_map(|(key, value)| {
        if DEPENDENCIES.contains(&key.as_str()) {
            let elsewhere = of_elsewhere(value);
            return (!elsewhere.is_null()).then_some((key, elsewhere));
        }
        if depth <= 1 && DESCRIPTION.contains(&key.as_str()) {
            return None;
        }
        // `[workspace]`, `[target.'cfg(unix)']`, `[tool.poetry.group.dev]` hold such tables, too.
        let value = if depth < 4 { pruned(value, depth + 1) } else { value };
        (value != Value::Object(Default::default())).then_some((key, value))
    });
    Value::Object(kept.collect())
}

/// Dependencies that do not come from a registry: from a path, a repository, an address, or under another name.
fn of_elsewhere(value: Value) -> Value {
    const PLACES: [&str; 8] = ["path", "git", "url", "registry", "index", "package", "file", "branch"];
    let is_place = |text: &str| [":", "/", " @ "].iter().any(|mark| text.contains(mark));
    match value {
        Value::String(text) if is_place(&text) => Value::String(text),
        Value::Array(items) => {
            let kept: Vec<Value> = items.into_iter().map(of_elsewhere).filter(|item| !item.is_null()).collect();
            if kept.is_empty() { Value::Null } else { Value::Array(kept) }
        }
        Value::Object(fields) if fields.keys().any(|key| PLACES.contains(&key.as_str())) => Value::Object(fields),
        Value::Object(fields) => {
            let kept =
                fields.into_iter().map(|(key, value)| (key, of_elsewhere(value))).filter(|(_, value)| !value.is_null());
            let kept: serde_json::Map<String, Value> = kept.collect();
            if kept.is_empty() { Value::Null } else { Value::Object(kept) }
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => Value::Null,
    }
}

#[cfg(test)]
#[path = "decisive_test.rs"]
mod tests;
