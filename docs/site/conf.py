"""Sphinx settings for the web edition. ``docs/site/__init__.py`` describes the modules that write its pages."""

import shutil
from html import escape
from importlib.metadata import files
from importlib.metadata import version as version_of
from pathlib import Path
from typing import Any, Literal, get_args, get_origin

from docutils.nodes import document
from docutils.nodes import paragraph as paragraph_of_text
from sphinx.application import Sphinx

from docs.site import live_views
from docs.site.previews import PICTURE, SITE_NAME, preview_tags
from docs.site.repository import ROOT, published
from transformer_course import home

project = SITE_NAME
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

nb_execution_mode = "off"  # show the stored outputs
nb_merge_streams = True
nb_ipywidgets_js = {}  # the notebooks store no widgets, and the site loads nothing from other hosts
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
html_css_files = ["home.css", "site.css"]
html_js_files = ["live_views.js", "site.js"]
mathjax_path = "mathjax/tex-chtml.js"
MATHJAX = next(
    Path(file.locate()) for file in files("sphinx-mathjax-offline") or [] if file.name == "tex-chtml.js"
).parent

html_theme = "sphinx_book_theme"
html_title = project
html_favicon = "static/icon.svg"
html_context = {"default_mode": "auto"}  # the theme follows the system until the reader chooses one
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
    """Copy MathJax's script and the fonts that the pages use."""
    target, fonts = Path(app.outdir, "_static", "mathjax"), "output/chtml/fonts/woff-v2"
    shutil.copytree(MATHJAX / fonts, target / fonts, dirs_exist_ok=True)
    shutil.copy(MATHJAX / "tex-chtml.js", target)


def write_views(app: Sphinx) -> None:
    """Write the front ends of the views, the preview picture, and the style sheet of the home page's map."""
    static = Path(app.outdir, "_static")
    live_views.write_front_ends(static / "views")
    [sheet] = Path(home.__file__).parent.glob("labextensions/*/static/page.css")
    shutil.copy(sheet, static / "home.css")
    shutil.copy(ROOT / "docs" / PICTURE, static / PICTURE)


def exclude_slides_from_search(app: Sphinx) -> None:
    """Exclude slides from the search, because their text is also in the lesson."""
    index = app.builder.index_page  # type: ignore[attr-defined]
    app.builder.index_page = lambda name, *page: None if name.startswith("slides/") else index(name, *page)  # type: ignore[attr-defined]


def describe(app: Sphinx, name: str, template: str, context: dict[str, Any], page: document | None) -> None:
    """Add a page's first paragraph as its description for search engines and link previews.

    The first paragraph of a lesson is its question.
    """
    paragraph = next(iter(page.findall(paragraph_of_text)), None) if page else None
    if paragraph is not None:
        text = " ".join(paragraph.astext().removeprefix("The question.").split())
        context["metatags"] += f'\n<meta name="description" content="{escape(text, quote=True)}">'
        picture = context["pathto"](f"_static/{PICTURE}", 1)
        context["metatags"] += "\n" + preview_tags(name, context.get("title", ""), text, picture, published())


def skip_aliases_with_bars(
    app: Sphinx, what: str, name: str, value: object, skip: bool, options: object
) -> bool | None:
    """Skip type aliases with values such as ``"-|"``, because Sphinx parses them as markup."""
    return True if get_origin(value) is Literal and any("|" in str(option) for option in get_args(value)) else None


def unlist_builtins(app: Sphinx) -> list[Any]:
    """Remove ``builtins`` from the list of source files, because this module has no page."""
    getattr(app.env, "_viewcode_modules", {}).pop("builtins", None)
    return []


def setup(app: Sphinx) -> None:
    """Register event handlers for everything that settings cannot express."""
    app.connect("autodoc-skip-member", skip_aliases_with_bars)
    app.connect("builder-inited", copy_mathjax)
    app.connect("builder-inited", write_views)
    app.connect("builder-inited", exclude_slides_from_search)
    app.connect("html-page-context", describe)
    app.connect("html-collect-pages", unlist_builtins, priority=400)  # before Sphinx collects the source pages
