//! Where environments lead, and where they are led to.

use std::fs;

use super::*;

struct Place {
    _directory: tempfile::TempDir,
    users: PathBuf,
    tree: PathBuf,
    packages: PathBuf,
}

/// A user's work tree with a virtual environment in it, and another tree with the same files.
fn place() -> Place {
    let directory = tempfile::tempdir().unwrap();
    let root = directory.path().canonicalize().unwrap();
    let (users, tree) = (root.join("users"), root.join("tree"));
    for top in [&users, &tree] {
        for package in ["src/tally", "libs/core/src/ns/core", "flat", "tools"] {
            fs::create_dir_all(top.join(package)).unwrap();
        }
    }
    let packages = users.join(".venv/lib/python3.12/site-packages");
    fs::create_dir_all(&packages).unwrap();
    Place { _directory: directory, users, tree, packages }
}

impl Place {
    fn environment(&self) -> ToolEnvironment {
        ToolEnvironment::default().in_venv(&self.users.join(".venv").display().to_string())
    }

    fn python_path(&self) -> Vec<String> {
        let environment = self.environment().with_own_code(&self.tree, &self.users);
        let tree = format!("{}", self.tree.display());
        let path = environment.get("PYTHONPATH").unwrap();
        path.split(':').map(|part| part.strip_prefix(&tree).unwrap().to_owned()).collect()
    }
}

/// As `poetry new --src` makes it, where nobody has installed it.
#[test]
fn a_package_in_src_is_found_without_an_environment() {
    let place = place();
    let none = ToolEnvironment::default();
    assert_eq!(none.clone().with_own_code(&place.tree, &place.users).get("PYTHONPATH"), None);
    fs::write(place.tree.join("pyproject.toml"), "").unwrap();
    let (tree, found) = (place.tree.display(), none.with_own_code(&place.tree, &place.users));
    assert_eq!(found.get("PYTHONPATH"), Some(format!("{tree}/src:{tree}").as_str()));
    assert_eq!(own_code(None, Some("/lib"), &place.tree), Some(format!("{tree}/src:{tree}:/lib")));
}

#[test]
fn packages_that_are_installed_from_the_users_files_come_from_the_tree() {
    let place = place();
    assert_eq!(place.python_path(), ["/src", ""]);
    let users = place.users.display();
    fs::write(place.packages.join("core.pth"), format!("{users}/libs/core/src\n")).unwrap();
    assert_eq!(place.python_path(), ["/libs/core/src", "/src", ""]);
    let finder =
        format!("MAPPING: dict[str, str] = {{'ns.core': '{users}/libs/core/src/ns/core', 'x': '{users}/flat'}}");
    fs::write(place.packages.join("core.pth"), "import __editable___core_finder; __editable___core_finder.install()\n")
        .unwrap();
    fs::write(place.packages.join("__editable___core_finder.py"), finder).unwrap();
    // What is mapped to another name cannot be led elsewhere by a path.
    assert_eq!(place.python_path(), ["/libs/core/src", "/src", ""]);
    fs::remove_file(place.packages.join("__editable___core_finder.py")).unwrap();
    std::os::unix::fs::symlink(place.users.join("libs/core/src/ns"), place.packages.join("ns")).unwrap();
    assert_eq!(place.python_path(), ["/libs/core/src", "/src", ""]);
}

#[test]
fn variables_lead_to_what_the_tree_has_and_else_where_they_led() {
    let place = place();
    let users = place.users.display().to_string();
    let value = format!("{users}/tools:/usr/bin:{users}/node_modules/.bin:{users}x/tools");
    let tree = place.tree.display();
    let led = format!("{tree}/tools:/usr/bin:{users}/node_modules/.bin:{users}x/tools");
    let environment = ToolEnvironment::default().with("PATH", value).with("HOME", &users);
    let environment = environment.with("GOFLAGS", format!("-mod=mod -overlay={users}/src"));
    let environment = environment.with_own_code(&place.tree, &place.users);
    assert_eq!(environment.get("PATH"), Some(led.as_str()));
    assert_eq!(environment.get("GOFLAGS"), Some(format!("-mod=mod -overlay={tree}/src").as_str()));
    assert_eq!((environment.get("HOME"), environment.get("PYTHONPATH")), (Some(users.as_str()), None));
}

#[test]
fn paths_are_found_in_messages() {
    let text = "File \"/a/b.py\", line 3: a/c '/d e' (--x=/f/g): /h: no";
    let found: Vec<&str> = paths_in(text).into_iter().map(|range| &text[range]).collect();
    assert_eq!(found, ["/a/b.py", "/d", "/f/g", "/h"]);
}
