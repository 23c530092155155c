"""Write the front page of the site: an introduction, an interactive view, the map, and the README's list of lessons.

Once the project's URL is set, ``python -m docs.site.front_page`` adds the URL to the README: in links to try the course
online, in the ``git clone`` command, and in a Colab link for each lesson.
"""

import re
from collections.abc import Mapping

import torch
from nbformat import NotebookNode

from docs.site import live_views
from docs.site.repository import ROOT, Repository, published
from transformer_course.home.home_page import stored_map
from transformer_course.home.reading_time import TOTAL_TIME_LABEL, promised_minutes
from transformer_course.views import MaskPainter

WORDS = ["the", "cat", "sat", "on", "the", "mat"]
LISTED = "## The lessons"
"""The heading in the README that begins the shared part; the front page repeats the README from this heading on."""
LINKS = ("<!-- links -->", "<!-- end of links -->")
"""The comments in the README that enclose the links to try the course online."""
UNKNOWN_ADDRESS = "ADDRESS"
"""The placeholder in the README's ``git clone`` command until the URL is set."""


def front_page(readme: str, lessons: Mapping[str, NotebookNode], repository: Repository | None = None) -> str:
    """Return the page in Markdown.

    Args:
        readme: The text of the README; the page repeats its lists.
        lessons: The stored lessons, in order.
        repository: The project's repository, if it is published.
    """
    first = next(name for name in lessons if name[0].isdigit())
    hours = round(sum(promised_minutes(book, TOTAL_TIME_LABEL) or 0 for book in lessons.values()) / 60)
    mask = torch.ones(len(WORDS), len(WORDS), dtype=torch.bool).tril()
    mask[1, 2] = True
    painter = live_views.displayed(MaskPainter(WORDS, mask, source=2))
    return f"""---
html_theme.sidebar_secondary.remove: true
---

# Transformer Course

Build the Transformer yourself, from a dictionary lookup to today's language models. You write each piece in a
notebook. A check runs your code and, if the code is wrong, explains your mistake. At the end, you train a Transformer
built from your own parts, on a laptop without a GPU.

<p class="front-links"><a class="front-begin" href="notebooks/{first}.html">Begin with lesson 00</a>
<a href="docs/run.html">Run the lessons on your computer</a>
<span>{len(lessons)} lessons, {hours} hours, a laptop, no GPU</span></p>

## Try an interactive view

This is the causal mask of a language model, with one mistake: *cat* may attend to *sat*, the very word that the model
should predict at this position. The view highlights the leak. To fix the mask, click the cell in row *cat* and column
*sat*, or press *causal*.

{painter}

The views in the lessons on this site are also interactive. [Lesson 04](notebooks/04_masks.ipynb) explains this mask.

## The map

This map shows the whole model. The number in each box is the number of the lesson in which you build this part. To open
the lesson, click the box. You can also type a date, send the date [through a trained model](inside.md), and see the
output of every block.

<div class="tl-home tl-scroll">
{map_of(lessons)}
</div>

{with_colab(readme[readme.index(LISTED) :], repository)}"""


def with_addresses(readme: str, repository: Repository | None) -> str:
    """Return the README with links to the repository, or without links if there is no repository."""
    start, end = LINKS
    line = f"\n{links(repository)}\n" if repository else ""
    readme = re.sub(rf"{start}\n.*?{end}", lambda _: f"{start}\n{line}{end}", readme, flags=re.S)
    address = f"{repository.address}.git" if repository else UNKNOWN_ADDRESS
    readme = re.sub(r"^git clone \S+", lambda _: f"git clone {address}", readme, flags=re.M)
    with_url, without_url = "To start, run:", "To start, copy the URL of this repository and run:"
    readme = readme.replace(with_url, without_url).replace(without_url, with_url if repository else without_url)
    return with_colab(readme, repository)


def links(repository: Repository) -> str:
    """Return the links for reading or trying the course without installing it."""
    first = "notebooks/01_lookup.ipynb"
    return " · ".join(
        [
            f"**[Read it]({repository.site})**",
            f"**[Look inside a trained model]({repository.site}inside.html)**",
            f"Try it in [Colab]({repository.colab(first)}) or on [Binder]({repository.binder()})",
            f"[Container image]({repository.image})",
        ]
    )


def with_colab(readme: str, repository: Repository | None) -> str:
    """Return the README with a Colab link in each lesson's row, or without Colab links if there is no repository."""

    def row(found: re.Match[str]) -> str:
        return found[1] + (f" · [Colab]({repository.colab(found[2])})" if repository else "")

    return re.sub(
        r"^(\| \d* ?\| \[[^\]]+\]\((notebooks/\w+\.ipynb)\))(?: · \[Colab\]\(\S+\))?", row, readme, flags=re.M
    )


def map_of(lessons: Mapping[str, NotebookNode]) -> str:
    """Return the map from the home page, with links to the pages of the lessons on the site."""

    def link(found: re.Match[str]) -> str:
        title = lessons[found[1]].cells[0].source.partition("\n")[0].removeprefix("# ")
        return f'<a class="tl-lesson" href="notebooks/{found[1]}.html" aria-label="{title}"><title>{title}</title>'

    return re.sub(r'<a class="tl-lesson" data-lesson="(\w+)">', link, stored_map())


if __name__ == "__main__":
    file = ROOT / "README.md"
    file.write_text(with_addresses(file.read_text(encoding="utf-8"), published({})), encoding="utf-8")
