"""Check the laws of an operator, monoid or semiring by searching for counterexamples."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from semirings import binary, monoid, semiring
from semirings.dtypes import DataType, lookup_dtype
from semirings.exceptions import InvalidValue
from semirings.laws.declared import declared
from semirings.laws.domain import (
    EVERYWHERE,
    FINITE,
    NO_NAN,
    NO_PRODUCT_OVERFLOWS,
    NO_SUM_OVERFLOWS,
    NONNEGATIVE,
    NOWHERE,
    POSITIVE_FINITE,
    POSITIVE_ROUNDED,
    ROUNDED,
    UNIT,
    Domain,
    extremes,
)
from semirings.laws.statement import (
    STATEMENTS,
    Algebra,
    LawName,
    TypedThing,
    algebra,
    breaks,
    broken,
    law_names,
)
from semirings.operators import BinaryOp, TypedBinaryOp
from semirings.structures import Monoid, Semiring, TypedMonoid, TypedSemiring

# The domains on which a law is tested if no domain is declared, from the widest to the narrowest.
_DOMAINS = {
    "f": (
        EVERYWHERE,
        NO_NAN,
        FINITE,
        NONNEGATIVE,
        POSITIVE_FINITE,
        UNIT,
        ROUNDED,
        POSITIVE_ROUNDED,
    ),
    "i": (EVERYWHERE, NO_SUM_OVERFLOWS, NONNEGATIVE, NO_PRODUCT_OVERFLOWS, POSITIVE_FINITE),
    "u": (EVERYWHERE, NO_SUM_OVERFLOWS, NO_PRODUCT_OVERFLOWS, POSITIVE_FINITE),
    "b": (EVERYWHERE,),
}


@dataclass(frozen=True, slots=True)
class Finding:
    """The result of checking one law on one dtype.

    `domain` is the set of operands for which the law holds. `counterexample` contains the smallest
    operands that were found to violate the law.
    """

    thing: str
    law: LawName
    claimed: bool
    domain: Domain
    tried: int
    counterexample: tuple[Any, ...] | None = None
    sides: tuple[Any, Any] | None = None

    @property
    def ok(self) -> bool:
        """Whether the law holds on some domain, or was not required to hold."""
        return not self.claimed or self.domain is not NOWHERE

    def __str__(self) -> str:
        verdict = f"holds {self.domain} ({self.tried:,} tried)"
        if self.domain is NOWHERE:
            verdict = "BROKEN" if self.claimed else "does not hold"
        line = f"{self.law.replace('_', ' '):<19}{verdict}"
        if self.counterexample is None or self.sides is None:
            return line
        where = ", ".join(
            f"{name} = {value}" for name, value in zip("xyz", self.counterexample, strict=False)
        )
        left, right = self.sides
        formula = STATEMENTS[self.law].formula
        place = "at" if self.domain is NOWHERE else "outside, at"
        return f"{line}\n  {formula} breaks {place} {where}: {left} against {right}"


@dataclass(frozen=True, slots=True)
class Report:
    """The result of `check`: one finding per law and dtype. `str(report)` lists them as text.

    Attributes:
        thing: the name of the operator, monoid or semiring.
        findings: one Finding per law and dtype, whether the law holds or not.
    """

    thing: str
    findings: tuple[Finding, ...] = field(repr=False)

    @property
    def ok(self) -> bool:
        """Whether every required law holds."""
        return all(finding.ok for finding in self.findings)

    @property
    def broken(self) -> tuple[Finding, ...]:
        """The findings about claimed laws that do not hold."""
        return tuple(finding for finding in self.findings if not finding.ok)

    def raise_if_broken(self) -> None:
        """Raise an error with the smallest counterexamples if a claimed law is broken.

        Raises:
            InvalidValue: a claimed law is broken.
        """
        if not self.ok:
            raise InvalidValue(_page(self.thing, self.broken))

    def __str__(self) -> str:
        return _page(self.thing, self.findings)


def _page(title: str, findings: Iterable[Finding]) -> str:
    lines: list[str] = []
    heading = ""
    for finding in findings:
        if finding.thing != heading:
            heading = finding.thing
            lines.append(heading)
        lines += [f"  {line}" for line in str(finding).splitlines()]
    return "\n".join(lines) if lines else f"{title}: no law can be stated, for it is not closed"


def check(
    thing: Any,
    dtype: Any = None,
    *,
    laws: Iterable[str] | None = None,
    domain: Domain | None = None,
    seed: int = 0,
) -> Report:
    """Check the laws of an operator, monoid or semiring, and report the smallest counterexamples.

    A built-in object must obey its declared laws. A monoid defined by a user must be commutative
    and associative, its identity and terminal value must be correct, and ⊕ must be idempotent if
    `is_idempotent` is set. In a semiring defined by a user, ⊗ must also distribute over ⊕. All
    other laws are tested and reported, too. The operands of the tests are simple values, extreme
    values and random values.

    Args:
        thing: a binary operator, monoid or semiring, typed or not, or its name.
        dtype: the dtype of the operands; by default, every dtype for which the results have the
            same dtype.
        laws: the names of the laws that must hold, instead of the laws described above.
        domain: the domain on which each law is tested. By default, several domains are tested, and
            the report names the widest domain on which the law holds.
        seed: the seed of the random values.

    Returns:
        The report.

    Raises:
        TypeError: `thing` is not an operator, monoid or semiring.
        InvalidValue: a law is unknown.

    Examples:
        >>> from semirings import binary, laws
        >>> print(laws.check(binary.minus, "INT8", laws=["commutative"]))
        minus[INT8]
          commutative        BROKEN
            x ⊕ y = y ⊕ x breaks at x = 0, y = 1: -1 against 1
    """
    thing = _find(thing)
    names = _check_names(laws)
    findings: list[Finding] = []
    for typed in _typed(thing, dtype):
        findings += _check_typed(typed, names, domain, seed)
    return Report(str(getattr(thing, "name", thing)), tuple(findings))


def _find(thing: Any) -> Any:
    if isinstance(thing, BinaryOp | Monoid | Semiring | TypedThing):
        return thing
    if not isinstance(thing, str):
        raise TypeError(
            f"thing is {thing!r}, but it should be a binary operator, monoid or semiring"
        )
    for module in (binary, monoid, semiring):
        try:
            return module.from_string(thing)
        except (ValueError, KeyError, AttributeError):
            continue
    raise InvalidValue(f"thing is {thing!r}, but should name a binary operator, monoid or semiring")


def _check_names(laws: Iterable[str] | None) -> tuple[LawName, ...] | None:
    if laws is None:
        return None
    names = (laws,) if isinstance(laws, str) else tuple(laws)
    for name in names:
        if name not in STATEMENTS and name not in ("distributive", "annihilator"):
            raise InvalidValue(f"laws has {name!r}, but should be among {', '.join(STATEMENTS)}")
    return tuple(
        law
        for law in STATEMENTS
        for name in names
        if law in (name, f"left_{name}", f"right_{name}")
    )


def _typed(thing: Any, dtype: Any) -> Iterator[TypedThing]:
    if isinstance(thing, TypedBinaryOp | TypedMonoid | TypedSemiring):
        yield thing
        return
    for input_type in thing.types if dtype is None else (lookup_dtype(dtype),):
        typed = thing[input_type]
        if dtype is not None or typed.return_type == input_type:
            yield typed


def _check_typed(
    typed: TypedThing, names: tuple[LawName, ...] | None, domain: Domain | None, seed: int
) -> Iterator[Finding]:
    if isinstance(typed, TypedSemiring):
        yield from _check_typed(typed.monoid, names, domain, seed)
    a = algebra(typed)
    if a is None:
        return
    declarations = {law.name: law.domain for law in declared(typed)}
    outside = {law.name: law.counterexample for law in declared(typed)}
    for name in law_names(typed):
        if names is not None and name not in names:
            continue
        declaration = declarations.get(name)
        claimed = declaration is not NOWHERE if declaration else name in _claims(typed)
        held_to = domain or declaration
        domains = _DOMAINS[a.dtype.np_type.kind] if held_to in (None, NOWHERE) else (held_to,)
        law = _Law(a, name, seed)
        known = outside.get(name) if domain is None else None
        title = f"{typed.name}[{a.dtype.name}]"
        yield law.find(title, claimed or names is not None, domains, known)


def _claims(typed: TypedThing) -> tuple[LawName, ...]:
    """Return the laws that `check` requires of an object without declared laws."""
    if isinstance(typed, TypedSemiring):
        return ("left_distributive", "right_distributive")
    if isinstance(typed, TypedMonoid):
        idempotent: tuple[LawName, ...] = ("idempotent",) if typed.is_idempotent else ()
        return ("commutative", "associative", "identity", "terminal", *idempotent)
    return ()


@dataclass(frozen=True, slots=True)
class _Law:
    """A law of one algebra, with methods that search for operands that break it."""

    algebra: Algebra
    name: LawName
    seed: int

    def find(
        self, thing: str, claimed: bool, domains: tuple[Domain, ...], known: tuple[Any, ...] | None
    ) -> Finding:
        """Find the first domain on which the law holds, and a counterexample outside it."""
        smallest, tried = None, 0
        for domain in domains:
            operands, count = self.search(domain)
            tried += count
            if operands is None:
                return self.finding(thing, claimed, domain, count, smallest or known)
            smallest = smallest or operands
        return self.finding(thing, claimed, NOWHERE, tried, smallest)

    def finding(
        self, thing: str, claimed: bool, domain: Domain, tried: int, smallest: Any
    ) -> Finding:
        sides = None
        if smallest is not None:
            arrays = tuple(np.asarray([x], self.algebra.dtype.np_type) for x in smallest)
            left, right = STATEMENTS[self.name].sides(self.algebra, *arrays)
            sides = (left[0], right[0])
        return Finding(thing, self.name, claimed, domain, tried, smallest, sides)

    def search(self, domain: Domain) -> tuple[tuple[Any, ...] | None, int]:
        """Return the smallest operands that break the law (or None) and the number of tests."""
        arity = STATEMENTS[self.name].arity
        dtype = self.algebra.dtype
        simple = _within(domain, dtype, _simple_values(dtype))
        rng = np.random.default_rng(self.seed)
        tried = 0
        for operands in (_combinations(simple, arity), _random(rng, domain, simple, dtype, arity)):
            broken_at = np.flatnonzero(broken(self.algebra, self.name, operands, domain.agreement))
            if broken_at.size:
                tried += int(broken_at[0]) + 1
                return self.shrink(tuple(x[broken_at[0]] for x in operands), simple, domain), tried
            tried += len(operands[0])
        return None, tried

    def shrink(
        self, operands: tuple[Any, ...], simple: np.ndarray, domain: Domain
    ) -> tuple[Any, ...]:
        """Replace operands one at a time with simpler values that still break the law."""
        while True:
            for place, value in enumerate(operands):
                simpler = _simpler(value, simple, domain, self.algebra.dtype)
                attempts = ((*operands[:place], x, *operands[place + 1 :]) for x in simpler)
                smaller = next(
                    (a for a in attempts if breaks(self.algebra, self.name, a, domain)), None
                )
                if smaller is not None:
                    operands = smaller
                    break
            else:
                return operands


def _simple_values(dtype: DataType) -> np.ndarray:
    """Return small numbers, powers of two and extreme values, the simplest first."""
    t = dtype.np_type
    if t.kind == "b":
        return np.array([False, True])
    if t.kind == "f":
        info = np.finfo(t)
        most, eps, tiny = float(info.max), float(info.eps), float(info.tiny)
        numbers = [0, -0.0, 1, 2, 3, 0.5, 0.1, 10, np.inf, most, tiny, eps, 1 + eps, 1e-3, 1 / 3]
        numbers += [1e6, most / 2, tiny / 4]
        values = np.array([*numbers, *(-n for n in numbers), np.nan], t)
    else:
        least, most = extremes(t)
        numbers = [0, 1, 2, 3, 4, 7, 10, dtype.bits - 1, dtype.bits, 2 ** (dtype.bits // 2), 85]
        numbers += [most, least, most - 1, least + 1, most // 2, most // 2 + 1, most // 3]
        numbers += [-n for n in numbers]
        values = np.array([n for n in set(numbers) if least <= n <= most], t)
    order = sorted(range(len(values)), key=lambda k: _complexity(values[k]))
    return values[order]


def _within(domain: Domain, dtype: DataType, values: np.ndarray) -> np.ndarray:
    return values[domain.contains(dtype, values)]


def _combinations(values: np.ndarray, arity: int) -> tuple[np.ndarray, ...]:
    """Return every combination of operands from `values`, the simplest first."""
    ranks = np.indices((len(values),) * arity).reshape(arity, -1)
    order = np.lexsort((*ranks[::-1], ranks.sum(axis=0), ranks.max(axis=0, initial=0)))
    return tuple(values[rank[order]] for rank in ranks)


def _random(
    rng: np.random.Generator, domain: Domain, simple: np.ndarray, dtype: DataType, arity: int
) -> tuple[np.ndarray, ...]:
    """Return random values of all magnitudes in the domain, mixed with simple values."""
    size = 2000
    columns = []
    for _ in range(arity):
        values = _within(domain, dtype, _random_values(rng, domain, dtype, 4 * size))
        values = np.concatenate([values, simple])
        columns.append(rng.choice(values, size) if len(values) else values)
    return tuple(columns)


def _random_values(
    rng: np.random.Generator, domain: Domain, dtype: DataType, size: int
) -> np.ndarray:
    t = dtype.np_type
    raw = rng.integers(0, 256, size * t.itemsize, np.uint8)
    if t.kind == "b":
        return raw < 128
    if t.kind == "f":
        low, high = (float(np.clip(bound, -1e6, 1e6)) for bound in domain.bounds(dtype))
        scattered = raw.view(t)
        spread = rng.uniform(low, high, size).astype(t) if low < high else scattered
        return np.where(rng.random(size) < 0.5, scattered, spread)
    shift = rng.integers(0, 8 * t.itemsize, size).astype(t)
    return raw.view(t) >> shift


def _simpler(
    value: Any, simple: np.ndarray, domain: Domain, dtype: DataType
) -> Iterator[np.generic]:
    """Yield the values of the domain that are simpler than `value`.

    The values in `simple` come first, then fractions and roundings of `value`.
    """
    t = dtype.np_type.type
    attempts = list(simple)
    number = value.item()
    if np.isfinite(value):
        whole = int(number)
        halves = (whole - int(whole / 2**k) for k in range(1, dtype.bits))
        attempts += [t(n) for n in (whole, *halves, round(number, 1), round(number, 3))]
    for attempt in attempts:
        if _complexity(attempt) < _complexity(value) and domain.contains(dtype, attempt):
            yield attempt


def _complexity(value: Any) -> tuple[float, ...]:
    """Return a sort key that prefers integers, then numbers with few digits, then small numbers."""
    number = value.item()
    size = abs(number) if number == number else np.inf
    if not isinstance(number, float):
        return 0, 0, size, number != size
    return not number.is_integer(), len(repr(size)), size, number != size
