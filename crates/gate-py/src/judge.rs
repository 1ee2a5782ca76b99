//! A gate made ready once, for many transcripts.

use arrow_array::RecordBatch;
use arrow_pyarrow::PyArrowType;
use gate_checks::{CheckSite, environment};
use gate_core::Failure;
use gate_lens::replay::{ReplayRecord, Replayer, TranscriptText};
use gate_transcript::Forced;
use pyo3::prelude::*;
use pyo3::pybacked::{PyBackedBytes, PyBackedStr};

use crate::failure::{raised, to_python};
use crate::settings::resolved;

/// A gate with its settings. Any number of threads may use one at once.
#[pyclass(frozen, module = "exit_gate._gate")]
pub(crate) struct Judge {
    pub(crate) replayer: Replayer,
    pub(crate) format: Option<Forced>,
}

/// The text of a transcript.
#[derive(FromPyObject)]
enum Text {
    Bytes(PyBackedBytes),
    Str(PyBackedStr),
}

impl Text {
    fn bytes(&self) -> &[u8] {
        match self {
            Self::Bytes(bytes) => bytes,
            Self::Str(text) => text.as_bytes(),
        }
    }
}

#[pymethods]
impl Judge {
    #[new]
    #[pyo3(signature = (settings, origin, format))]
    fn new(
        py: Python<'_>,
        settings: &str,
        origin: Option<&str>,
        format: Option<&str>,
    ) -> PyResult<Self> {
        py.detach(|| Self::open(settings, origin, format)).map_err(|failure| raised(py, &failure))
    }

    /// The digest of the policy that transcripts are judged under.
    #[getter]
    fn policy_digest(&self) -> String {
        self.replayer.policy.digest()
    }

    /// The rows of a transcript, one an iteration.
    fn rows<'py>(&self, py: Python<'py>, text: Text, file: &str) -> PyResult<Bound<'py, PyAny>> {
        let records = py.detach(|| self.records(text.bytes(), file));
        to_python(py, &records)
    }

    /// The row of the last iteration of a transcript.
    fn last_row<'py>(
        &self,
        py: Python<'py>,
        text: Text,
        file: &str,
    ) -> PyResult<Bound<'py, PyAny>> {
        let last = py.detach(|| self.records(text.bytes(), file).pop());
        to_python(py, &last)
    }

    /// Judges the transcripts in a column. The other columns are kept.
    #[pyo3(signature = (batch, column, file))]
    fn batch(
        &self,
        py: Python<'_>,
        batch: PyArrowType<RecordBatch>,
        column: &str,
        file: Option<&str>,
    ) -> PyResult<PyArrowType<Vec<RecordBatch>>> {
        let judged = py.detach(|| self.judged(&batch.0, column, file));
        judged.map(PyArrowType).map_err(|failure| raised(py, &failure))
    }

    /// The numbers of verdicts under each threshold from 0.
    #[pyo3(signature = (batch, column, label))]
    fn sweep<'py>(
        &self,
        py: Python<'py>,
        batch: PyArrowType<RecordBatch>,
        column: &str,
        label: Option<&str>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let counted = py.detach(|| self.under_thresholds(&batch.0, column, label));
        to_python(py, &counted.map_err(|failure| raised(py, &failure))?)
    }
}

impl Judge {
    fn open(settings: &str, origin: Option<&str>, format: Option<&str>) -> Result<Self, Failure> {
        let format = format.map(str::parse).transpose().map_err(|error| {
            Failure::usage("usage", format!("`format`: {error}"))
                .hint("`gate scan --help` lists the formats")
        })?;
        let settings = resolved(settings, origin)?;
        gate_checks::validate(&settings.policy)?;
        let site = CheckSite { environment: environment(), ..CheckSite::new("") };
        Ok(Self { replayer: Replayer::open(&settings, site.masker())?, format })
    }

    pub(crate) fn records(&self, bytes: &[u8], name: &str) -> Vec<ReplayRecord> {
        let mut records = Vec::new();
        let transcript = TranscriptText { name, bytes, format: self.format };
        self.replayer.judge(transcript, &[], &mut |row| records.push(row.record));
        records
    }
}
