"""How Sphinx builds the site: `make docs`. It needs no network, and the site needs none either."""

import os
import sys
from pathlib import Path

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE / "_ext"))
os.environ.setdefault("MPLBACKEND", "agg")

from perceptrons import __version__  # noqa: E402

project = "perceptrons"
author = "the perceptrons developers"
copyright = "the perceptrons developers, BSD 3-clause"
release = version = __version__

extensions = [
    "myst_parser",
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "numpydoc",
    "sphinx_copybutton",
    "sphinx_design",
    "sphinx_gallery.gen_gallery",
    "matplotlib.sphinxext.plot_directive",
    "mathml",  # formulas without JavaScript
    "generated",  # what the program makes: pictures, routes, help
]
exclude_patterns = ["_build", "gallery/**/*.ipynb", "gallery/**/*.py", "gallery/**/*.md5", "gallery/**/*.json"]
templates_path = ["_templates"]
default_role = "literal"
smartquotes = False  # options begin with --

myst_enable_extensions = ["dollarmath", "amsmath", "colon_fence", "deflist", "attrs_inline", "attrs_block"]
myst_heading_anchors = 4

autosummary_generate = True
autodoc_typehints = "none"
autodoc_member_order = "groupwise"
toc_object_entries_show_parents = "hide"
numpydoc_show_class_members = False
numpydoc_xref_param_type = False

html_theme = "pydata_sphinx_theme"
html_title = f"perceptrons {version}"
html_static_path = ["_static"]
html_css_files = ["site.css"]
html_show_sourcelink = False
html_show_search_summary = False  # browsers refuse to load texts from disk
html_math_renderer = "mathml"
html_theme_options = {
    "navigation_with_keys": False,
    "show_toc_level": 2,
    "navbar_align": "left",
    "header_links_before_dropdown": 8,
    "secondary_sidebar_items": ["page-toc"],
    "footer_start": ["copyright"],
    "footer_end": [],
    "pygments_light_style": "a11y-high-contrast-light",
    "pygments_dark_style": "a11y-high-contrast-dark",
}
html_sidebars = {"index": []}
copybutton_prompt_text = r">>> |\.\.\. |\$ "
copybutton_prompt_is_regexp = True
copybutton_only_copy_prompt_lines = True

plot_include_source = False
plot_html_show_source_link = False
plot_html_show_formats = False
plot_formats = [("png", 120)]
plot_rcparams = {"figure.figsize": (7.2, 4.0), "figure.constrained_layout.use": True, "savefig.bbox": "tight"}
plot_apply_rcparams = True
plot_pre_code = "import numpy as np\nimport matplotlib.pyplot as plt\n"

sphinx_gallery_conf = {
    "examples_dirs": ["../examples"],
    "gallery_dirs": ["gallery"],
    "filename_pattern": r"\.py$",
    "backreferences_dir": "reference/backreferences",
    "doc_module": ("perceptrons",),
    "abort_on_example_error": True,
    "download_all_examples": False,
    "remove_config_comments": True,
    "min_reported_time": 1e9,
    "write_computation_times": False,
    "show_signature": False,
    "copyfile_regex": r".*\.(csv|txt)$",
    "matplotlib_animations": False,
    "capture_repr": (),
    "nested_sections": True,
    "within_subsection_order": "FileNameSortKey",
}
