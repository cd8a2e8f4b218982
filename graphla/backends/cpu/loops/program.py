"""Functions that all compiled programs use to store vectors and to run statements.

A program keeps its whole state in an array of integers `w` and an array of floats `r`. `w` begins
with the fields of the program, which are followed by the records of slots, matrices, stacks,
statements and products. This module names all of these fields. A field for an array or a function
contains its address.

A slot stores an array of values, an array of flags (`PRESENT`) and, if `LISTED` is not 0, a list of
indices. If `LISTED` is EXACT, the list contains each index with an entry once. If `LISTED` is
LOOSE, the list may also contain indices without an entry.

Numba compiles each function in `ENTRIES` separately and caches it for all programs. The compiled
code of a program calls such a function by its address in `w`, so that it need not contain a copy of
the function. Each function in `ENTRIES`, and each function that is generated for a program, takes
four integers and the arrays `w` and `r`, and returns an integer.
"""

import numpy as np

from graphla.backends.cpu.loops.placeholder_ops import call, prefetch, view

ONE = np.uint64(1)

# Numba compiles a function again for each integer literal that is passed to it. To avoid this, the
# loops wrap integer literals and constants in np.int64 before they pass them to a function.

# The fields of the program. The caller sets the first nine fields, from STOP to NEAR.
STOP, WIDE, WIDE_LIST, WIDE_PRODUCT, SPARSE, FIXED, FORCED, TRACED, NEAR = range(9)
# Where and why the program has returned to its caller.
AT, STATUS, STATEMENT, NEEDED, LINE, PHASE = range(9, 15)
FAULT, FAULT_A, FAULT_B = range(15, 18)
# The indices that the current statement visits.
DOMAIN, SIZE, LENGTH_0, DOMAIN_0, DOMAIN_1, APPENDS = range(18, 24)
# The results of the parts into which threads divide a statement.
PARTS, COUNTS, PARTIALS, HAS_PARTIAL, FOUND, TOTAL = range(24, 30)
PUSHES, FRONTIER, EDGES, ALLOWED, COVERS = range(30, 35)  # the current product
REST = 35  # the address of one array that has room for a list of ROW indices per part
ITEM = 36  # the position of the current item in its stack
CODE_OF = 37  # the addresses of the functions in ENTRIES
FIRST_RECORD = 42
# Positions in `r`: r[0] and r[1] are the operands of a fault, and r[REAL_TOTAL] is the float result
# of a reduction.
REAL_TOTAL = 2
FIRST_REAL = 3

# The fields of a slot.
VALUES, PRESENT, LIST, NVALS, LISTED, LENGTH = range(6)
SLOT_FIELDS = 6
EXACT, LOOSE = 1, 2

# The indices that a statement visits: those in the lists of the slots DOMAIN_0 and DOMAIN_1, those
# at which DOMAIN_0 or DOMAIN_1 has an entry, or all.
IN_LISTS, WITH_ENTRY, ALL = 0, 1, 2
BLOCK = np.uint64(1024)  # maximum number of indices that `list_block` lists in one call
WIDTH = 16  # number of elements of COUNTS that are reserved for each part
ROW = np.int64(1032)  # capacity of each part's list of indices

# The fields of a statement. A place is a position in `w`; the place -1 means "none".
# - REGION: the address of the function that does the work for a range of indices (the "region").
# - DIM: the place of the number of indices.
# - DIVISION: how threads divide the region.
# - WORK: the place of the amount of work, or -1 if the amount equals the number of indices.
# - FORM: the place of the matrix form (CSR or CSC) that the statement reads.
# - CLEARS: not 0 if OUT is cleared before the region runs.
# - FINISH: what `finish` does after the region.
# - OUT: the slot that the region writes.
# - SPARE: the slot of a second result, or of the vector that a push reads.
# - TARGET: the slot with which OUT is exchanged in the end.
# - FOLD: the address of the function that folds partial results.
# - TARGETS: the place of the list of slots that the region changes in place.
# - OPTIONS: the place of the list of pairs of slots from which `choose_domain` chooses one. Both
#   lists begin with their length.
# - IN_ORDER: not 0 if the order of the indices matters.
# - SOURCE_LINE: the line of the statement in the source.
# - REALS: the position of the float operands in `r`.
# - NUMBER: the index of the region among the regions of the program.
# - PLACES: the first of the fields that hold the region's own operands: places and integers.
REGION, DIM, DIVISION, WORK, FORM, CLEARS, FINISH, OUT, SPARE, TARGET, FOLD = range(11)
TARGETS, OPTIONS, IN_ORDER, SOURCE_LINE, REALS, NUMBER, PLACES = range(11, 18)

