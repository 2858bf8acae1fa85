use rustix::fs::{CWD, FileType, Mode, mknodat};

use super::*;

#[test]
fn a_pipe_and_an_endless_file_are_refused_by_name_without_waiting() {
    let place = tempfile::tempdir().unwrap();
    let (pipe, endless) = (place.path().join("pipe.yaml"), place.path().join("endless.yaml"));
    mknodat(CWD, &pipe, FileType::Fifo, Mode::RWXU, 0).unwrap();
    std::os::unix::fs::symlink("/dev/zero", &endless).unwrap();
    for path in [&pipe, &endless] {
        for refused in [read_text(path).map(drop), read_bytes(path).map(drop), readable(path)] {
            let said = format!("{:?}", refused.unwrap_err());
            assert!(said.contains("not a file but a pipe, socket or device") && said.contains(".yaml"), "{said}");
        }
    }
}

#[test]
fn a_file_of_a_project_is_not_written_where_a_link_of_it_leads_out() {
    let place = tempfile::tempdir().unwrap();
    let (project, elsewhere) = (place.path().join("project"), place.path().join("elsewhere"));
    for directory in [project.join(".git"), project.join("real"), elsewhere.clone()] {
        std::fs::create_dir_all(directory).unwrap();
    }
    std::os::unix::fs::symlink(&elsewhere, project.join("plans")).unwrap();
    std::os::unix::fs::symlink("real", project.join("within")).unwrap();
    let below = project.join("real");
    let said = format!("{:?}", beneath_project(&below, &project.join("plans/example/phases.yaml")).unwrap_err());
    assert!(said.contains("plans leads out of the project"), "{said}");
    for fine in [project.join("new/phases.yaml"), project.join("within/phases.yaml"), elsewhere.join("named.yaml")] {
        beneath_project(&below, &fine).unwrap();
    }
}
