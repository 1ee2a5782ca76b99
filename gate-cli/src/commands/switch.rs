//! `gate off` and `gate on`: whether stop hooks hold agents here.

use super::{DONE, Here, print};
use crate::args::Off;
use crate::failure::Failure;
use crate::settings::{self, Selection};

pub(super) fn off(here: &Here, args: &Off) -> Result<u8, Failure> {
    here.operator("gate off")?;
    let millis = args.length.map(|length| u64::try_from(length.as_millis()).unwrap_or(u64::MAX));
    let until = match set(here, true, millis)? {
        Some(until) => format!("until {until}"),
        None => "until `gate on`".to_owned(),
    };
    print(&format!("off {until}: agents stop here without being judged\n"))?;
    Ok(DONE)
}

pub(super) fn on(here: &Here) -> Result<u8, Failure> {
    set(here, false, None)?;
    print("on: stops of agents are judged here\n")?;
    Ok(DONE)
}

fn set(here: &Here, off: bool, for_ms: Option<u64>) -> Result<Option<String>, Failure> {
    let policy = settings::resolve(&here.places, &Selection::default())?.policy;
    Ok(here.memory(&policy)?.set_switch(off, for_ms)?.until)
}
