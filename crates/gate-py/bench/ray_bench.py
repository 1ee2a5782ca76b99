#!/usr/bin/env python3
"""Compares Ray's rows with those of `gate replay`, and the processor time of two workers with one.

    ray_bench.py FOLDER PROGRAM [--remove-node]

FOLDER was made by make.py; PROGRAM is the gate that the package belongs to. With --remove-node a node of
a cluster goes in the middle of the run with two workers.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import statistics
import subprocess
import threading
import time
from collections import Counter
from pathlib import Path

import exit_gate
import exit_gate.ray
import psutil
import pyarrow.parquet as pq
import ray
import ray.data
from ray.cluster_utils import Cluster

# Most of two workers' processor time a row, as a multiple of that of one.
CPU_BAR = 1.3
# Most of the processor time of one start of the program that `judge` takes.
JUDGE_BAR = 0.1
STORE_BYTES = 2 << 30


def digest(row: dict[str, object]) -> bytes:
    row.pop("duration_ms")
    return hashlib.blake2b(json.dumps(row, sort_keys=True).encode(), digest_size=16).digest()


def replayed(folder: Path, program: str) -> Counter[bytes]:
    with (folder / "list.txt").open() as names:
        ran = subprocess.Popen(
            [program, "replay", "--json", "-"], cwd=folder, stdin=names, stdout=subprocess.PIPE
        )
    assert ran.stdout
    rows = Counter(digest(json.loads(line)) for line in ran.stdout)
    ran.wait()
    return rows


class Processors:
    """The processor time of this process and of all below it while it runs, in seconds. They are looked at
    while they live: nobody waits for Ray's workers, so a parent does not know what they took."""

    def __init__(self) -> None:
        self.first: dict[tuple[int, float], float] = {}
        self.last: dict[tuple[int, float], float] = {}
        self.ended = threading.Event()
        self.look(self.first)
        self.thread = threading.Thread(target=self.watch)
        self.thread.start()

    def watch(self) -> None:
        while not self.ended.wait(0.2):
            self.look(self.last)

    def look(self, seconds: dict[tuple[int, float], float]) -> None:
        driver = psutil.Process()
        for process in [driver, *driver.children(recursive=True)]:
            try:
                times = process.cpu_times()
                seconds[process.pid, process.create_time()] = times.user + times.system
            except psutil.NoSuchProcess:
                continue

    def spent(self) -> float:
        self.look(self.last)
        self.ended.set()
        self.thread.join()
        return sum(seconds - self.first.get(process, 0.0) for process, seconds in self.last.items())


def judged(folder: Path, out: Path, workers: int) -> tuple[Counter[bytes], float]:
    """The rows, and the processor time of reading, judging and writing them, in seconds."""
    processors = Processors()
    dataset = ray.data.read_parquet(str(folder / "parquet"))
    rows = exit_gate.ray.judge(dataset, column="transcript", file="file", workers=workers)
    rows.write_parquet(str(out))
    spent = processors.spent()
    files = sorted(out.glob("**/*.parquet"))
    counts: Counter[bytes] = Counter()
    for file in files:
        column = pq.read_table(file, columns=["gate_row"]).column("gate_row")
        counts.update(digest(json.loads(row.as_py())) for row in column)
    return counts, spent


def start_cluster(nodes: int) -> Cluster:
    head = {"num_cpus": 2, "object_store_memory": STORE_BYTES}
    cluster = Cluster(initialize_head=True, head_node_args=head)
    for _ in range(nodes - 1):
        cluster.add_node(num_cpus=2, object_store_memory=STORE_BYTES)
    cluster.wait_for_nodes()
    ray.init(address=cluster.address, log_to_driver=False, logging_level="ERROR")
    return cluster


def stop_cluster(cluster: Cluster) -> None:
    ray.shutdown()
    cluster.shutdown()


def report(name: str, figure: str, holds: bool) -> bool:
    print(f"{'holds' if holds else 'FAILS':6} {name:42} {figure}", flush=True)
    return holds


def time_of_children() -> float:
    times = os.times()
    return times.children_user + times.children_system


def judge_beside_a_start(folder: Path, program: str) -> bool:
    """One transcript of 10 KB: a call in a warm process beside a start of the program, in turns."""
    name = next(line for line in (folder / "list.txt").read_text().splitlines() if "long" not in line)
    text = (folder / name).read_bytes()
    calls, starts = [], []
    exit_gate.judge(text)
    for _ in range(30):
        spent = time.process_time()
        for _ in range(20):
            exit_gate.judge(text)
        calls.append((time.process_time() - spent) / 20)
        spent = time_of_children()
        subprocess.run([program, "replay", "--json", name], cwd=folder, stdout=subprocess.DEVNULL)
        starts.append(time_of_children() - spent)
    call, start = statistics.median(calls), statistics.mean(starts)
    figure = f"{call * 1e3:.2f} ms beside {start * 1e3:.1f} ms: {call / start:.3f} (at most {JUDGE_BAR})"
    return report("judge beside a start, 10 KB", figure, call <= JUDGE_BAR * start)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("program")
    parser.add_argument("--remove-node", action="store_true")
    arguments = parser.parse_args()
    folder: Path = arguments.folder.resolve()
    program = os.path.abspath(arguments.program)
    run = folder / f"out.{os.getpid()}"
    holds = [judge_beside_a_start(folder, program)]
    expected = replayed(folder, program)
    if arguments.remove_node:
        cluster = start_cluster(nodes=1)
        # The driver is on the head, so another node goes.
        node = cluster.add_node(num_cpus=2, object_store_memory=STORE_BYTES)
        remover = threading.Timer(20, lambda: cluster.remove_node(node, allow_graceful=False))
        remover.start()
        rows, _ = judged(folder, run / "removed", workers=2)
        holds.append(report("the node was removed before the end", "", not remover.is_alive()))
        holds.append(report("rows after a node was removed", f"{rows.total()}", rows == expected))
        stop_cluster(cluster)
    else:
        spent = {}
        for workers in (1, 2):
            cluster = start_cluster(nodes=workers)
            rows, spent[workers] = judged(folder, run / str(workers), workers)
            figure = f"{rows.total()} of {expected.total()}, {spent[workers]:.1f} s of processor"
            holds.append(report(f"rows of {workers} workers", figure, rows == expected))
            stop_cluster(cluster)
        ratio = spent[2] / spent[1]
        holds.append(
            report("a row with two beside one", f"{ratio:.2f} (at most {CPU_BAR})", ratio <= CPU_BAR)
        )
    raise SystemExit(0 if all(holds) else 1)


if __name__ == "__main__":
    main()
