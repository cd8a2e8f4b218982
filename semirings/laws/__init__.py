"""Declare, query and check the laws of operators, monoids and semirings."""

from semirings.laws.checking import Finding, Report, check
from semirings.laws.declared import Law, declared, holds, law
from semirings.laws.domain import (
    ABOVE_MINUS_INFINITY,
    ANY_CHOICE,
    BELOW_INFINITY,
    EVERYWHERE,
    FINITE,
    NO_NAN,
    NO_PRODUCT_OVERFLOWS,
    NO_SUM_OVERFLOWS,
    NONNEGATIVE,
    NOWHERE,
    POSITIVE,
    POSITIVE_FINITE,
    POSITIVE_ROUNDED,
    ROUNDED,
    UNIT,
    Domain,
)
from semirings.laws.statement import STATEMENTS, LawName, Statement

__all__ = [
    "ABOVE_MINUS_INFINITY",
    "ANY_CHOICE",
    "BELOW_INFINITY",
    "EVERYWHERE",
    "FINITE",
    "NONNEGATIVE",
    "NOWHERE",
    "NO_NAN",
    "NO_PRODUCT_OVERFLOWS",
    "NO_SUM_OVERFLOWS",
    "POSITIVE",
    "POSITIVE_FINITE",
    "POSITIVE_ROUNDED",
    "ROUNDED",
    "STATEMENTS",
    "UNIT",
    "Domain",
    "Finding",
    "Law",
    "LawName",
    "Report",
    "Statement",
    "check",
    "declared",
    "holds",
    "law",
]
