"""Judging a dataset of Ray Data.

    import ray
    import exit_gate.ray

    sessions = ray.data.read_parquet("s3://bucket/sessions")
    exit_gate.ray.judge(sessions, column="transcript").write_parquet("s3://bucket/verdicts")

Ray schedules, retries and streams; each actor holds one gate, and each row is that of `gate replay`.
"""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, Any

from ._extras import ray_data
from ._judge import Config, Judge

if TYPE_CHECKING:
    import pyarrow as pa
    from ray.data import Dataset


class _Actor:
    """Holds a gate for the batches that come to one worker."""

    def __init__(self, judge: Judge, column: str, file: str | None) -> None:
        self.judge, self.column, self.file = judge, column, file

    def __call__(self, batch: pa.Table) -> pa.Table:
        import pyarrow as pa

        return pa.Table.from_batches(self.judge._judged(batch, self.column, self.file))


def judge(
    dataset: Dataset,
    *,
    column: str = "text",
    config: Config = None,
    format: str | None = None,
    file: str | None = None,
    workers: int | None = None,
    **options: Any,
) -> Dataset:
    """Judges the transcripts in a column of a dataset, lazily.

    The result has the rows and columns that `exit_gate.judge_batch` describes. The settings are read
    here, once, and go with the actors, which may run on other machines; each needs this package.
    `workers` is the number of actors; if it is not given, Ray starts them as it finds free processors.
    Leave some for what reads and writes: each actor holds one, so a cluster needs at least two. A warning
    tells if none is left. `options` go to `Dataset.map_batches`, such as `num_cpus` and `batch_size`; if
    none is given, a batch is a block of the dataset.
    """
    strategy = ray_data().ActorPoolStrategy
    pool = strategy(min_size=1) if workers is None else strategy(size=workers)
    if "compute" not in options:
        num_cpus = options.get("num_cpus")
        _warn_of_standstill((workers or 1) * (1 if num_cpus is None else num_cpus))
    options = {"batch_size": None, "compute": pool, **options}
    return dataset.map_batches(
        _Actor,
        fn_constructor_args=(Judge(config, format=format), column, file),
        batch_format="pyarrow",
        zero_copy_batch=True,
        **options,
    )


def _warn_of_standstill(workers: float) -> None:
    """Warns if workers that hold so many processors leave none for a task that reads. A cluster may grow,
    so that is no error."""
    import ray

    processors = ray.cluster_resources().get("CPU", 0)
    if processors - workers < 1:
        message = (
            f"the workers hold {workers:g} processors, and the cluster has {processors:g}: what reads and writes "
            "may wait for ever. Give fewer `workers`, or a cluster of at least two processors"
        )
        warnings.warn(message, stacklevel=3)