# How threads divide a region: not at all; by indices; by stretches (STRETCH consecutive indices);
# into rows with about equal numbers of matrix entries; or into outputs of a push that together
# receive about equal numbers of products.
WHOLE, BY_INDICES, BY_STRETCHES, BY_ROWS, BY_OUTPUTS = range(5)
# What `finish` does after a region: nothing; update the counts of its targets; count the entries of
# a result; count and list them; store the counts of a scatter; fold partial results; or add up the
# counts of the parts.
DONE, UPDATE, RESULT, LISTED_RESULT, SCATTER, REDUCTION, COUNT = range(7)

# The fields of a product: the vector, the places of its size and of the size of the result, the
# matrix and its two forms, and the statements for a push and for a pull.
U, U_DIM, OUT_DIM, MATRIX, PUSH_FORM, PULL_FORM, PUSHING, PULLING = range(8)
STOPS, IS_FLOAT, IS_WIDE = range(8, 11)
PRODUCT_FIELDS = 11

# The fields of a matrix: the FORM_FIELDS fields of its CSR, the same fields of its CSC, and then
# ENTRIES_OF and LOSS. Element i of the array FIRSTS is a column in which row i has an entry, or -1
# if row i is empty.
INDPTR, INDICES, WEIGHTS, FIRSTS, HELD = range(5)
FORM_FIELDS = 5
ENTRIES_OF, LOSS = 10, 11
MATRIX_FIELDS = 12

# The fields of a stack. Item k has the entries STARTS[k] to STARTS[k + 1] - 1.
# Items 0 to LOWEST - 1 are still those that the stack contained at the start of the run.
STACK_INDICES, STACK_VALUES, STACK_STARTS, STACK_COUNT, ROOM, STACK_ROOM, LOWEST = range(7)
STACK_FIELDS = 7

# The values of STATUS: why the program has returned to its caller. GOES_ON means that the program
# continues, or that it has returned because STOP is set.
GOES_ON, FINISHED, FAULTED, SPREAD, NEEDS_FORM, NEEDS_ROOM, RECORDS = range(7)
AFTER_REGION, AFTER_RECORD = 1, 2  # values of PHASE: where to continue a statement

STRETCH = np.uint64(1 << 14)  # number of consecutive indices per partial result of a reduction
# The faults of statements.
NOT_FULL, OUT_OF_RANGE, OUT_OF_INT64, DUPLICATE, NO_ITEM, BAD_INDEX = range(6)

# The faults that a program defines are numbered downwards from FIRST_FAULT.
FIRST_FAULT = -100

PUSH, PULL = 1, 2
# Estimated costs, in units of the cost of one entry that a pull reads: of an entry that a push
# reads, of an entry that a pull reads if it may stop early, and of building a missing form (per
# entry and row).
PUSHED, STOPPING, MISSING = 2.0, 0.6, 5.0

ENTRIES = ("clear", "list_entries", "list_block", "launch", "multiply")
CLEAR, LIST_ENTRIES, LIST_BLOCK, LAUNCH, MULTIPLY = range(CODE_OF, CODE_OF + 5)


# --- entries ------------------------------------------------------------------------------------


def clear(slot, n, _a, _b, w, _r):
    """Delete all entries of a slot."""
    if w[slot + NVALS] > 0:
        present = view(w[slot + PRESENT], n, np.bool_)
        if w[slot + LISTED] != 0 and w[slot + LENGTH] * 16 < n:
            listed = view(w[slot + LIST], n, np.int32)
            for t in range(np.uint64(w[slot + LENGTH])):
                present[np.uint64(listed[t])] = False
        else:
            for i in range(np.uint64(n)):
                present[i] = False
    w[slot + NVALS], w[slot + LISTED], w[slot + LENGTH] = 0, EXACT, 0
    return 0


def list_entries(slot, n, in_order, _b, w, _r):
    """Make the list of a slot exact. If `in_order` is not 0, sort it as well."""
    if w[slot + LISTED] == EXACT and in_order == 0:
        return 0
    listed = view(w[slot + LIST], n + 1, np.int32)
    present = view(w[slot + PRESENT], n, np.bool_)
    end = np.uint64(0)
    if w[slot + LISTED] == LOOSE and in_order == 0:
        for t in range(np.uint64(w[slot + LENGTH])):
            i = listed[t]
            listed[end] = i
            end += np.uint64(present[np.uint64(i)])
    else:
        words = view(w[slot + PRESENT], n >> 3, np.uint64)
        for word in range(np.uint64(n >> 3)):
            if words[word] != np.uint64(0):
                for i in range(word << np.uint64(3), (word + ONE) << np.uint64(3)):
                    listed[end] = np.int32(i)
                    end += np.uint64(present[i])
        for i in range(np.uint64(n >> 3 << 3), np.uint64(n)):
            listed[end] = np.int32(i)
            end += np.uint64(present[i])
    w[slot + LISTED], w[slot + LENGTH] = EXACT, np.int64(end)
    return 0


def exchange(w, slot, other):
    """Exchange the contents of two slots."""
    for field in range(SLOT_FIELDS):
        word = w[slot + field]
        w[slot + field] = w[other + field]
        w[other + field] = word


