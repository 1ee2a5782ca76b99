//! A night of loops on one page.

mod behind;
mod figures;
pub mod markdown;
pub mod page;
pub mod text;

pub use behind::BehindClaims;
pub use figures::ReportRecord;
