"""Write the table of NetworkX's functions into docs/reference/networkx.md.

    python tests/networkx_backend/names_table.py

The table is made from four sources:

- `_graphla_networkx.FUNCTIONS`;
- `answers.json`, which `run_networkx_tests.py --write` records;
- `random_calls.py`, whose calls are compared by `test_random_calls.py`;
- `other_backends.json`, which lists the functions of two other backends (of nx-cugraph without the
  graph generators).
"""

from __future__ import annotations

import json
from pathlib import Path

from _graphla_networkx import FUNCTIONS
from networkx_backend import random_calls

HERE = Path(__file__).parent
PAGE = HERE.parent.parent / "docs" / "reference" / "networkx.md"
START, END = "<!-- The table begins here. -->", "<!-- The table ends here. -->"
ENOUGH = 0.8


def read(name: str) -> dict[str, dict[str, dict[str, int]]]:
    """Return the content of a JSON file in this folder, or an empty dict if there is no file."""
    path = HERE / name
    return json.loads(path.read_text()) if path.exists() else {}


def share(name: str, counts: dict[str, int] | None) -> str:
    """Return how many calls of NetworkX's tests, and how many random calls, graphla supports."""
    parts = [f"{counts['answered']} of {counts['calls']}"] if counts else []
    if random_calls.is_rarely_called(name):
        parts.append(f"{random_calls.CASES} of {random_calls.CASES} random calls")
    return ", ".join(parts)


def table() -> str:
    """Return the table as Markdown."""
    counts = read("answers.json").get("counts", {})
    others = read("other_backends.json")
    lines = [
        "| NetworkX | supported calls | nx-cugraph | graphblas-algorithms | differences |",
        "|---|---:|:-:|:-:|---|",
    ]
    family = ""
    for name, function in FUNCTIONS.items():
        module = function.target.split(".")[0]
        if module != family:
            family = module
            lines.append(f"| **{family.replace('_', ' ')}** | | | | |")
        also = ["yes" if name in others[key] else "" for key in sorted(others, reverse=True)]
        parts = [f"`{name}`", share(name, counts.get(name)), *also, function.note]
        lines.append("| " + " | ".join(parts) + " |")
    return "\n".join(lines)


def page() -> str:
    """Return the text of the page with the current table."""
    text = PAGE.read_text(encoding="utf-8")
    before, rest = text.split(START)
    _, after = rest.split(END)
    return f"{before}{START}\n\n{table()}\n\n{END}{after}"


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
    answered = read("answers.json").get("counts", {})
    low = [name for name, each in answered.items() if each["answered"] < ENOUGH * each["calls"]]
    print(len(FUNCTIONS), "functions; less than 80 % answered:", ", ".join(sorted(low)) or "none")