def position(w, index, n):
    """Return a valid index; a negative one counts from the end."""
    place = index + n if index < 0 else index
    if place < 0 or place >= n:
        w[FAULT], w[FAULT_A], w[FAULT_B] = -1 - BAD_INDEX, index, n
    return np.uint64(place)


def insert(w, slot, i, n):
    """Mark that the slot has an entry at index i."""
    present = view(w[slot + PRESENT], n, np.bool_)
    if not present[i]:
        present[i] = True
        w[slot + NVALS] += 1
        if w[slot + LISTED] == EXACT:
            view(w[slot + LIST], n + 1, np.int32)[np.uint64(w[slot + LENGTH])] = np.int32(i)
            w[slot + LENGTH] += 1
        else:
            w[slot + LISTED] = 0


def remove(w, slot, i, n):
    """Mark that the slot has no entry at index i."""
    present = view(w[slot + PRESENT], n, np.bool_)
    if present[i]:
        present[i] = False
        w[slot + NVALS] -= 1
        if w[slot + LISTED] != 0:
            w[slot + LISTED] = LOOSE


def settle(w, slot, adds, removes):
    """Update the state of a slot's list (LISTED) after entries were added or removed.

    If APPENDS is set, the indices of the new entries have been appended to an exact list.
    """
    if w[slot + NVALS] == 0:
        w[slot + LISTED], w[slot + LENGTH] = EXACT, 0
        return
    if adds and w[APPENDS] == 0:
        w[slot + LISTED] = 0
    if removes and w[slot + LISTED] != 0:
        w[slot + LISTED] = LOOSE


# --- choice of the indices that a statement visits ------------------------------------------------


def choose_domain(statement, n, w, r):
    """Choose the indices that a statement visits, and store them in the fields of the program.

    An option is a pair of slots such that the statement changes nothing at an index where neither
    slot has an entry; -1 stands for no slot. If no option is given, the statement visits all
    indices. Otherwise the function takes the option with the fewest entries. If these are few, the
    statement visits the indices in the lists of both slots. If not, it visits each index at which
    one of the slots has an entry. If that is true of most indices, it simply visits all of them.
    """
    w[SIZE], w[DOMAIN], w[APPENDS] = n, ALL, 0
    options = w[statement + OPTIONS]
    if w[options] == 0:
        return
    best, least = np.int64(-1), np.int64(0)
    for option in range(options + 1, options + 1 + 2 * w[options], 2):
        total = np.int64(0)
        for k in range(2):
            if w[option + k] >= 0:
                total += w[w[option + k] + NVALS]
        if best < 0 or total < least:
            best, least = option, total
    one, two = w[best], w[best + 1]
    w[DOMAIN_0], w[DOMAIN_1] = one, two
    has_lists = one < 0 or w[one + LISTED] == EXACT
    has_lists = has_lists and (two < 0 or w[two + LISTED] == EXACT)
    most = w[NEAR] if has_lists else 0
    if least * w[SPARSE] > n and least > most:
        w[DOMAIN] = ALL if least * 4 > n * 3 or one < 0 else WITH_ENTRY
        return
    if w[FIXED] != 0 and w[statement + IN_ORDER] != 0:
        # A list may have any order. To round sums in the same way in each run, the statement visits
        # the indices in ascending order instead.
        w[DOMAIN] = WITH_ENTRY if one >= 0 else ALL
        return
    w[DOMAIN], w[SIZE], w[LENGTH_0], w[APPENDS] = IN_LISTS, 0, 0, 1
    for k in range(2):
        slot = w[best + k]
        if slot >= 0:
            call(w[LIST_ENTRIES], slot, n, 0, 0, w, r)
            w[SIZE] += w[slot + LENGTH]
            if k == 0:
                w[LENGTH_0] = w[slot + LENGTH]


def rest_of(part, w):
    """Return the scratch array in which a part of a statement lists the indices that it visits."""
    return view(w[REST] + part * (ROW * np.int64(4)), ROW, np.int32)


def list_block(first, last, part, n, w, _r):
    """Store in the list of a part the next indices that a statement visits. Return their number.

    If the statement visits the lists of two slots, first..last - 1 are positions in the first list
    followed by the second; otherwise they are indices. At most BLOCK of them are processed. An
    index in both lists is visited as part of the first list only; this is possible because a
    statement does not change the flags of the first slot.
    """
    rest = rest_of(part, w)
    size = np.uint64(0)
    begin, end = np.uint64(first), np.uint64(last)
    if begin + BLOCK < end:
        end = begin + BLOCK
    if w[DOMAIN] == ALL:
        for i in range(begin, end):
            rest[i - begin] = np.int32(i)
        return np.int64(end - begin)
    one, two = w[DOMAIN_0], w[DOMAIN_1]
    has_one = view(w[one + PRESENT], n, np.bool_)
    if w[DOMAIN] == WITH_ENTRY:
        if two < 0:
            for i in range(begin, end):
                rest[size] = np.int32(i)
                size += np.uint64(has_one[i])
        else:
            has_two = view(w[two + PRESENT], n, np.bool_)
            for i in range(begin, end):
                rest[size] = np.int32(i)
                size += np.uint64(has_one[i] | has_two[i])
        return np.int64(size)
    length = np.uint64(w[LENGTH_0])
    middle = length if length < end else end
    if begin < middle:
        listed = view(w[one + LIST], n + 1, np.int32)
        for t in range(begin, middle):
            rest[t - begin] = listed[t]
        size = middle - begin
        begin = middle
    if begin < end:
        listed = view(w[two + LIST], n + 1, np.int32)
        for t in range(begin, end):
            i = listed[t - length]
            rest[size] = i
            size += np.uint64(not has_one[np.uint64(i)])
    return np.int64(size)


