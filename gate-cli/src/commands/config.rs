//! `gate config`: settings in force, their schema, the import of an exit gate's JSON settings.

pub(super) mod args;

use gate_core::config;

pub(crate) use self::args::Config;
use super::common::DONE;
use super::schema;
use crate::context::Here;
use crate::failure::Failure;
use crate::render::{self, print};
use crate::secrets;
use crate::settings;
use crate::source::Source;

pub(super) fn run(here: &Here, args: &Config) -> Result<u8, Failure> {
    match args {
        Config::Show { origin, settings: chosen } => {
            let resolved = settings::resolve(&here.places, &chosen.selection())?;
            print(&secrets::masked(&config::show(&resolved, *origin)))?;
        }
        Config::Schema { plugin: true, .. } => print(&render::json(&schema::plugin_schemas())?)?,
        Config::Schema { name, .. } => print(name.text())?,
        Config::Import { file } => {
            let text = Source::named(file, &here.places.folder).text()?;
            let imported = config::import(&file.display().to_string(), &text)?;
            render::notes(&imported.notes);
            print(&imported.toml)?;
        }
    }
    Ok(DONE)
}
