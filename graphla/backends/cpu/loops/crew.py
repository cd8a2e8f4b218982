"""Run a loop in several threads that wait for work in compiled code, so that they need no GIL.

The elements of the array `mail` describe the current job. A *ticket* is the number of a thread in a
job. The leader of a job has number 0, and each helper takes a ticket between 1 and the number of
helpers. A helper that arrives after the job has ended finds no ticket, and waits for the next job.
"""

import numpy as np

from graphla.backends.cpu.loops.placeholder_ops import (
    call_entry,
    exchange,
    fetch_add,
    wait_while,
    wake,
    watch,
)

# Positions in the array `mail`. The first three elements change often, so each of them has its own
# cache line.
JOB_NUMBER = np.uint64(0)  # incremented when a job begins; helpers sleep until it changes
TICKETS = np.uint64(16)  # the number of tickets that are left
INSIDE = np.uint64(32)  # the number of helpers that may be working on the job
ENTRY = np.uint64(48)  # the address of the function to call
ARGUMENTS = np.uint64(49)  # the address of its arguments
MAIL_WORDS = 64  # the length of the array `mail`
LOWER = 0x7FFFFFFF  # the job numbers stay below 2^31


def lead(kept_mail, entry, arguments, helpers):
    """Call the function at the address `entry` in this thread, and in up to `helpers` others.

    Return the result of this thread, once no helper is working on the job.
    """
    kept_mail[ENTRY], kept_mail[ARGUMENTS] = entry, arguments
    exchange(kept_mail, TICKETS, helpers)
    exchange(kept_mail, JOB_NUMBER, (kept_mail[JOB_NUMBER] + 1) & LOWER)
    wake(kept_mail, JOB_NUMBER, helpers)
    result = call_entry(entry, arguments, 0)
    exchange(kept_mail, TICKETS, 0)
    while watch(kept_mail, INSIDE) > 0:
        pass
    return result


def serve(kept_mail):
    """Help with jobs, forever: the number of a job is never negative."""
    number = watch(kept_mail, JOB_NUMBER)
    while number >= 0:
        fetch_add(kept_mail, INSIDE, 1)
        if watch(kept_mail, TICKETS) > 0:
            ticket = fetch_add(kept_mail, TICKETS, -1)
            if ticket > 0:
                call_entry(kept_mail[ENTRY], kept_mail[ARGUMENTS], ticket)
        fetch_add(kept_mail, INSIDE, -1)
        wait_while(kept_mail, JOB_NUMBER, number)
        number = watch(kept_mail, JOB_NUMBER)
    return 0