def prepare(target, n, w, r):
    """If the statement visits lists, make the list of a target exact, so that the statement can
    append to it. If the target has too many entries for this, drop its list."""
    if w[DOMAIN] == IN_LISTS and w[target + LISTED] == LOOSE:
        if w[target + NVALS] * 8 > n:
            w[target + LISTED] = 0
        else:
            call(w[LIST_ENTRIES], target, n, 0, 0, w, r)


# --- statements -----------------------------------------------------------------------------------


def launch(statement, _a, _b, _c, w, r):
    """Run a statement. Return GOES_ON, or the reason why the program must return to its caller.

    After the caller has done what is needed, the program continues with another call of this
    function.
    """
    n = w[w[statement + DIM]]
    if w[PHASE] == 0:
        form = w[statement + FORM]
        if form >= 0 and w[form + HELD] == 0:
            w[NEEDED] = form
            return NEEDS_FORM
        choose_domain(statement, n, w, r)
        targets = w[statement + TARGETS]
        for k in range(w[targets]):
            prepare(w[targets + 1 + k], n, w, r)
        if w[statement + CLEARS] != 0:
            call(w[CLEAR], w[statement + OUT], n, 0, 0, w, r)
        if divides(statement, w):
            w[STATEMENT], w[PHASE], w[APPENDS] = statement, AFTER_REGION, 0
            return SPREAD
        w[PARTS] = 1
        status = call(w[statement + REGION], 0, w[SIZE], 0, statement, w, r)
        if status != GOES_ON:
            return status
    w[PHASE] = 0
    finish(statement, n, w, r)
    if w[FAULT] != 0:
        w[LINE] = w[statement + SOURCE_LINE]
        return FAULTED
    return GOES_ON


def divides(statement, w):
    """Return whether the caller should divide the region of a statement into parts."""
    if w[statement + DIVISION] == WHOLE:
        return False
    if w[DOMAIN] == IN_LISTS:
        return w[SIZE] > w[WIDE_LIST]
    work = w[statement + WORK]
    return w[work] > w[WIDE_PRODUCT] if work >= 0 else w[SIZE] > w[WIDE]


def finish(statement, n, w, r):
    """Complete a statement after all of its parts: update the counts and lists of its results, or
    fold partial results."""
    way, out = w[statement + FINISH], w[statement + OUT]
    if way == UPDATE:
        targets = w[statement + TARGETS]
        for k in range(w[targets]):
            target = w[targets + 1 + k]
            adds, removes = sum_counts(2 * k, w), sum_counts(2 * k + 1, w)
            w[target + NVALS] += adds - removes
            settle(w, target, adds > 0, removes > 0)
    elif way == REDUCTION:
        call(w[statement + FOLD], 0, 0, 0, statement, w, r)
    elif way == COUNT:
        w[TOTAL] = sum_counts(np.int64(0), w)
    elif way == SCATTER:
        counts = view(w[COUNTS], 2, np.int64)
        spare = w[statement + SPARE]
        w[out + NVALS], w[out + LENGTH], w[out + LISTED] = counts[0], counts[0], EXACT
        if spare >= 0:
            w[spare + NVALS], w[spare + LENGTH], w[spare + LISTED] = counts[1], counts[1], EXACT
    elif way == LISTED_RESULT or (way == RESULT and w[DOMAIN] == IN_LISTS):
        join_parts(out, n, w)
    elif way == RESULT:
        total = sum_counts(np.int64(0), w)
        w[out + NVALS], w[out + LENGTH] = total, total
        w[out + LISTED] = EXACT if total == 0 else 0
    if w[statement + TARGET] >= 0:
        exchange(w, w[statement + TARGET], out)


def store_counts(part, column, one, two, w):
    """Store two counts of a part of a statement."""
    counts = view(w[COUNTS], WIDTH * (part + 1), np.int64)
    counts[WIDTH * part + column] = one
    counts[WIDTH * part + column + 1] = two


def sum_counts(column, w):
    """Return the sum of one count over all parts of a statement."""
    counts = view(w[COUNTS], WIDTH * w[PARTS], np.int64)
    total = np.int64(0)
    for part in range(w[PARTS]):
        total += counts[WIDTH * part + column]
    return total


