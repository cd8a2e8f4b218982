"""Functions that every compiled program calls: they keep vectors in memory and choose how to run.

A program keeps its whole state in an array of integers `w` and an array of floats `r`. The first
words of `w` are the fields named here. Then come the records of slots, matrices and stacks, whose
fields are named here too. A field that holds an array contains its address.

A slot stores an array of values, an array of flags (`PRESENT`) and, if `LISTED` is not 0, a list of
indices. If `LISTED` is EXACT, the list contains each index with an entry once. If it is LOOSE, it
may contain indices without an entry as well.
"""

import numpy as np

from graphla.backends.cpu.loops.placeholder_ops import view

ONE = np.uint64(1)

# Numba compiles a function again for each literal argument. So all integer arguments are made by
# np.int64, and so are the constants that are passed to functions.

# The fields of the program. The caller sets those of the first line.
STOP, WIDE, WIDE_EDGES, SPARSE, FIXED, FORCED, TRACED = range(7)
AT, STATUS, REGION, NEEDED, LINE = range(7, 12)  # why and where the program has left
FAULT, FAULT_A, FAULT_B = range(12, 15)
DOMAIN, SIZE, LENGTH_0, DOMAIN_0, DOMAIN_1 = range(15, 20)  # the indices that a loop visits
PARTS, COUNTS, PARTIALS, HAS_PARTIAL = range(20, 24)  # the results of the parts of a loop
PUSHES, FRONTIER, EDGES = range(24, 27)  # the last product
REST = 27  # an array of ROW indices for each part
NEAR = 28  # a statement visits this many indices in lists, if there are lists
FIRST_RECORD = 32

# The fields of a slot.
VALUES, PRESENT, LIST, NVALS, LISTED, LENGTH = range(6)
SLOT_FIELDS = 6
EXACT, LOOSE = 1, 2

# The indices that a statement visits: those in lists, those with an entry, or all.
IN_LISTS, WITH_ENTRY, ALL = 0, 1, 2
BLOCK = np.uint64(1024)  # number of indices that are listed at a time
WIDTH = 16  # length of the counts of a part
ROW = np.int64(1032)  # length of the list of a part

# The fields of a matrix: two forms, CSR and CSC, and two numbers. FIRSTS holds a column of each
# row, or -1 for an empty row.
INDPTR, INDICES, WEIGHTS, FIRSTS, HELD = range(5)
FORM_FIELDS = 5
ENTRIES, LOSS = 10, 11
MATRIX_FIELDS = 12

# The fields of a stack. Item k has the entries STARTS[k] to STARTS[k + 1] - 1.
# Items 0 to LOWEST - 1 have never been removed.
STACK_INDICES, STACK_VALUES, STACK_STARTS, STACK_COUNT, ROOM, STACK_ROOM, LOWEST = range(7)
STACK_FIELDS = 7

# Why the program has left.
FINISHED, STOPPED, FAULTED, SPREAD, NEEDS_FORM, NEEDS_ROOM, RECORDS = range(7)

STRETCH = np.uint64(1 << 14)  # number of indices whose values are folded first
NOT_FULL, OUT_OF_RANGE, DUPLICATE, NO_ITEM, BAD_INDEX = range(5)  # faults of statements

FIRST_FAULT = -100  # the number of the program's first own fault; the next ones are lower

PUSH, PULL = 1, 2
PUSHED, STOPPING, MISSING = 2.0, 0.6, 5.0  # costs; the unit is an entry that a pull reads


# --- entries ------------------------------------------------------------------------------------


def clear(w, slot, n):
    """Delete all entries of a slot."""
    if w[slot + NVALS] > 0:
        present = view(w[slot + PRESENT], n, np.bool_)
        if w[slot + LISTED] and w[slot + LENGTH] * 16 < n:
            listed = view(w[slot + LIST], n, np.int32)
            for t in range(np.uint64(w[slot + LENGTH])):
                present[np.uint64(listed[t])] = False
        else:
            present[:] = False
    w[slot + NVALS], w[slot + LISTED], w[slot + LENGTH] = 0, EXACT, 0


def list_entries(w, slot, n):
    """Make the list of a slot exact."""
    if w[slot + LISTED] == EXACT:
        return
    listed = view(w[slot + LIST], n + 1, np.int32)
    present = view(w[slot + PRESENT], n, np.bool_)
    end = np.uint64(0)
    if w[slot + LISTED] == LOOSE:
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
        if w[slot + LISTED]:
            w[slot + LISTED] = LOOSE


