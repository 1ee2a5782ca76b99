"""What a caller sees of `judge`, `judge_batch`, `sweep`, `audit` and `check`."""

from __future__ import annotations

import json
import os
import pickle
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import duckdb
import exit_gate
import pandas as pd
import pyarrow as pa
import pyarrow.compute  # noqa: F401
import pytest
from conftest import in_order, untimed

DONE = "All tasks are completed.\n\nEXIT_STATUS: COMPLETE\n"
PROMISES = {"signal": {"accept": ["promise"]}}


def test_rows_are_those_of_the_program(transcripts, replayed):
    gate = exit_gate.Judge()
    rows = [row for name, text in transcripts for row in gate.judge_iterations(text, file=name)]
    expected = replayed()
    assert len(expected) > len(transcripts)
    assert in_order(rows) == in_order(expected)


def test_settings_count_as_they_do_for_the_program(transcripts, replayed, tmp_path):
    file = tmp_path / "promises.toml"
    file.write_text('[signal]\naccept = ["promise"]\n[checks.tests]\ncommand = ["true"]\n')
    gate = exit_gate.Judge(file)
    rows = [row for name, text in transcripts for row in gate.judge_iterations(text, file=name)]
    assert in_order(rows) == in_order(replayed("--config", str(file)))
    assert {row["policy_digest"] for row in rows} == {gate.policy_digest}
    assert gate.policy_digest != exit_gate.Judge().policy_digest
    same = {"signal": {"accept": ["promise"]}, "checks": {"tests": {"command": ["true"]}}}
    assert exit_gate.Judge(same).policy_digest == gate.policy_digest


def test_a_row_names_the_gate_that_judged():
    row = exit_gate.judge(DONE)
    assert (row["schema"], row["verdict"]) == ("gate.replay.v1", "exit")
    assert row["gate_version"] == exit_gate.__version__
    for name in ("policy_digest", "patterns_digest"):
        assert row[name].startswith("blake3:"), name


def test_texts_and_bytes_have_one_verdict():
    rows = [exit_gate.judge(kind) for kind in (DONE, DONE.encode(), bytearray(DONE.encode()))]
    assert {json.dumps(untimed(row)) for row in rows} == {json.dumps(untimed(rows[0]))}
    assert exit_gate.judge("\ud800 " + DONE)["verdict"] == "exit"
    for wrong, name in [(None, "NoneType"), (17, "int"), (Path("x"), type(Path("x")).__name__)]:
        with pytest.raises(TypeError, match=f"^expected str or bytes, got {name}$"):
            exit_gate.judge(wrong)


def test_a_log_of_a_loop_has_a_row_an_iteration():
    log = "=== Iteration 1 of 2 ===\nEXIT_STATUS: CONTINUE\n=== Iteration 2 of 2 ===\n" + DONE
    verdicts = [row["verdict"] for row in exit_gate.judge_iterations(log)]
    assert verdicts == ["continue", "exit"]
    assert exit_gate.judge(log)["iteration"] == 2


@pytest.mark.parametrize(
    "type",
    [pa.string(), pa.large_string(), pa.string_view(), pa.binary(), pa.large_binary(), pa.binary_view()],
)
def test_a_column_is_judged_beside_the_others(type):
    log = "=== Iteration 1 of 2 ===\nwork\n=== Iteration 2 of 2 ===\n" + DONE
    texts = pa.array([DONE, None, log, ""], pa.string())
    texts = texts.cast(pa.binary()).cast(type) if "binary" in str(type) else texts.cast(type)
    table = pa.table({"id": [1, 2, 3, 4], "text": texts})
    batch = exit_gate.judge_batch(table)
    assert batch.schema.names == [
        "id", "gate_iteration", "gate_verdict", "gate_reasons", "gate_error", "gate_row",
    ]  # fmt: skip
    assert batch["id"].to_pylist() == [1, 2, 3, 3, 4]
    assert batch["gate_iteration"].to_pylist() == [1, 1, 1, 2, 1]
    assert batch["gate_verdict"].to_pylist() == ["exit", None, "continue", "exit", "continue"]
    assert batch["gate_error"].to_pylist() == [None, "input-unreadable", None, None, None]
    row = json.loads(batch["gate_row"][1].as_py())
    assert row["error"]["message"] == "the column `text` is null in this row"
    assert [reason["code"] for reason in exit_gate.judge("")["reasons"]] == batch["gate_reasons"][4].as_py()