def join_parts(out, n, w):
    """Join the lists of entries that the parts of a statement have written for a slot.

    The list of part k begins at position counts[WIDTH * k + 1], which is the part's first index.
    """
    counts = view(w[COUNTS], WIDTH * w[PARTS], np.int64)
    listed = view(w[out + LIST], n + 1, np.int32)
    end = np.uint64(0)
    for part in range(w[PARTS]):
        begin = np.uint64(counts[WIDTH * part + 1])
        if begin == end:
            end += np.uint64(counts[WIDTH * part])
        else:
            for t in range(begin, begin + np.uint64(counts[WIDTH * part])):
                listed[end] = listed[t]
                end += ONE
    w[out + NVALS], w[out + LENGTH], w[out + LISTED] = np.int64(end), np.int64(end), EXACT


# --- products -------------------------------------------------------------------------------------


def bisect(indices, begin, end, least):
    """Return the first position in begin..end whose index is at least `least`."""
    while begin < end:
        middle = (begin + end) >> ONE
        if np.uint64(indices[middle]) < least:
            begin = middle + ONE
        else:
            end = middle
    return begin


def multiply(product, _a, _b, _c, w, r):
    """Run a product: choose push or pull, and launch the statement for this direction. Return what
    `launch` returns."""
    if w[PHASE] == AFTER_RECORD:
        w[PHASE] = 0
        return GOES_ON
    if w[PHASE] == 0:
        wanted = choose_direction(product, w, r)
        if wanted == 0:
            return NEEDS_FORM
        w[PUSHES] = wanted
        if wanted == PUSH:
            in_order = np.int64(w[FIXED] != 0 and w[product + IS_FLOAT] != 0)
            call(w[LIST_ENTRIES], w[product + U], w[w[product + U_DIM]], in_order, 0, w, r)
        else:
            w[COVERS] = np.int64(covers_rows(product, w))
    statement = w[product + (PUSHING if w[PUSHES] == PUSH else PULLING)]
    status = call(w[LAUNCH], statement, 0, 0, 0, w, r)
    if status == GOES_ON and w[TRACED] != 0:
        w[PHASE] = AFTER_RECORD
        return RECORDS
    return status


def covers_rows(product, w):
    """Return whether u has an entry at every index at which a pull reads u, so that the pull need
    not test for entries.

    This is so if u is full, or if the matrix has no entries for the indices at which u has none. If
    sums may stop early, only the first condition is tested: such sums read so few entries of u that
    the second test would take longer.
    """
    u, n, form = w[product + U], w[w[product + U_DIM]], w[product + PUSH_FORM]
    if w[u + NVALS] == n:
        return True
    if w[product + STOPS] != 0 or w[form + HELD] == 0 or w[u + NVALS] * 4 < n:
        return False
    present = view(w[u + PRESENT], n, np.bool_)
    # It is enough to compare the low halves of int64 offsets: a row has fewer than 2^32 entries, so
    # the offsets of its begin and its end differ in their low halves unless the row is empty.
    step = np.uint64(2 if w[product + IS_WIDE] != 0 else 1)
    halves = view(w[form + INDPTR], (n + 1) * np.int64(step), np.int32)
    for k in range(np.uint64(n)):
        if not present[k] and halves[k * step] != halves[(k + ONE) * step]:
            return False
    return True


def choose_direction(product, w, r):
    """Choose push or pull for a product, with the cost model of `operations.direction`.

    ALLOWED is the number of outputs that the mask allows. STOPS is not 0 if a sum may stop early.
    Return PUSH, PULL, or 0 if the caller must first build a form of the matrix.
    """
    u, matrix, allowed = w[product + U], w[product + MATRIX], w[ALLOWED]
    n, outputs = w[w[product + U_DIM]], w[w[product + OUT_DIM]]
    push_form, pull_form = w[product + PUSH_FORM], w[product + PULL_FORM]
    entries, total = w[u + NVALS], w[matrix + ENTRIES_OF]
    has_push, has_pull = w[push_form + HELD], w[pull_form + HELD]
    reached = total
    if entries * 8 <= n and has_push != 0:
        call(w[LIST_ENTRIES], u, n, 0, 0, w, r)
        listed = view(w[u + LIST], n + 1, np.int32)
        reached = np.int64(0)
        if w[product + IS_WIDE] != 0:
            long = view(w[push_form + INDPTR], n + 1, np.int64)
            for t in range(np.uint64(entries)):
                k = np.uint64(listed[t])
                reached += long[k + ONE] - long[k]
        else:
            short = view(w[push_form + INDPTR], n + 1, np.int32)
            indices = w[push_form + INDICES]
            for t in range(np.uint64(entries)):
                k = np.uint64(listed[t])
                prefetch(indices + np.int64(4) * np.int64(short[k]))
                reached += np.int64(short[k + ONE] - short[k])
    elif entries < n:
        reached = np.int64(np.float64(total) * entries / n)
    push = PUSHED * reached
    read = np.float64(allowed) * total / (outputs + 1)
    if w[product + STOPS] != 0:
        stopped = np.float64(allowed) * total / (reached + 1)
        read = STOPPING * (stopped if stopped < read else read)
    pull = outputs + read
    wanted = PUSH if push <= pull else PULL
    must = w[FORCED] != 0
    if must:
        wanted = w[FORCED]
    elif w[product + IS_FLOAT] != 0 and w[FIXED] != 0:
        wanted = PUSH if 2 * entries <= n else PULL
        must = True
    w[FRONTIER], w[EDGES] = entries, reached
    if (has_push if wanted == PUSH else has_pull) == 0:
        w[matrix + LOSS] += np.int64(abs(push - pull))
        if must or w[matrix + LOSS] >= MISSING * (total + n + outputs):
            w[NEEDED] = push_form if wanted == PUSH else pull_form
            return 0
        wanted = PUSH + PULL - wanted
    return wanted


