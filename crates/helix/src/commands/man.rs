//! `helix man`: the manual page, made from the command line's definition.

use crate::codes;
use crate::context::Context;
use crate::error::{CommandError, Ended};
use crate::exit::Exit;

pub(crate) fn run(context: &Context, definition: clap::Command) -> Ended {
    let mut page = Vec::new();
    clap_mangen::Man::new(definition)
        .render(&mut page)
        .map_err(|error| CommandError::helix(codes::BROKEN, "cannot write the manual page").because(&error))?;
    context.terminal.raw(&String::from_utf8_lossy(&page))?;
    Ok(Exit::Success)
}
