"""Builds the wheel from a clone: the program first, which maturin then packs beside the Python package."""

import pathlib
import shutil
import subprocess

import maturin
from maturin import *  # noqa: F403

ROOT = pathlib.Path(__file__).parent.parent
PROGRAM = ROOT / "packaging/wheel/scripts/gate"


def build_wheel(wheel_directory, config_settings=None, metadata_directory=None):
    command = ["cargo", "build", "--locked", "--profile", "dist", "--package", "gate-cli"]
    subprocess.run([*command, "--features", "full", "--target-dir", "target"], cwd=ROOT, check=True)
    shutil.copy(ROOT / "target/dist/gate", PROGRAM)
    try:
        return maturin.build_wheel(wheel_directory, config_settings, metadata_directory)
    finally:
        PROGRAM.unlink()