# --- indices --------------------------------------------------------------------------------------


def check_indices(w, slot, indices, n, size):
    """Check that a slot is full and that its values are valid indices of a vector of size `size`.

    The fault is described by the highest index if it is too high, otherwise by the lowest index.
    """
    if w[slot + NVALS] < n:
        w[FAULT], w[FAULT_A], w[FAULT_B] = -1 - NOT_FULL, n - w[slot + NVALS], n
        return
    if n == 0:
        return
    lowest = highest = indices[0]
    for t in range(np.uint64(n)):
        lowest, highest = min(lowest, indices[t]), max(highest, indices[t])
    index = np.int64(highest)
    if index < 0 and highest > 0:  # a UINT64 that does not fit INT64
        w[FAULT], w[FAULT_A], w[FAULT_B] = -1 - OUT_OF_INT64, index, size
    elif index >= size:
        w[FAULT], w[FAULT_A], w[FAULT_B] = -1 - OUT_OF_RANGE, index, size
    elif np.int64(lowest) < -size:
        w[FAULT], w[FAULT_A], w[FAULT_B] = -1 - OUT_OF_RANGE, np.int64(lowest), size


def wrap(index, size):
    """Return a valid index; a negative one counts from the end."""
    index = np.int64(index)
    return np.uint64(index + size if index < 0 else index)


# --- stacks ---------------------------------------------------------------------------------------


def append_item(stack, slot, n, values, stack_values, w, r):
    """Append the entries of a slot to a stack as one item. Return NEEDS_ROOM if the stack has no
    room."""
    count, nvals = w[stack + STACK_COUNT], w[slot + NVALS]
    starts = view(w[stack + STACK_STARTS], w[stack + STACK_ROOM] + 2, np.int64)
    end = starts[count]
    if count >= w[stack + STACK_ROOM] or end + nvals > w[stack + ROOM]:
        w[STATEMENT], w[NEEDED] = stack, end + nvals
        return NEEDS_ROOM
    indices = view(w[stack + STACK_INDICES], w[stack + ROOM], np.int32)
    call(w[LIST_ENTRIES], slot, n, 0, 0, w, r)
    listed = view(w[slot + LIST], n + 1, np.int32)
    for t in range(np.uint64(nvals)):
        i = listed[t]
        indices[np.uint64(end) + t] = i
        stack_values[np.uint64(end) + t] = values[np.uint64(i)]
    starts[count + 1] = end + nvals
    w[stack + STACK_COUNT] = count + 1
    return GOES_ON


def find_item(w, stack, index):
    """Return the position of an item in a stack; a negative index counts from the end."""
    count = w[stack + STACK_COUNT]
    item = index + count if index < 0 else index
    if item < 0 or item >= count:
        w[FAULT], w[FAULT_A], w[FAULT_B] = -1 - NO_ITEM, index, count
    return item


def remove_item(w, stack, item):
    """Remove an item of a stack and all items after it."""
    w[stack + STACK_COUNT] = item
    w[stack + LOWEST] = item if item < w[stack + LOWEST] else w[stack + LOWEST]


def read_item(stack, slot, n, values, stack_values, w, r):
    """Copy the item w[ITEM] of a stack to a slot."""
    item = w[ITEM]
    starts = view(w[stack + STACK_STARTS], w[stack + STACK_ROOM] + 2, np.int64)
    begin, end = starts[item], starts[item + 1]
    call(w[CLEAR], slot, n, 0, 0, w, r)
    indices = view(w[stack + STACK_INDICES], w[stack + ROOM], np.int32)
    listed = view(w[slot + LIST], n + 1, np.int32)
    present = view(w[slot + PRESENT], n, np.bool_)
    for t in range(np.uint64(end - begin)):
        i = indices[np.uint64(begin) + t]
        listed[t] = i
        present[np.uint64(i)] = True
        values[np.uint64(i)] = stack_values[np.uint64(begin) + t]
    w[slot + NVALS], w[slot + LENGTH], w[slot + LISTED] = end - begin, end - begin, EXACT
    return GOES_ON


