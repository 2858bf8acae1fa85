use super::*;

#[test]
fn the_migrations_are_well_formed_and_mark_the_file() {
    Migrations::from_slice(STEPS).validate().unwrap();
    let mut connection = Connection::open_in_memory().unwrap();
    JOURNAL.migrate(&mut connection, "test").unwrap();
    let header = header(&connection).unwrap();
    assert_eq!((header.application_id, header.version), (APPLICATION_ID, JOURNAL.known_version()));
}
