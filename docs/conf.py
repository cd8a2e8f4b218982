"""Configure the documentation site, which `make docs` builds into out/site."""

from __future__ import annotations

import re

import graphla

project = "graphla"
author = "The graphla authors"
copyright = author
version = release = graphla.__version__

extensions = [
    "myst_nb",
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx.ext.napoleon",
    "sphinx_copybutton",
]
exclude_patterns = ["_templates"]
templates_path = ["_templates"]

# Docstrings follow the Google style. A name in single backquotes links to its documentation.
default_role = "py:obj"
# A link such as `.new()` is ambiguous, because several classes have a method `new`.
suppress_warnings = ["ref.python"]
autosummary_generate = True
autosummary_imported_members = True
autodoc_typehints = "description"
autodoc_typehints_description_target = "documented"
autodoc_member_order = "groupwise"
autodoc_preserve_defaults = True
napoleon_google_docstring = True
napoleon_numpy_docstring = False
napoleon_attr_annotations = True
napoleon_use_rtype = True
napoleon_use_ivar = True

# A link to a heading of another page uses the same anchor as on GitHub.
myst_heading_anchors = 4
myst_enable_extensions = ["colon_fence", "deflist"]

# Each build runs the notebooks, on the CPU.
nb_execution_mode = "force"
nb_execution_timeout = 120
nb_execution_raise_on_error = True
nb_merge_streams = True

copybutton_prompt_text = r">>> |\.\.\. |\$ "
copybutton_prompt_is_regexp = True

# `make links` checks the links to other sites.
linkcheck_timeout = 20
linkcheck_retries = 2

html_theme = "pydata_sphinx_theme"
html_title = "graphla"
html_static_path = ["_static"]
html_css_files = ["site.css"]
html_theme_options = {
    "header_links_before_dropdown": 8,
    "show_toc_level": 2,
    "navigation_with_keys": False,
    "secondary_sidebar_items": ["page-toc"],
    "footer_start": ["copyright"],
    "footer_end": ["theme-version"],
}
html_sidebars = {"index": [], "ladder": []}
html_show_sourcelink = False


def mark_up(app, what, name, obj, options, lines: list[str]) -> None:
    """Turn a docstring into valid reStructuredText before napoleon reads its sections.

    If the first line is a formula, it becomes literal text. Vertical bars outside literal text are
    escaped, because they mean absolute values or sizes and not substitutions. Each entry of
    `References` becomes a list item. A complemented mask such as `~v.S` becomes literal text,
    because after a tilde Sphinx shows only the last part of a name. In `Returns` and `Yields`,
    continuation lines are moved to the left, in line with the first line.
    """
    if lines and FORMULA.search(lines[0]) and "`" not in lines[0] and lines[1:2] in ([], [""]):
        lines[0] = f"``{lines[0]}``"
    if lines:
        lines[0] = re.sub(r"^``(.*?)\.?``\.?$", r"``\1``", lines[0])
    section = ""
    for i, line in enumerate(lines):
        if line and not line.startswith(" "):
            section = line
        elif section in ("Returns:", "Yields:") and line.startswith(" " * 8):
            lines[i] = line[4:]
        elif section == "References:" and line.strip():
            is_new = not line.startswith(" " * 8)
            lines[i] = f"    - {line.strip()}" if is_new else f"      {line.strip()}"
        if not line.lstrip().startswith((">>>", "...")):
            parts = LITERAL.split(lines[i])
            lines[i] = "".join(
                re.sub("^`(~.*)`$", r"``\1``", part)
                if part.startswith("`")
                else part.replace("|", "\\|")
                for part in parts
            )


FORMULA = re.compile(r" [=≤≥←] |⟨|⊕|⊗|ᵀ")
LITERAL = re.compile(r"(``.*?``|`[^`]*`)")


def skip_field(app, what, name, obj, skip, options) -> bool | None:
    """Skip the fields of a NamedTuple: its docstring describes them under `Attributes`."""
    return True if type(obj).__name__ == "_tuplegetter" else None


def setup(app) -> None:
    """Register `skip_field` and `mark_up` with Sphinx; `mark_up` runs before napoleon."""
    app.connect("autodoc-process-docstring", mark_up, priority=400)
    app.connect("autodoc-skip-member", skip_field)