# --- operations on scalars, with the same results as in Python ------------------------------------
# Where Python would raise an exception, such a function records a fault instead: it stores its own
# code (ADD, SUB, ...) and its operands. The program's caller then calls the corresponding Python
# function with these operands, which raises the exception.

(
    ADD,
    SUB,
    MUL,
    FLOORDIV,
    MOD,
    POW,
    NEG,
    ABS,
    LSHIFT,
    RSHIFT,
    TO_INT,
    ROUND,
    FLOOR,
    CEIL,
    TRUEDIV,
    UNSIGNED,
    FIT_INT,
    FIT_FLOAT,
    FIT_FP32,
    FLOORDIV_FLOAT,
    MOD_FLOAT,
    POW_FLOAT,
    GCD,
    ISQRT,
    COMB,
    PERM,
) = [np.int64(_number) for _number in range(1, 27)]
MATH = 32  # the number of the first function in MATH_NAMES; the others follow in order
MATH_NAMES = (
    "sqrt",
    "exp",
    "log",
    "log2",
    "log10",
    "sin",
    "cos",
    "tan",
    "asin",
    "acos",
    "atan",
    "atan2",
    "sinh",
    "cosh",
    "tanh",
    "hypot",
    "log1p",
    "expm1",
    "cbrt",
    "erf",
    "erfc",
    "gamma",
    "lgamma",
    "asinh",
    "acosh",
    "atanh",
    "fmod",
    "remainder",
)
LEAST, MOST = np.int64(-(1 << 63)), np.int64((1 << 63) - 1)


def fail(w, function, x, y):
    """Record that a function has failed for the integers x and y. Return 0."""
    if w[FAULT] == 0:
        w[FAULT], w[FAULT_A], w[FAULT_B] = function, x, y
    return np.int64(0)


def fail_float(w, r, function, x, y):
    """Record that a function has failed for the floats x and y. Return 0."""
    if w[FAULT] == 0:
        w[FAULT], r[0], r[1] = function, x, y
    return 0.0


# The compiler may assume that sums and products of signed integers do not overflow. So the
# functions below check for overflow first, or compute with unsigned integers.


def add_int(w, x, y):
    """Return x + y."""
    z = np.int64(np.uint64(x) + np.uint64(y))
    return fail(w, ADD, x, y) if ((x ^ z) & (y ^ z)) < 0 else z


def sub_int(w, x, y):
    """Return x - y."""
    z = np.int64(np.uint64(x) - np.uint64(y))
    return fail(w, SUB, x, y) if ((x ^ y) & (x ^ z)) < 0 else z


