"""Check the conda recipe without building the package; `make recipe` runs this script.

rattler-build parses the recipe and renders it for the current version. The script compares the
requirements of the rendered recipe with those in pyproject.toml. Building the package would need a
conda channel.
"""

from __future__ import annotations

import os
import re
import tomllib
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
VERSION = re.search(r'__version__ = "(.+)"', (ROOT / "graphla" / "__init__.py").read_text())[1]
os.environ["GRAPHLA_VERSION"] = VERSION

from rattler_build import Stage0Recipe  # noqa: E402

(variant,) = Stage0Recipe.from_file(ROOT / "conda" / "recipe.yaml").render()
recipe = variant.recipe
project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]


def spelled(requirement: object) -> str:
    """Normalize a requirement: return its text without spaces, such as "numpy>=1.26"."""
    return str(requirement).replace(" ", "")


needed = {f"python{project['requires-python']}", *map(spelled, project["dependencies"])}
found = set()
for requirement in recipe.to_dict()["requirements"]["run"]:
    found.add(spelled(requirement if isinstance(requirement, str) else requirement["spec"]))

assert str(recipe.package.name) == project["name"], recipe.package.name
assert str(recipe.package.version) == VERSION, recipe.package.version
assert found == needed, f"the recipe requires {sorted(found)}, pyproject.toml {sorted(needed)}"
assert recipe.about.license == project["license"], recipe.about.license
print(f"conda/recipe.yaml renders as {recipe.package.name} {VERSION}: {', '.join(sorted(found))}")