def test_batches_of_a_table_are_joined_and_an_empty_one_has_the_columns():
    batches = [pa.RecordBatch.from_pydict({"t": [DONE, name], "file": ["a", name]}) for name in "bc"]
    batch = exit_gate.judge_batch(pa.Table.from_batches(batches), "t", file="file")
    assert [json.loads(row.as_py())["file"] for row in batch["gate_row"]] == ["a", "b", "a", "c"]
    empty = exit_gate.judge_batch(pa.table({"t": pa.array([], pa.string())}), "t")
    assert (empty.num_rows, empty.schema.names[-1]) == (0, "gate_row")


@pytest.mark.parametrize("table", [
    pa.table({"text": pa.nulls(2)}),
    pa.table({"text": pa.nulls(2).dictionary_encode()}),
    pd.DataFrame({"text": [None, None]}),
])  # fmt: skip
def test_a_block_without_any_transcript_is_rows_with_errors(table):
    batch = exit_gate.judge_batch(table, file="text")
    assert batch["gate_error"].to_pylist() == ["input-unreadable"] * 2
    assert exit_gate.sweep(table)[0]["iterations"] == 0


def test_labels_may_all_be_null():
    counts = exit_gate.sweep(pa.table({"text": [DONE], "label": pa.nulls(1)}), label="label")
    assert (counts[0]["iterations"], counts[0]["right_exits"]) == (1, 0)


@pytest.mark.parametrize("type", [pa.string(), pa.large_string(), pa.binary()])
def test_a_column_may_be_one_of_keys_of_a_dictionary(type):
    column = pa.array([DONE, None, DONE, "Work remains."]).cast(type).dictionary_encode()
    batch = exit_gate.judge_batch(pa.table({"text": column}))
    assert batch["gate_verdict"].to_pylist() == ["exit", None, "exit", "continue"]


def test_names_and_labels_may_be_keys_of_a_dictionary():
    names = pa.array(["a", "b"]).dictionary_encode()
    labels = pa.array(["exit", None]).dictionary_encode()
    table = pa.table({"text": [DONE, DONE], "name": names, "label": labels})
    batch = exit_gate.judge_batch(table, file="name")
    assert [json.loads(row.as_py())["file"] for row in batch["gate_row"]] == ["a", "b"]
    assert batch.schema.field("name").type == names.type
    assert exit_gate.sweep(table, label="label")[1]["right_exits"] == 1


def test_an_enum_of_duckdb_is_judged():
    relation = duckdb.sql(f"select $${DONE}$$::enum($${DONE}$$, 'other') as text")
    assert exit_gate.judge_batch(relation)["gate_verdict"].to_pylist() == ["exit"]


# A list of nulls takes no memory, and the numbers of its items have the limit of 2 GiB, too.
HALF = pa.ListArray.from_arrays([0, 1_200_000_000], pa.nulls(1_200_000_000))


def test_chunks_that_no_column_can_hold_together_are_one_batch():
    kept = pa.chunked_array([HALF, HALF])
    table = pa.table({"text": pa.chunked_array([["a"], [DONE]]), "kept": kept})
    batch = exit_gate.judge_batch(table)
    assert isinstance(batch, pa.RecordBatch)
    assert batch.schema.field("kept").type == pa.large_list(pa.null())
    assert batch["gate_verdict"].to_pylist() == ["continue", "exit"]


