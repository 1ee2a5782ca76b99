"""A dataset of Ray, judged on a cluster of this machine."""

from __future__ import annotations

import json
import warnings

import exit_gate
import exit_gate.ray
import pyarrow as pa
import pytest
from conftest import in_order

ray = pytest.importorskip("ray")
STORE_BYTES = 200 << 20


@pytest.fixture
def cluster():
    from ray.cluster_utils import Cluster

    head = {"num_cpus": 2, "object_store_memory": STORE_BYTES}
    cluster = Cluster(initialize_head=True, head_node_args=head)
    ray.init(address=cluster.address, log_to_driver=False, logging_level="ERROR")
    yield cluster
    ray.shutdown()
    cluster.shutdown()


def rows(dataset):
    return [json.loads(row["gate_row"]) for row in dataset.iter_rows()]


def dataset(transcripts, blocks):
    names = pa.array([name for name, _ in transcripts])
    texts = pa.array([text for _, text in transcripts], pa.large_binary())
    table = pa.table({"file": names, "transcript": texts})
    return ray.data.from_arrow(table).repartition(blocks)


def test_rows_are_those_of_the_program(cluster, transcripts, replayed):
    cluster.add_node(num_cpus=2, object_store_memory=STORE_BYTES)
    judged = exit_gate.ray.judge(dataset(transcripts, 8), column="transcript", file="file", workers=2)
    assert in_order(rows(judged)) == in_order(replayed())


def test_a_poisoned_transcript_is_a_row_with_an_error(cluster):
    table = pa.table({"text": [None, "All tasks are completed.\n\nEXIT_STATUS: COMPLETE"]})
    judged = exit_gate.ray.judge(ray.data.from_arrow(table)).take_all()
    assert [row["gate_error"] for row in judged] == ["input-unreadable", None]
    assert [row["gate_verdict"] for row in judged] == [None, "exit"]


def test_wrong_settings_are_refused_before_anything_runs(cluster):
    with pytest.raises(exit_gate.UsageError, match="no.such.key|no_such_key"):
        exit_gate.ray.judge(ray.data.range(1), config={"no_such_key": 1})


def test_each_row_is_there_once_after_a_node_was_removed(cluster, transcripts, replayed):
    node = cluster.add_node(num_cpus=2, object_store_memory=STORE_BYTES)
    cluster.wait_for_nodes()
    judged = exit_gate.ray.judge(dataset(transcripts, 40), column="transcript", file="file", workers=2)
    found = []
    for row in judged.iter_rows():
        found.append(json.loads(row["gate_row"]))
        if len(found) == 5:
            cluster.remove_node(node, allow_graceful=False)
    assert in_order(found) == in_order(replayed())


def test_workers_that_leave_no_processor_for_a_reader_are_warned_of(cluster):
    sessions = ray.data.from_arrow(pa.table({"text": ["x"]}))
    for workers, options in [(2, {}), (None, {"num_cpus": 1.5})]:
        with pytest.warns(UserWarning, match="hold .* processors, and the cluster has 2"):
            exit_gate.ray.judge(sessions, workers=workers, **options)
    with warnings.catch_warnings():
        warnings.simplefilter("error", UserWarning)
        exit_gate.ray.judge(sessions)


def test_a_block_without_any_transcript_is_rows_with_errors(cluster):
    blocks = [pa.table({"text": pa.nulls(2)}), pa.table({"text": ["Work remains.", None]})]
    judged = exit_gate.ray.judge(ray.data.from_arrow(blocks)).take_all()
    assert [row["gate_verdict"] for row in judged].count("continue") == 1
    assert [row["gate_error"] for row in judged].count("input-unreadable") == 3
