"""The settings of Sphinx for the web edition; ``docs/site/__init__.py`` says what makes its pages."""

import shutil
from importlib.metadata import files
from importlib.metadata import version as version_of
from pathlib import Path
from typing import Literal, get_args, get_origin

from sphinx.application import Sphinx

from docs.site.repository import published

project = "Transformer Course"
author = "The Transformer Course developers"
copyright = f"{author}. Code: MIT License, lessons: CC BY 4.0"
release = version_of("transformer-course")

extensions = [
    "myst_nb",
    "sphinx.ext.autodoc",
    "sphinx.ext.napoleon",
    "sphinx.ext.viewcode",
    "sphinx.ext.mathjax",
]

nb_execution_mode = "off"  # what is stored is shown
nb_merge_streams = True
nb_ipywidgets_js = {}  # no widget is stored, and nothing is fetched from elsewhere
myst_enable_extensions = ["dollarmath"]
myst_heading_anchors = 4

autodoc_member_order = "bysource"
autodoc_preserve_defaults = True
autodoc_typehints = "signature"
python_maximum_signature_line_length = 88
napoleon_use_rtype = False
toc_object_entries_show_parents = "hide"
add_module_names = False

html_static_path = ["static"]
html_css_files = ["site.css"]
html_js_files = ["site.js"]
mathjax_path = "mathjax/tex-chtml.js"
MATHJAX = next(
    Path(file.locate()) for file in files("sphinx-mathjax-offline") or [] if file.name == "tex-chtml.js"
).parent

html_theme = "sphinx_book_theme"
html_title = project
html_favicon = "static/icon.svg"
html_context = {"default_mode": "auto"}  # the theme follows the system until somebody chooses
html_copy_source = False
html_show_sourcelink = False
html_last_updated_fmt = None
html_theme_options = {
    "navbar_persistent": [],
    "use_download_button": False,
    "use_fullscreen_button": False,
    "home_page_in_toc": True,
    "show_navbar_depth": 1,
    "show_toc_level": 2,
    "pygments_light_style": "a11y-high-contrast-light",
    "pygments_dark_style": "a11y-high-contrast-dark",
}
if (_repository := published()) is not None:
    html_theme_options |= {"repository_url": _repository.address, "use_repository_button": True}


def copy_mathjax(app: Sphinx) -> None:
    """Put MathJax beside the pages, as far as they use it: its script and its fonts."""
    target, fonts = Path(app.outdir, "_static", "mathjax"), "output/chtml/fonts/woff-v2"
    shutil.copytree(MATHJAX / fonts, target / fonts, dirs_exist_ok=True)
    shutil.copy(MATHJAX / "tex-chtml.js", target)


def skip_aliases_with_bars(
    app: Sphinx, what: str, name: str, value: object, skip: bool, options: object
) -> bool | None:
    """Leave out a type alias with a value such as ``"-|"``, which Sphinx takes for markup of its own."""
    return True if get_origin(value) is Literal and any("|" in str(each) for each in get_args(value)) else None


def setup(app: Sphinx) -> None:
    """Let Sphinx do what settings cannot say."""
    app.connect("autodoc-skip-member", skip_aliases_with_bars)
    app.connect("builder-inited", copy_mathjax)