def test_iterations_whose_texts_no_column_can_hold_together_are_one_batch():
    log = "=== Iteration 1 of 2 ===\nwork\n=== Iteration 2 of 2 ===\n" + DONE
    batch = exit_gate.judge_batch(pa.record_batch({"text": pa.array([log]), "kept": HALF}))
    assert batch["gate_verdict"].to_pylist() == ["continue", "exit"]
    assert pa.compute.list_value_length(batch["kept"]).to_pylist() == [1_200_000_000] * 2


def test_chunks_whose_dictionaries_do_not_fit_together_are_one_batch():
    names = [str(number) for number in range(200)]
    halves = [pa.array(half).dictionary_encode().cast(pa.dictionary(pa.int8(), pa.string()))
              for half in (names[:100], names[100:])]  # fmt: skip
    table = pa.table({"text": pa.chunked_array([[DONE] * 100] * 2), "kept": pa.chunked_array(halves)})
    assert exit_gate.judge_batch(table)["kept"].to_pylist() == names


def test_the_metadata_of_a_table_is_kept():
    frame = pd.DataFrame({"text": [DONE, "x"]}, index=pd.Index([7, 8], name="session"))
    judged = exit_gate.judge_batch(frame).to_pandas()
    assert (judged.index.name, list(judged.index)) == ("session", [7, 8])


def test_threads_share_a_gate(transcripts):
    gate = exit_gate.Judge()
    with ThreadPoolExecutor(4) as pool:
        rows = list(pool.map(lambda item: gate.judge(item[1], file=item[0]), transcripts))
    assert [untimed(row) for row in rows] == [
        untimed(gate.judge(text, file=name)) for name, text in transcripts
    ]


def test_another_process_judges_by_the_same_settings(tmp_path):
    file = tmp_path / "gate.toml"
    file.write_text('[signal]\naccept = ["promise"]\n')
    gate = pickle.dumps(exit_gate.Judge(file, format="text"))
    file.unlink()
    assert untimed(pickle.loads(gate).judge(DONE)) == untimed(
        exit_gate.judge(DONE, config=PROMISES, format="text")
    )


def test_errors_have_gates_codes(tmp_path):
    file = tmp_path / "gate.toml"
    file.write_text("[signal]\naccept = 5\n")
    with pytest.raises(exit_gate.UsageError) as wrong:
        exit_gate.judge(DONE, config=file)
    assert (wrong.value.file, wrong.value.line, wrong.value.key) == (str(file), 2, "signal.accept")
    assert wrong.value.code.startswith("config-")
    with pytest.raises(exit_gate.UsageError, match="nonsense"):
        exit_gate.judge(DONE, format="nonsense")
    with pytest.raises(exit_gate.UsageError, match="no column `text`.*the table has: words"):
        exit_gate.judge_batch(pa.table({"words": [DONE]}))
    with pytest.raises(exit_gate.UsageError, match="`text` is Int64; expected texts or bytes"):
        exit_gate.judge_batch(pa.table({"text": [1]}))
    with pytest.raises(exit_gate.UsageError, match="`gate_row` is there already"):
        exit_gate.judge_batch(pa.table({"text": [DONE], "gate_row": ["x"]}))
    with pytest.raises(exit_gate.UsageError, match="config"):
        exit_gate.judge(DONE, config={"signal": None})
    with pytest.raises(exit_gate.UsageError) as wrong:
        exit_gate.judge(DONE, config={"signal": {"accept": 5}})
    assert (wrong.value.line, wrong.value.key) == (None, "signal.accept")
    file.write_bytes(b"\xff")
    for path, problem in [(file, "no UTF-8"), (tmp_path / "gone.toml", "No such file")]:
        with pytest.raises(exit_gate.UsageError, match=problem) as wrong:
            exit_gate.judge(DONE, config=path)
        assert (wrong.value.code, wrong.value.file) == ("config-unreadable", str(path))


