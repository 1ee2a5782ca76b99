//! Which report serves for which.

pub use gate_core::decide::policy::ReportFormat as Format;

/// Whether a report of this format is what is demanded: pytest writes JUnit
/// XML.
pub(crate) fn serves(report: Format, demanded: Format) -> bool {
    report == demanded || (report, demanded) == (Format::Pytest, Format::Junit)
}