def settle(w, slot, is_listed, adds, removes):
    """Update what is known of a slot's list after entries were added or removed.

    If `is_listed` is true, the indices of the new entries have been appended to an exact list.
    """
    if w[slot + NVALS] == 0:
        w[slot + LISTED], w[slot + LENGTH] = EXACT, 0
        return
    if adds and not is_listed:
        w[slot + LISTED] = 0
    if removes and w[slot + LISTED]:
        w[slot + LISTED] = LOOSE


# --- the indices that a statement visits ----------------------------------------------------------


def choose_domain(w, n, options, count):
    """Choose the indices that a statement visits, and store them in the fields of the program.

    Each option is a pair of slots, or -1 in place of a slot, such that the statement changes
    nothing at an index where neither slot has an entry. If no option has few entries, the
    statement visits all indices.
    """
    best, least = np.int64(-1), np.int64(0)
    for option in range(options, options + 2 * count, 2):
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
        w[SIZE] = n
        w[DOMAIN] = ALL if least * 4 > n * 3 or w[best] < 0 else WITH_ENTRY
        return
    w[DOMAIN], w[SIZE], w[LENGTH_0] = IN_LISTS, 0, 0
    for k in range(2):
        slot = w[best + k]
        if slot >= 0:
            list_entries(w, slot, n)
            w[SIZE] += w[slot + LENGTH]
            if k == 0:
                w[LENGTH_0] = w[slot + LENGTH]


def divides(w, number, size, work):
    """Store what the program needs to run a region. Return whether the caller should divide it."""
    w[SIZE], w[REGION], w[PARTS] = size, number, 1
    return w[DOMAIN] != IN_LISTS and work > w[WIDE]


def visit_in_order(w, n):
    """Visit the indices in order if sums must be the same at each run."""
    if w[FIXED] and w[DOMAIN] == IN_LISTS:
        w[DOMAIN], w[SIZE] = WITH_ENTRY if w[DOMAIN_0] >= 0 else ALL, n


def list_in_order(w, slot, n):
    """Make the list of a slot exact, and sort it if sums must be the same at each run."""
    if w[FIXED]:
        w[slot + LISTED] = 0
    list_entries(w, slot, n)


def rest_of(w, part):
    """Return the array in which a part of a statement lists indices."""
    return view(w[REST] + part * (ROW * np.int64(4)), ROW, np.int32)


def list_block(w, rest, first, last, n):
    """Store indices that a statement visits in `rest`, and return their number.

    These are the indices first..last - 1, or those at these positions in the lists. An index that
    is in both lists is visited with the first list only: a statement changes no flags of this slot.
    """
    size = np.uint64(0)
    begin, end = np.uint64(first), np.uint64(last)
    if w[DOMAIN] == ALL:
        for i in range(begin, end):
            rest[i - begin] = np.int32(i)
        return end - begin
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
        return size
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
    return size


def prepare(w, target, n):
    """Make the list of the target exact, if a statement that visits a list can append to it."""
    if w[DOMAIN] == IN_LISTS and w[target + LISTED] == LOOSE:
        if w[target + NVALS] * 8 > n:
            w[target + LISTED] = 0
        else:
            list_entries(w, target, n)


def finish_update(w, target, column):
    """Count the entries of a slot after a statement has changed it in place."""
    counts = view(w[COUNTS], WIDTH * w[PARTS], np.int64)
    adds, removes = np.int64(0), np.int64(0)
    for part in range(w[PARTS]):
        adds += counts[WIDTH * part + column]
        removes += counts[WIDTH * part + column + 1]
    w[target + NVALS] += adds - removes
    settle(w, target, w[DOMAIN] == IN_LISTS, adds > 0, removes > 0)


def finish_result(w, out):
    """Count the entries of a slot after a statement has written all of it."""
    counts = view(w[COUNTS], WIDTH * w[PARTS], np.int64)
    total = np.int64(0)
    for part in range(w[PARTS]):
        total += counts[WIDTH * part]
    w[out + NVALS], w[out + LENGTH] = total, total
    w[out + LISTED] = EXACT if total == 0 or w[DOMAIN] == IN_LISTS else 0


