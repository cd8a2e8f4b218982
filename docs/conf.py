"""Configuration of the documentation site: `make docs` builds it into out/site."""

from __future__ import annotations

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

# Docstrings: Google style, names in single backquotes link to what they name.
default_role = "py:obj"
suppress_warnings = ["ref.python"]  # `.new()` in a docstring may mean the method of several classes
autosummary_generate = True
autosummary_imported_members = True
autodoc_typehints = "description"
autodoc_typehints_description_target = "documented"
autodoc_member_order = "groupwise"
autodoc_preserve_defaults = True
napoleon_google_docstring = True
napoleon_numpy_docstring = False
napoleon_attr_annotations = True
napoleon_use_rtype = False

# Pages: links to headings of other pages use the anchors that GitHub gives them.
myst_heading_anchors = 4
myst_enable_extensions = ["colon_fence", "deflist"]

# Notebooks run at each build, on the CPU.
nb_execution_mode = "force"
nb_execution_timeout = 120
nb_execution_raise_on_error = True
nb_merge_streams = True

copybutton_prompt_text = r">>> |\.\.\. |\$ "
copybutton_prompt_is_regexp = True

# `make links` follows the links that leave the site.
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
html_sidebars = {"index": []}
html_show_sourcelink = False
