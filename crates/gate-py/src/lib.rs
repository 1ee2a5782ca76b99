//! `exit_gate._gate`: the part of the Python package `exit_gate` that is not Python.
//!
//! Rows are made by the function that makes those of `gate replay`. Settings, files and texts come as
//! parameters: nothing of the machine changes a verdict.

#![allow(clippy::needless_pass_by_value, reason = "PyO3 hands arguments over by value")]

mod audit;
mod batch;
mod failure;
mod judge;
mod settings;
mod sweep;

use pyo3::prelude::*;

#[pymodule(name = "_gate", gil_used = false)]
fn gate(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add("__version__", gate_core::record::VERSION)?;
    module.add_class::<judge::Judge>()?;
    module.add_function(wrap_pyfunction!(audit::audit, module)?)?;
    module.add_function(wrap_pyfunction!(settings::settings_from_json, module)?)
}
