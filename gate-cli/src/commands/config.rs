//! `gate config`: settings in force, their schema, the import of an exit gate's JSON settings.

use std::path::PathBuf;

use clap::Subcommand;
use gate_core::config;

use super::arguments::SettingsArgs;
use super::common::DONE;
use super::schema::{self, Name};
use crate::failure::Failure;
use crate::invocation::Invocation;
use crate::render::{self, print};
use crate::secrets;
use crate::settings;
use crate::source::Source;

#[derive(Debug, Subcommand)]
pub(crate) enum Config {
    /// Print the settings in force.
    Show {
        /// Say where each comes from.
        #[arg(long)]
        origin: bool,
        #[command(flatten)]
        settings: SettingsArgs,
    },
    /// Print a JSON Schema: of the settings, or of what gate prints.
    Schema {
        /// The schema's name.
        #[arg(value_enum, default_value_t = Name::Config)]
        name: Name,
        /// Print the two schemas of a check's plug-in instead.
        #[arg(long, conflicts_with = "name")]
        plugin: bool,
    },
    /// Print JSON settings of an exit gate as gate.toml.
    Import {
        /// The JSON file; `-` is the standard input.
        #[arg(value_name = "FILE.json")]
        file: PathBuf,
    },
}

pub(super) fn run(invocation: &Invocation, args: &Config) -> Result<u8, Failure> {
    match args {
        Config::Show { origin, settings: settings_args } => {
            let resolved = settings::resolve(&invocation.places, &settings_args.selection())?;
            print(&secrets::masked(&config::show(&resolved, *origin)))?;
        }
        Config::Schema { plugin: true, .. } => print(&render::json(&schema::plugin_schemas())?)?,
        Config::Schema { name, .. } => print(name.text())?,
        Config::Import { file } => {
            let text = Source::named(file, &invocation.places.folder).text()?;
            let imported = config::import(&file.display().to_string(), &text)?;
            render::notes(&imported.notes);
            print(&imported.toml)?;
        }
    }
    Ok(DONE)
}
