"""Let several threads run the large steps of a loop together.

A step processes the numbers 0..count - 1. Thread 0 announces the step. Then it takes chunks of the
step, as do all other threads that are free. The step ends when all its chunks are done, so it never
depends on a thread that has not started yet. A thread that has processed the chunk begin..end - 1
adds end - begin to state[DONE].

Steps are numbered from 1. For step s, state[CURSOR] is s * PLACE plus the first number that is not
taken, and state[END] is s * PLACE + count. So a thread never confuses chunks of two steps.
"""

import numpy as np

from graphla.backends.cpu.loops.placeholder_ops import exchange, fetch_add

PLACE = np.int64(1 << 40)
# Positions in `state`. Threads change the first three often, so each has a cache line of its own.
# The loop itself uses the positions from 32 on.
CURSOR = 0
END = 8
DONE = 16  # the number of elements of the step that are done
IS_OVER = 24  # whether the loop has ended
LENGTH = 25  # the number of elements of a chunk


def announce(state, step, count, chunk):
    """Announce a step. The chunks have `chunk` numbers, except the last one."""
    state[LENGTH], state[DONE] = chunk, 0
    exchange(state, np.uint64(END), step * PLACE + count)
    exchange(state, np.uint64(CURSOR), step * PLACE)


def is_announced(state):
    """Return whether a step may have chunks left."""
    return state[CURSOR] < state[END]


def take_chunk(state, stop):
    """Return the first number of a chunk of the announced step, and the end of the chunk.

    Both are 0 if no chunk is left, or if a stop is requested.
    """
    chunk = state[LENGTH]
    begin = fetch_add(state, np.uint64(CURSOR), chunk)
    end = state[END]
    is_left = begin < end and begin // PLACE == end // PLACE and not stop[0]
    last = min(begin + chunk, end) % PLACE
    return (begin % PLACE, last) if is_left else (np.int64(0), np.int64(0))
