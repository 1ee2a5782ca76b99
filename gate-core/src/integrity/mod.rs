//! Whether the work still means what it says: which files decide that.

mod guarded;

pub use guarded::{Guarded, guarded};
