use rusqlite::Connection;
use rusqlite_migration::Migrations;

use super::*;

#[test]
fn the_migrations_are_well_formed_and_mark_the_file() {
    Migrations::from_slice(STEPS).validate().unwrap();
    let mut connection = Connection::open_in_memory().unwrap();
    MEMORY.migrate(&mut connection, "test").unwrap();
    let id: i32 = connection.query_row("PRAGMA application_id", [], |row| row.get(0)).unwrap();
    assert_eq!(id, MEMORY.application_id);
    assert_eq!(MEMORY.check_header(&connection, "test").unwrap(), MEMORY.known_version());
}
