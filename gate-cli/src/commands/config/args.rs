//! The arguments of `gate config`.

use std::path::PathBuf;

use clap::Subcommand;

use crate::commands::arguments::SettingsArgs;
use crate::commands::schema::Name;

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