def finish_scatter(w, out, which):
    """Count the entries of a slot whose indices a scatter has listed."""
    counts = view(w[COUNTS], 2, np.int64)
    w[out + NVALS], w[out + LENGTH], w[out + LISTED] = counts[which], counts[which], EXACT


def count_parts(w):
    """Return the sum of the first counts of all parts."""
    counts = view(w[COUNTS], WIDTH * w[PARTS], np.int64)
    total = np.int64(0)
    for part in range(w[PARTS]):
        total += counts[WIDTH * part]
    return total


def finish_push(w, out, n):
    """Join the lists that the parts of a push have made.

    Part k has written its list from position counts[WIDTH * k + 1], its first output.
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


def choose_direction(
    w, u, n, outputs, allowed, matrix, push_form, pull_form, indptr, stops, is_fixed
):
    """Choose push or pull for a product, by the costs of `operations.direction`.

    `allowed` is the number of outputs that the mask allows, and `stops` is true if a sum may stop
    early. Return PUSH, PULL, or 0 if the caller must make a form of the matrix first.
    """
    entries, total = w[u + NVALS], w[matrix + ENTRIES]
    has_push, has_pull = w[matrix + push_form + HELD], w[matrix + pull_form + HELD]
    reached = total
    if entries * 8 <= n and has_push:
        list_entries(w, u, n)
        listed = view(w[u + LIST], n + 1, np.int32)
        reached = np.int64(0)
        for t in range(np.uint64(entries)):
            k = np.uint64(listed[t])
            reached += np.int64(indptr[k + ONE]) - np.int64(indptr[k])
    elif entries < n:
        reached = np.int64(np.float64(total) * entries / n)
    push = PUSHED * reached
    read = np.float64(allowed) * total / (outputs + 1)
    if stops:
        stopped = np.float64(allowed) * total / (reached + 1)
        read = STOPPING * (stopped if stopped < read else read)
    pull = outputs + read
    wanted = PUSH if push <= pull else PULL
    must = w[FORCED] != 0
    if must:
        wanted = w[FORCED]
    elif is_fixed and w[FIXED]:
        wanted = PUSH if 2 * entries <= n else PULL
        must = True
    w[FRONTIER], w[EDGES] = entries, reached
    if (has_push if wanted == PUSH else has_pull) == 0:
        w[matrix + LOSS] += np.int64(abs(push - pull))
        if must or w[matrix + LOSS] >= MISSING * (total + n + outputs):
            w[NEEDED] = matrix + (push_form if wanted == PUSH else pull_form)
            return 0
        wanted = PUSH + PULL - wanted
    w[PUSHES] = wanted
    return wanted


# --- indices --------------------------------------------------------------------------------------


def check_indices(w, slot, indices, n, size):
    """Check that a slot is full and that its values are valid indices of a vector of `size`."""
    if w[slot + NVALS] < n:
        w[FAULT], w[FAULT_A], w[FAULT_B] = -1 - NOT_FULL, n - w[slot + NVALS], n
        return
    for t in range(np.uint64(n)):
        index = np.int64(indices[t])
        is_wide = index < 0 and indices[t] > 0  # a UINT64 above INT64
        if index >= size or index < -size or is_wide:
            w[FAULT], w[FAULT_A], w[FAULT_B] = -1 - OUT_OF_RANGE, index, size
            return


def wrap(index, size):
    """Return a valid index; a negative one counts from the end."""
    index = np.int64(index)
    return np.uint64(index + size if index < 0 else index)


# --- stacks ---------------------------------------------------------------------------------------


def append_item(w, stack, slot, n, values, stack_values):
    """Append the entries of a slot to a stack. Return whether the stack had room for them."""
    count, nvals = w[stack + STACK_COUNT], w[slot + NVALS]
    starts = view(w[stack + STACK_STARTS], w[stack + STACK_ROOM] + 2, np.int64)
    end = starts[count]
    if count >= w[stack + STACK_ROOM] or end + nvals > w[stack + ROOM]:
        w[NEEDED] = end + nvals
        return False
    indices = view(w[stack + STACK_INDICES], w[stack + ROOM], np.int32)
    list_entries(w, slot, n)
    listed = view(w[slot + LIST], n + 1, np.int32)
    for t in range(np.uint64(nvals)):
        i = listed[t]
        indices[np.uint64(end) + t] = i
        stack_values[np.uint64(end) + t] = values[np.uint64(i)]
    starts[count + 1] = end + nvals
    w[stack + STACK_COUNT] = count + 1
    return True


def find_item(w, stack, index):
    """Return the number of an item of a stack; a negative index counts from the end."""
    count = w[stack + STACK_COUNT]
    item = index + count if index < 0 else index
    if item < 0 or item >= count:
        w[FAULT], w[FAULT_A], w[FAULT_B] = -1 - NO_ITEM, index, count
    return item


def remove_item(w, stack, item):
    """Remove an item of a stack and all items after it."""
    w[stack + STACK_COUNT] = item
    w[stack + LOWEST] = item if item < w[stack + LOWEST] else w[stack + LOWEST]


def read_item(w, stack, item, slot, n, values, stack_values):
    """Store a copy of an item of a stack in a slot."""
    starts = view(w[stack + STACK_STARTS], w[stack + STACK_ROOM] + 2, np.int64)
    begin, end = starts[item], starts[item + 1]
    clear(w, slot, n)
    indices = view(w[stack + STACK_INDICES], w[stack + ROOM], np.int32)
    listed = view(w[slot + LIST], n + 1, np.int32)
    present = view(w[slot + PRESENT], n, np.bool_)
    for t in range(np.uint64(end - begin)):
        i = indices[np.uint64(begin) + t]
        listed[t] = i
        present[np.uint64(i)] = True
        values[np.uint64(i)] = stack_values[np.uint64(begin) + t]
    w[slot + NVALS], w[slot + LENGTH], w[slot + LISTED] = end - begin, end - begin, EXACT


# --- scalars, by the rules of Python --------------------------------------------------------------
# A function that Python would raise an exception for stores its number and its operands in
# the fields of the fault. The caller computes it again in Python to raise the exception.

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
MATH = 32  # number of the first function of module math, in the order of MATH_NAMES
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
    """Record that a function of the integers x and y fails. Return 0."""
    if w[FAULT] == 0:
        w[FAULT], w[FAULT_A], w[FAULT_B] = function, x, y
    return np.int64(0)


def fail_float(w, r, function, x, y):
    """Record that a function of the floats x and y fails. Return 0."""
    if w[FAULT] == 0:
        w[FAULT], r[0], r[1] = function, x, y
    return 0.0


# Compiled code may assume that sums and products of signed integers do not overflow, so a test
# comes before the operation, or the operation is on unsigned integers.


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
    """Return the integer `whole`, which a function has computed from the float x."""
    if x != x or whole >= 9223372036854775808.0 or whole < -9223372036854775808.0:
        fail_float(w, r, function, x, 0.0)
        return np.int64(0)
    return np.int64(whole)


def truediv(w, r, x, y):
    """Return x / y."""
    return fail_float(w, r, TRUEDIV, x, y) if y == 0 else x / y


def floordiv_float(w, r, x, y):
    """Return x // y, or 0 if y is 0, which is a fault."""
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
    """Return z, the value of a function of module math or of x ** y, if Python returns it."""
    if z - z == 0 or (z != z and (x != x or y != y)):
        return z
    if z == z and not (x - x == 0 and y - y == 0):
        return z
    return fail_float(w, r, function, x, y)


def signed(w, x):
    """Return a UINT64 as a Python int, which must fit INT64."""
    return fail(w, UNSIGNED, np.int64(x), np.int64(x)) if x > np.uint64(MOST) else np.int64(x)


def smaller(x, y):
    """Return min(x, y) as Python does."""
    return y if y < x else x


def larger(x, y):
    """Return max(x, y) as Python does."""
    return y if y > x else x


def fit_int(w, x, least, most, dtype):
    """Return the integer x if it fits a dtype; `dtype` is the dtype's number."""
    return fail(w, FIT_INT, x, dtype) if x < least or x > most else x


def fit_float(w, r, x, least, most, dtype):
    """Return the float x as an integer that fits a dtype."""
    if not (least - 1.0 < x and x < most + 1.0):
        fail_float(w, r, FIT_FLOAT, x, np.float64(dtype))
        return 0.0
    return x


def fit_fp32(w, r, x, dtype):
    """Return the float x if it does not become infinite as an FP32."""
    z = np.float64(np.float32(x))
    return fail_float(w, r, FIT_FP32, x, np.float64(dtype)) if x - x == 0 and z - z != 0 else z
