"""How many time slots do the exams need? Color the conflict graph.

Row s of the matrix E lists the courses that student s takes. Two courses conflict if a student
takes both, that is, if EᵀE has an entry for the two courses. A color stands for a time slot of one
hour; courses of the same color must not conflict.

python examples/timetable.py
"""

from typing import Any

import numpy as np
import picture

from graphla import Matrix, select
from graphla.algorithms import greedy_color
from graphla.semiring import plus_pair

STUDENTS, COURSES, EACH, SUBJECTS = 400, 60, 4, 6

rng = np.random.default_rng(7)
subject = rng.integers(0, SUBJECTS, STUDENTS)
courses = np.arange(COURSES)
taken = [
    rng.choice(courses, EACH, replace=False, p=likely / likely.sum())
    for likely in (np.where(courses % SUBJECTS == own, 1.0, 0.01) for own in subject)
]
students = np.repeat(np.arange(STUDENTS), EACH)
E = Matrix.from_coo(students, np.concatenate(taken), True, nrows=STUDENTS, ncols=COURSES)

# C = Eᵀ plus.pair E, off the diagonal: the number of students who take both courses
clashes = select.offdiag(plus_pair(E.T @ E)).new()
hour = greedy_color(clashes).to_dense()
hours = int(hour.max()) + 1

rows, columns, both = clashes.to_coo()
assert (hour[rows] != hour[columns]).all()
print(f"{COURSES} courses, {clashes.nvals // 2:,} clashing pairs")
print(f"the largest clash affects {both.max()} students")
print(f"{hours} hours are enough. The courses of each hour:")
for h in range(hours):
    print(f"{h + 1:>3}  " + " ".join(f"{course:>2}" for course in np.flatnonzero(hour == h)))


def draw(axes):
    order = np.argsort(hour, kind="stable")
    place = np.argsort(order)
    axes.scatter(place[columns], place[rows], 6, both, cmap="viridis_r")
    for h in range(hours):
        first, size = np.searchsorted(hour[order], h), np.count_nonzero(hour == h)
        axes.add_patch(square(first - 0.5, size))
    axes.invert_yaxis()
    picture.bare(axes, "Clashing courses (dots). No dot is inside the square of an hour")


def square(corner: float, size: Any):
    from matplotlib.patches import Rectangle

    return Rectangle((corner, corner), size, size, fill=False, edgecolor=picture.COLORS[0])


picture.save("timetable", draw, wide=7, high=7)
