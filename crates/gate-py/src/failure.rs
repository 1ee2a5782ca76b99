//! gate's failures as Python's exceptions.

use gate_core::Failure;
use pyo3::prelude::*;
use serde::Serialize;

/// The exception that the package defines for this failure.
pub(crate) fn raised(py: Python<'_>, failure: &Failure) -> PyErr {
    let exception = || {
        let record = to_python(py, failure)?;
        py.import("exit_gate._errors")?.getattr("raised")?.call1((record,))
    };
    exception().map_or_else(|error| error, PyErr::from_value)
}

/// A record as plain objects of Python.
pub(crate) fn to_python<'py>(
    py: Python<'py>,
    record: &impl Serialize,
) -> PyResult<Bound<'py, PyAny>> {
    let text = json(record).map_err(|failure| raised(py, &failure))?;
    py.import("json")?.getattr("loads")?.call1((text,))
}

/// A record as one line of JSON.
pub(crate) fn json(record: &impl Serialize) -> Result<String, Failure> {
    serde_json::to_string(record)
        .map_err(|error| Failure::internal("defect", format!("a record is no JSON: {error}")))
}
