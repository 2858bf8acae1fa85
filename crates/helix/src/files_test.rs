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
