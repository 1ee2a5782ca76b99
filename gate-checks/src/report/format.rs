//! Report formats and the formats that they can stand in for.

pub use gate_core::decide::policy::ReportFormat as Format;

/// True if a report serves as one of the demanded format: pytest writes JUnit XML.
pub(crate) fn serves(report: Format, demanded: Format) -> bool {
    report == demanded || (report, demanded) == (Format::Pytest, Format::Junit)
}
