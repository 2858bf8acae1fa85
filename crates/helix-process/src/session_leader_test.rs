use std::io::{Read, Write};

use super::*;

fn started(script: &str, input: Input) -> SessionLeader {
    let arguments = ["-c", script].map(OsStr::new);
    SessionLeader::spawn(Path::new("/bin/sh"), arguments, [(OsStr::new("NAME"), OsStr::new("a=b c"))], input).unwrap()
}

fn said(leader: &mut SessionLeader) -> String {
    let mut said = String::new();
    leader.stdout.take().unwrap().read_to_string(&mut said).unwrap();
    said
}

#[test]
fn it_leads_a_session_and_has_what_it_was_given_alone() {
    let script = "cut -d' ' -f6 /proc/$$/stat; echo $$; echo $NAME; cat; exit 7";
    let mut leader = started(script, Input::Nothing);
    let pid = leader.pid().as_raw_nonzero();
    assert_eq!(said(&mut leader), format!("{pid}\n{pid}\na=b c\n"));
    assert_eq!(leader.wait().unwrap().code(), Some(7));
}

#[test]
fn what_it_reads_is_written_by_a_pipe() {
    let mut leader = started("cat; cat >&2 </dev/null", Input::Pipe);
    leader.stdin.take().unwrap().write_all(b"text").unwrap();
    assert_eq!(said(&mut leader), "text");
    assert!(leader.wait().unwrap().success());
}

#[test]
fn a_kill_ends_its_group() {
    let mut leader = started("sleep 60 & echo; wait", Input::Nothing);
    let mut byte = [0];
    let mut stdout = leader.stdout.take().unwrap();
    stdout.read_exact(&mut byte).unwrap();
    leader.kill();
    assert_eq!(leader.wait().unwrap().signal(), Some(9));
    // The sleeper held the pipe, too.
    assert_eq!(stdout.read(&mut byte).unwrap(), 0);
}

#[test]
fn a_program_that_is_not_there_is_an_error() {
    let none = SessionLeader::spawn(Path::new("/no/such/program"), [], [], Input::Nothing);
    assert_eq!(none.unwrap_err().kind(), io::ErrorKind::NotFound);
}
