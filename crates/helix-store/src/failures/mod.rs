//! The memory of failures in one SQLite file of its own, so that a damaged memory can never hurt the journal.
//!
//! Must not know how failures are classified, nor who asks; nothing but advice is made from it.

mod answer;
mod capture;
mod error;
mod index;
mod memory;
mod reads;
mod resolve;
mod row;
mod schema;
mod similar;
mod statistics;
mod transfer;
mod upkeep;

pub use answer::{Ceasing, ExportPage, FailureFilter, FailurePage, Forget, Imported, OpenFailure};
pub use error::MemoryError;
pub use memory::FailureMemory;
