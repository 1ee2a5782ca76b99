#!/usr/bin/env python3
"""Judges a column of transcripts on a Ray cluster: judge_with_ray.py SESSIONS VERDICTS, both Parquet."""

import sys

import exit_gate.ray
import ray

sessions, verdicts = sys.argv[1:]
dataset = ray.data.read_parquet(sessions)
exit_gate.ray.judge(dataset, column="transcript", file="file").write_parquet(verdicts)
