"""Let other threads help one thread with the large steps of a loop, without a return to Python.

One thread, the *leader*, runs the loop. For a large step, the leader stores the parameters of the
step, calls `open_step`, works on the step together with the helpers, and calls `close_step`, which
waits for them. All threads take chunks of the step with `take_chunk` until none is left or a stop
is requested. A helper calls `enter` to wait for the next step, and `leave` once it has finished its
last chunk. The leader never waits for a helper that has not entered the step, so a helper may start
late or not at all.
"""

import numpy as np

from graphla.backends.cpu.loops.placeholder_ops import exchange, fetch_add, watch

# Positions in the array `team`. All threads often access the first three elements, so each of these
# elements has its own cache line.
STEP_NUMBER = np.uint64(0)  # odd while a step is open; incremented when a step is opened or closed
INSIDE = np.uint64(16)  # the number of helpers that are currently in the step
NEXT_CHUNK = np.uint64(32)  # the first element of the next chunk
KIND = np.uint64(48)  # the kind of the step, one of the loop's constants
SUM = np.uint64(49)  # the sum of the results that the threads have computed in the step
ARGUMENT = np.uint64(50)  # a number that the leader passes to the helpers
TEAM_WORDS = 64  # the length of the array `team`
OVER = -1  # the value of team[STEP_NUMBER] after the last step


def open_step(team, kind):
    """Let the helpers take part in a step."""
    team[KIND], team[SUM], team[NEXT_CHUNK] = kind, 0, 0
    exchange(team, STEP_NUMBER, team[STEP_NUMBER] + 1)


def close_step(team):
    """Wait until all helpers have left the step."""
    exchange(team, STEP_NUMBER, team[STEP_NUMBER] + 1)
    while watch(team, INSIDE) > 0:
        pass


def dismiss(team):
    """Let the helpers return from the loop."""
    exchange(team, STEP_NUMBER, OVER)


def enter(team, stop, last):
    """Wait until a step other than step `last` is open, and enter it. Return the number of the
    entered step, or OVER if the loop has ended or a stop is requested."""
    while True:
        step = watch(team, STEP_NUMBER)
        if step == OVER or stop[0]:
            return OVER
        if step != last and step & 1:
            fetch_add(team, INSIDE, 1)
            if watch(team, STEP_NUMBER) == step:
                return step
            leave(team)


def leave(team):
    """Leave the step that this helper has entered."""
    fetch_add(team, INSIDE, -1)


def take_chunk(team, size):
    """Take the next `size` elements of the step as a chunk, and return the index of the first one.
    The index exceeds the last element if none is left."""
    return fetch_add(team, NEXT_CHUNK, size)
