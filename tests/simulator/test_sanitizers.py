"""Run g++'s sanitizers in separate processes and check that they find deliberate errors."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from . import toolchain

HERE = Path(__file__).parent
pytestmark = pytest.mark.skipif(
    toolchain.mode() != "plain", reason="a sanitizer is at work already"
)

LAUNCH = """
import sys
import numpy as np
from simulator.kernels import each_lane
print(each_lane(sys.argv[1], [np.arange(64, dtype=np.int32)], np.int32).sum())
"""


def run(mode: str, *command: str) -> subprocess.CompletedProcess[str]:
    done = subprocess.run(
        toolchain.command(mode, sys.executable, *command),
        env={**os.environ, **toolchain.environment(mode), "PYTHONPATH": str(HERE.parent)},
        capture_output=True,
        text=True,
    )
    if "unexpected memory mapping" in done.stderr or "personality" in done.stderr:
        pytest.skip("the thread sanitizer cannot run here")
    return done


@pytest.mark.parametrize(
    ("body", "words"),
    [
        ("out[t] = as[t + 1];", "heap-buffer-overflow"),
        ("out[int(t) - 1] = a;", "heap-buffer-overflow"),
        ("SHARED(int, all, 60); all[t] = a;", "out of bounds|heap-buffer-overflow"),
        (
            "int here[4]; here[t % 5] = a; out[t] = here[t % 2];",
            "out of bounds|stack-buffer-overflow",
        ),
        ("out[t] = 1 << a;", "is too large for 32-bit type"),
        ("out[t] = a + 2147483647;", "signed integer overflow"),
    ],
)
def test_the_address_sanitizer_finds_invalid_accesses_and_overflows(body, words):
    done = run("asan", "-c", LAUNCH, body)
    assert done.returncode != 0
    assert any(each in done.stderr for each in words.split("|")), done.stderr


def test_the_address_sanitizer_accepts_barriers_and_shuffles():
    body = (
        "SHARED(int, all, 64); all[t] = a; __syncthreads(); out[t] = __shfl_sync(~0u, all[t], 3);"
    )
    done = run("asan", "-c", LAUNCH, body)
    assert done.returncode == 0, done.stderr
    assert done.stdout == "1216\n"


RACES = {
    "a missing barrier": "SHARED(int, all, 64); all[t] = a; out[t] = all[t ^ 32];",
    "a missing syncwarp": "SHARED(int, all, 64); all[t] = a; out[t] = all[t ^ 1];",
    "a shuffle is no barrier": (
        "SHARED(int, all, 64); all[t] = a; __shfl_sync(~0u, a, 0); out[t] = all[t ^ 1];"
    ),
    "a syncwarp is no barrier of the block": (
        "SHARED(int, all, 64); all[t] = a; __syncwarp(); out[t] = all[t ^ 32];"
    ),
    "a plain counter": "out[0] = out[0] + 1;",
}
ORDERED = {
    "a barrier": "SHARED(int, all, 64); all[t] = a; __syncthreads(); out[t] = all[t ^ 32];",
    "a syncwarp": "SHARED(int, all, 64); all[t] = a; __syncwarp(); out[t] = all[t ^ 1];",
    "an atomic": "atomicAdd(out, a);",
    "a flag": (
        "SHARED(int, box, 2); if (t == 0) box[1] = 0; __syncthreads(); "
        "if (t == 5) { box[0] = 7; __threadfence(); atomicExch(box + 1, 1); } "
        "if (t == 40) { while (atomicAdd(box + 1, 0) == 0) __nanosleep(10); out[0] = box[0]; }"
    ),
}


@pytest.mark.parametrize("what", RACES)
def test_the_thread_sanitizer_finds_data_races(what):
    done = run("tsan", "-c", LAUNCH, RACES[what])
    assert "ThreadSanitizer: data race" in done.stderr
    assert "test.cu:4" in done.stderr


@pytest.mark.parametrize("what", ORDERED)
def test_the_thread_sanitizer_accepts_ordered_accesses(what):
    done = run("tsan", "-c", LAUNCH, ORDERED[what])
    assert (done.returncode, done.stderr) == (0, "")
