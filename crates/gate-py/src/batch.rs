//! Transcripts in a column of Arrow, and their rows as columns.

use std::sync::Arc;

use arrow_array::builder::{LargeStringBuilder, ListBuilder, StringBuilder, UInt64Builder};
use arrow_array::cast::AsArray;
use arrow_array::types::{
    BinaryType, BinaryViewType, ByteArrayType, ByteViewType, LargeBinaryType, LargeUtf8Type,
    StringViewType, Utf8Type,
};
use arrow_array::{
    Array, ArrayRef, GenericByteArray, GenericByteViewArray, RecordBatch, UInt64Array,
};
use arrow_schema::{ArrowError, DataType, Field, Schema, SchemaRef};
use arrow_select::take::take;
use gate_core::Failure;
use gate_lens::replay::ReplayRecord;

use crate::failure::json;
use crate::judge::Judge;

/// The columns of a row, which stand beside those of its transcript.
const ADDED: [&str; 5] =
    ["gate_iteration", "gate_verdict", "gate_reasons", "gate_error", "gate_row"];

/// A column of texts or bytes.
pub(crate) enum Texts {
    Utf8(GenericByteArray<Utf8Type>),
    LargeUtf8(GenericByteArray<LargeUtf8Type>),
    Utf8View(GenericByteViewArray<StringViewType>),
    Binary(GenericByteArray<BinaryType>),
    LargeBinary(GenericByteArray<LargeBinaryType>),
    BinaryView(GenericByteViewArray<BinaryViewType>),
    /// A block of a larger table, in which no row has a value, may have lost the type.
    Null,
}

impl Texts {
    /// The column with this name.
    ///
    /// # Errors
    ///
    /// No such column; one of another type.
    pub(crate) fn named(batch: &RecordBatch, name: &str) -> Result<Self, Failure> {
        let schema = batch.schema();
        let Some((position, _)) = schema.column_with_name(name) else {
            let names: Vec<_> = schema.fields().iter().map(|field| field.name().as_str()).collect();
            let message = format!("there is no column `{name}`");
            return Err(Failure::usage("usage", message)
                .hint(format!("the table has: {}", names.join(", "))));
        };
        let column = decoded(batch.column(position)).map_err(|error| {
            let message = format!("the column `{name}` cannot be decoded: {error}");
            Failure::usage("usage", message)
        })?;
        Ok(match column.data_type() {
            DataType::Utf8 => Self::Utf8(column.as_string().clone()),
            DataType::LargeUtf8 => Self::LargeUtf8(column.as_string().clone()),
            DataType::Utf8View => Self::Utf8View(column.as_string_view().clone()),
            DataType::Binary => Self::Binary(column.as_binary().clone()),
            DataType::LargeBinary => Self::LargeBinary(column.as_binary().clone()),
            DataType::BinaryView => Self::BinaryView(column.as_binary_view().clone()),
            DataType::Null => Self::Null,
            other => {
                let message = format!("the column `{name}` is {other}; expected texts or bytes");
                return Err(Failure::usage("usage", message));
            }
        })
    }

    /// The bytes in a row; `None` for a null.
    pub(crate) fn bytes(&self, row: usize) -> Option<&[u8]> {
        match self {
            Self::Utf8(array) => bytes_at(array, row),
            Self::LargeUtf8(array) => bytes_at(array, row),
            Self::Binary(array) => bytes_at(array, row),
            Self::LargeBinary(array) => bytes_at(array, row),
            Self::Utf8View(array) => view_at(array, row),
            Self::BinaryView(array) => view_at(array, row),
            Self::Null => None,
        }
    }
}

/// The values themselves, if the column is one of keys of a dictionary.
fn decoded(column: &ArrayRef) -> Result<ArrayRef, ArrowError> {
    match column.as_any_dictionary_opt() {
        Some(dictionary) => take(dictionary.values(), dictionary.keys(), None),
        None => Ok(column.clone()),
    }
}

fn bytes_at<T: ByteArrayType>(array: &GenericByteArray<T>, row: usize) -> Option<&[u8]> {
    array.is_valid(row).then(|| array.value(row).as_ref())
}

fn view_at<T: ByteViewType>(array: &GenericByteViewArray<T>, row: usize) -> Option<&[u8]> {
    array.is_valid(row).then(|| array.value(row).as_ref())
}

/// The name of a transcript: of its column of names, if there is one.
pub(crate) fn name_at(names: Option<&Texts>, row: usize) -> String {
    let name = names.and_then(|names| names.bytes(row));
    name.map(|name| String::from_utf8_lossy(name).into_owned()).unwrap_or_default()
}

/// The columns that are added, as they are filled.
#[derive(Default)]
struct Columns {
    /// The row of the batch that each is about.
    rows: Vec<u64>,
    iterations: UInt64Builder,
    verdicts: StringBuilder,
    reasons: ListBuilder<StringBuilder>,
    errors: StringBuilder,
    records: LargeStringBuilder,
}