def test_a_name_that_is_no_text_has_replacement_characters():
    assert exit_gate.judge(DONE, file=os.fsdecode(b"log\xff"))["file"] == "log\ufffd"


@pytest.mark.parametrize("extra, use", [
    ("arrow", "exit_gate.judge_batch(None)"),
    ("arrow", "exit_gate.sweep([])"),
    ("ray", "exit_gate.ray.judge(None)"),
])  # fmt: skip
def test_a_package_that_is_absent_is_named_with_its_extra(extra, use):
    without_packages = "import sys; sys.modules.update(dict.fromkeys(['pyarrow', 'ray', 'ray.data']))"
    command = [sys.executable, "-c", f"{without_packages}; import exit_gate.ray; {use}"]
    ran = subprocess.run(command, capture_output=True, text=True)
    assert f"install the wheel with its extra `{extra}`" in ran.stderr.splitlines()[-1]


def test_a_sweep_counts_verdicts_under_each_threshold():
    table = pa.table({"text": [DONE, "Nothing is done.", "x"], "label": ["exit", "continue", None]})
    counts = exit_gate.sweep(table, label="label")
    assert [count["threshold"] for count in counts] == list(range(9))
    assert {count["iterations"] for count in counts} == {3}
    assert (counts[1]["right_exits"], counts[1]["right_refusals"]) == (1, 1)
    assert counts[8]["missed_exits"] == 1
    assert exit_gate.sweep(table.to_batches(), label="label") == counts
    assert exit_gate.sweep(table.to_pydict(), label="label") == counts
    with pytest.raises(exit_gate.UsageError, match="`done` is no label"):
        exit_gate.sweep(pa.table({"text": [DONE], "label": ["done"]}), label="label")


def test_a_sweep_of_a_table_without_rows_counts_none_and_looks_at_its_columns():
    table = pa.table({"text": pa.array([], pa.string())})
    for empty in (table, [table], []):
        counts = exit_gate.sweep(empty)
        assert [count["threshold"] for count in counts] == list(range(9))
        assert {count["iterations"] for count in counts} == {0}
    with pytest.raises(exit_gate.UsageError, match="no column `words`"):
        exit_gate.sweep(table, "words")


def test_an_audit_is_that_of_the_program(replayed, tmp_path):
    session = tmp_path / "session.log"
    session.write_text("All tests pass and the importer is finished.\n" + DONE)
    record = exit_gate.audit([session, tmp_path / "gone.log"])
    assert record["schema"] == "gate.audit.v1"
    assert len(record["unread"]) == 1 and "gone.log" in record["unread"][0]


def test_an_audit_of_nothing_that_can_be_read_is_an_error(tmp_path):
    gone = str(tmp_path / "gone.log")
    with pytest.raises(exit_gate.UsageError) as wrong:
        exit_gate.audit([gone, tmp_path / "*.log"])
    assert (wrong.value.code, wrong.value.file) == ("input-unreadable", gone)
    assert exit_gate.audit(tmp_path)["files"] == 0


def test_a_check_runs_the_checks_of_the_project(tmp_path, monkeypatch):
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    project = tmp_path / "project"
    project.mkdir()
    log = project / "out.log"
    log.write_text(DONE)
    assert exit_gate.check(project, log)["verdict"] == "exit"
    assert exit_gate.check(project, message="Work remains.")["verdict"] == "continue"
    with pytest.raises(exit_gate.UsageError) as wrong:
        exit_gate.check(project, project / "gone.log")
    assert wrong.value.code == "input-unreadable"
    with pytest.raises(exit_gate.UsageError, match="decides nothing with --help"):
        exit_gate.check(project, log, arguments=["--help"])


def test_the_package_carries_its_program():
    version = subprocess.run([exit_gate.program(), "--version"], capture_output=True, text=True).stdout
    assert version.split()[1] == exit_gate.__version__
    assert (Path(exit_gate.__file__).parent / "py.typed").is_file()