def mul_int(w, x, y):
    """Return x * y."""
    z = np.int64(np.uint64(x) * np.uint64(y))
    if -(1 << 31) <= x < 1 << 31 and -(1 << 31) <= y < 1 << 31:
        return z
    if x != 0 and ((x == -1 and y == LEAST) or (y == -1 and x == LEAST) or z // x != y):
        return fail(w, MUL, x, y)
    return z


def floordiv_int(w, x, y):
    """Return x // y."""
    if y == 0 or (y == -1 and x == LEAST):
        return fail(w, FLOORDIV, x, y)
    return x // y


def mod_int(w, x, y):
    """Return x % y."""
    if y == 0:
        return fail(w, MOD, x, y)
    return np.int64(0) if y == -1 else x % y


def pow_int(w, x, y):
    """Return x ** y, for y >= 0."""
    if w[FAULT] != 0:
        return np.int64(0)
    if y < 0:
        return fail(w, POW, x, y)
    z, base, left = np.int64(1), x, y
    while left > 0:
        if left & 1:
            z = mul_int(w, z, base)
        left >>= 1
        if left > 0:
            base = mul_int(w, base, base)
        if w[FAULT] != 0:
            w[FAULT], w[FAULT_A], w[FAULT_B] = POW, x, y
            return np.int64(0)
    return z


def neg_int(w, x):
    """Return -x."""
    return fail(w, NEG, x, x) if x == LEAST else -x


def abs_int(w, x):
    """Return abs(x)."""
    return fail(w, ABS, x, x) if x == LEAST else abs(x)


def lshift_int(w, x, y):
    """Return x << y."""
    if y < 0:
        return fail(w, LSHIFT, x, y)
    if x == 0 or (x == -1 and y == 63):
        return LEAST if x else x
    z = x << y if y < 63 else np.int64(0)
    return fail(w, LSHIFT, x, y) if y > 62 or z >> y != x else z


def rshift_int(w, x, y):
    """Return x >> y."""
    if y < 0:
        return fail(w, RSHIFT, x, y)
    return x >> (y if y < 63 else 63)


def gcd_int(w, x, y):
    """Return math.gcd(x, y)."""
    a, b = x, y
    while b != 0:
        a, b = b, np.int64(0) if b == -1 else a % b
    return fail(w, GCD, x, y) if a == LEAST else abs(a)


def isqrt_int(w, x):
    """Return math.isqrt(x)."""
    if x < 0:
        return fail(w, ISQRT, x, x)
    root = min(np.int64(np.sqrt(np.float64(x))), np.int64(3037000499))
    while root * root > x:
        root -= 1
    while root < 3037000499 and (root + 1) * (root + 1) <= x:
        root += 1
    return root


def comb_int(w, x, y):
    """Return math.comb(x, y)."""
    if w[FAULT] != 0:
        return np.int64(0)
    if x < 0 or y < 0:
        return fail(w, COMB, x, y)
    z = np.int64(y <= x)
    for i in range(min(y, x - y)):
        shared = gcd_int(w, z, i + 1)
        z = mul_int(w, z // shared, (x - i) // ((i + 1) // shared))
        if w[FAULT] != 0:
            w[FAULT], w[FAULT_A], w[FAULT_B] = COMB, x, y
            return np.int64(0)
    return z


def perm_int(w, x, y):
    """Return math.perm(x, y)."""
    if w[FAULT] != 0:
        return np.int64(0)
    if x < 0 or y < 0:
        return fail(w, PERM, x, y)
    z = np.int64(y <= x)
    for i in range(y if y <= x else 0):
        z = mul_int(w, z, x - i)
        if w[FAULT] != 0:
            w[FAULT], w[FAULT_A], w[FAULT_B] = PERM, x, y
            return np.int64(0)
    return z


def remainder(x, y):
    """Return math.remainder(x, y), or NaN if Python raises an exception."""
    if x - x != 0 or y - y != 0:
        return x if x - x == 0 and y == y else np.nan
    if y == 0:
        return np.nan
    size, step = abs(x), abs(y)
    part = np.fmod(size, step)
    rest = step - part
    if part > rest:
        part = -rest
    elif part == rest:
        part -= 2.0 * np.fmod(0.5 * (size - part), step)
    return np.copysign(1.0, x) * part


def to_int(w, r, function, x, whole):
    """Convert `whole`, the result of rounding the float x, to an integer."""
    if x != x or whole >= 9223372036854775808.0 or whole < -9223372036854775808.0:
        fail_float(w, r, function, x, 0.0)
        return np.int64(0)
    return np.int64(whole)


def truediv(w, r, x, y):
    """Return x / y."""
    return fail_float(w, r, TRUEDIV, x, y) if y == 0 else x / y


def floordiv_float(w, r, x, y):
    """Return x // y. If y is 0, record a fault and return 0."""
    if y == 0:
        return fail_float(w, r, FLOORDIV_FLOAT, x, y)
    rest = np.fmod(x, y)
    quotient = (x - rest) / y
    if rest != 0 and (y < 0) != (rest < 0):
        quotient -= 1.0
    if quotient == 0:
        return np.copysign(0.0, x / y)
    whole = np.floor(quotient)
    return whole + 1.0 if quotient - whole > 0.5 else whole


def mod_float(w, r, x, y):
    """Return x % y."""
    if y == 0:
        return fail_float(w, r, MOD_FLOAT, x, y)
    rest = np.fmod(x, y)
    if rest == 0:
        return np.copysign(0.0, y)
    return rest + y if (y < 0) != (rest < 0) else rest


def checked(w, r, function, x, y, z):
    """Return z, the result of x ** y or of a math function. Record a fault if Python would raise an
    exception instead."""
    if z - z == 0 or (z != z and (x != x or y != y)):
        return z
    if z == z and not (x - x == 0 and y - y == 0):
        return z
    return fail_float(w, r, function, x, y)


def signed(w, x):
    """Return a UINT64 as an INT64. Record a fault if it does not fit."""
    return fail(w, UNSIGNED, np.int64(x), np.int64(x)) if x > np.uint64(MOST) else np.int64(x)


def smaller(x, y):
    """Return min(x, y) as Python does."""
    return y if y < x else x


def larger(x, y):
    """Return max(x, y) as Python does."""
    return y if y > x else x


def fit_int(w, x, least, most, dtype):
    """Return the integer x. Record a fault if it does not fit the dtype whose code is `dtype`."""
    return fail(w, FIT_INT, x, dtype) if x < least or x > most else x


def fit_float(w, r, x, least, most, dtype):
    """Return the float x. Record a fault if its integer part does not fit the integer dtype whose
    code is `dtype` and whose range is `least` to `most`."""
    if not (least - 1.0 < x and x < most + 1.0):
        fail_float(w, r, FIT_FLOAT, x, np.float64(dtype))
        return 0.0
    return x


def fit_fp32(w, r, x, dtype):
    """Return the float x, rounded to FP32. Record a fault if a finite x becomes infinite."""
    z = np.float64(np.float32(x))
    return fail_float(w, r, FIT_FP32, x, np.float64(dtype)) if x - x == 0 and z - z != 0 else z