impl Columns {
    fn add(&mut self, row: u64, record: &ReplayRecord) -> Result<(), Failure> {
        self.rows.push(row);
        self.iterations.append_value(record.iteration);
        self.verdicts.append_option(record.verdict.map(|verdict| verdict.name()));
        for reason in &record.reasons {
            self.reasons.values().append_value(reason.code.code());
        }
        self.reasons.append(true);
        self.errors.append_option(record.error.as_ref().map(|failure| failure.code.as_str()));
        self.records.append_value(json(record)?);
        Ok(())
    }

    /// The batch without its column of transcripts, and with these.
    fn beside(mut self, batch: &RecordBatch, column: &str) -> Result<Vec<RecordBatch>, ArrowError> {
        let input = batch.schema();
        let (mut fields, mut kept_columns) = (Vec::new(), Vec::new());
        for (field, array) in input.fields().iter().zip(batch.columns()) {
            if field.name() != column {
                fields.push(field.clone());
                kept_columns.push(array.clone());
            }
        }
        let added_columns: [ArrayRef; ADDED.len()] = [
            Arc::new(self.iterations.finish()),
            Arc::new(self.verdicts.finish()),
            Arc::new(self.reasons.finish()),
            Arc::new(self.errors.finish()),
            Arc::new(self.records.finish()),
        ];
        for (name, array) in ADDED.into_iter().zip(&added_columns) {
            fields.push(Arc::new(Field::new(name, array.data_type().clone(), true)));
        }
        let schema = Arc::new(Schema::new_with_metadata(fields, input.metadata().clone()));
        let rows = UInt64Array::from(self.rows);
        let mut batches = Vec::new();
        JudgedRows { schema, kept_columns, rows, added_columns }.write(&mut batches)?;
        Ok(batches)
    }
}

/// Rows that become batches.
struct JudgedRows {
    schema: SchemaRef,
    /// The columns of the transcripts.
    kept_columns: Vec<ArrayRef>,
    /// The row in those columns, by row.
    rows: UInt64Array,
    added_columns: [ArrayRef; ADDED.len()],
}

impl JudgedRows {
    /// Adds them as one batch. A column can hold 2 GiB, and each iteration has the texts of its
    /// transcript again; if they are more than that, each half is tried alone. Which error tells of it
    /// depends on the column's type.
    fn write(&self, batches: &mut Vec<RecordBatch>) -> Result<(), ArrowError> {
        let kept_columns =
            self.kept_columns.iter().map(|array| take(array, &self.rows, None)).collect();
        let kept_columns: Vec<_> = match kept_columns {
            Err(_) if self.rows.len() > 1 => {
                let middle = self.rows.len() / 2;
                self.slice(0, middle).write(batches)?;
                return self.slice(middle, self.rows.len() - middle).write(batches);
            }
            kept_columns => kept_columns?,
        };
        let columns = kept_columns.into_iter().chain(self.added_columns.clone()).collect();
        batches.push(RecordBatch::try_new(self.schema.clone(), columns)?);
        Ok(())
    }

    fn slice(&self, first: usize, length: usize) -> Self {
        Self {
            schema: self.schema.clone(),
            kept_columns: self.kept_columns.clone(),
            rows: self.rows.slice(first, length),
            added_columns: self.added_columns.each_ref().map(|array| array.slice(first, length)),
        }
    }
}

impl Judge {
    /// The batch with a row for each iteration, and with what gate says about it. It becomes several if the
    /// rows do not fit in one.
    pub(crate) fn judged(
        &self,
        batch: &RecordBatch,
        column: &str,
        file: Option<&str>,
    ) -> Result<Vec<RecordBatch>, Failure> {
        let texts = Texts::named(batch, column)?;
        let names = file.map(|file| Texts::named(batch, file)).transpose()?;
        if let Some(name) = ADDED.iter().find(|name| batch.column_by_name(name).is_some()) {
            let message = format!("the column `{name}` is there already");
            return Err(Failure::usage("usage", message).hint("rename or drop it first"));
        }
        let mut columns = Columns::default();
        for row in 0..batch.num_rows() {
            let name = name_at(names.as_ref(), row);
            let records = match texts.bytes(row) {
                Some(bytes) => self.records(bytes, &name),
                None => vec![self.replayer.unread(&name, 1, absent(column))],
            };
            for record in &records {
                columns.add(row as u64, record)?;
            }
        }
        columns.beside(batch, column).map_err(|error| {
            Failure::internal("output-unwritable", format!("the rows make no table: {error}"))
        })
    }
}

/// The failure of a row without a transcript.
fn absent(column: &str) -> Failure {
    Failure::usage("input-unreadable", format!("the column `{column}` is null in this row"))
}
