"""The front page of the site: an introduction, a view to try, the map, and the README's list of lessons.

Once the project's address is set, ``python -m docs.site.front_page`` writes it into the README: links to try the course
online, the ``git clone`` command, and a Colab link for each lesson.
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
"""The heading in the README at which the part that the front page shares begins."""
LINKS = ("<!-- links -->", "<!-- end of links -->")
"""The comments in the README that enclose the links to try the course online."""
UNKNOWN_ADDRESS = "ADDRESS"
"""The placeholder in the README's ``git clone`` while the address is not set."""


def front_page(readme: str, lessons: Mapping[str, NotebookNode], repository: Repository | None = None) -> str:
    """Return the page in Markdown.

    Args:
        readme: The README, whose lists the page contains.
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

Build the Transformer yourself, from a dictionary lookup to the language models of today. You write each piece in a
notebook; a check runs it and, if it is wrong, names your mistake. In the end you train a Transformer made of your own
parts, on a laptop without a GPU.

<p class="front-links"><a class="front-begin" href="notebooks/{first}.html">Begin with lesson 00</a>
<a href="docs/run.html">Run the lessons on your computer</a>
<span>{len(lessons)} lessons, {hours} hours, a laptop, no GPU</span></p>

## Try one of its views

This is the mask of a language model, with one mistake in it: *cat* may attend to *sat*, the word that it is to predict.
The leak lights up. Click the cell in row *cat*, column *sat*, to mend it, or press *causal*.

{painter}

In the lessons here, the views are alive, too; [lesson 04](notebooks/04_masks.ipynb) says what this one shows.

## The map

The whole model: each box is built in the lesson whose number it has, and leads there. Type a date, and watch it flow
[through a trained one](inside.md), with the numbers in every block.

<div class="tl-home tl-scroll">
{map_of(lessons)}
</div>

{with_colab(readme[readme.index(LISTED) :], repository)}"""


def with_addresses(readme: str, repository: Repository | None) -> str:
    """Return the README with the repository's address, or without any links to it if it is not set."""
    start, end = LINKS
    line = f"\n{links(repository)}\n" if repository else ""
    readme = re.sub(rf"{start}\n.*?{end}", lambda _: f"{start}\n{line}{end}", readme, flags=re.S)
    address = f"{repository.address}.git" if repository else UNKNOWN_ADDRESS
    readme = re.sub(r"^git clone \S+", lambda _: f"git clone {address}", readme, flags=re.M)
    start_with, copy = "To start, type:", "To start, copy the address of this repository and type:"
    readme = readme.replace(start_with, copy).replace(copy, start_with if repository else copy)
    return with_colab(readme, repository)


def links(repository: Repository) -> str:
    """Return the links to read or try the course without an installation."""
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
    """Return the README with a Colab link in the row of each lesson, or without if the repository is not set."""

    def row(found: re.Match[str]) -> str:
        return found[1] + (f" · [Colab]({repository.colab(found[2])})" if repository else "")

    return re.sub(
        r"^(\| \d* ?\| \[[^\]]+\]\((notebooks/\w+\.ipynb)\))(?: · \[Colab\]\(\S+\))?", row, readme, flags=re.M
    )


def map_of(lessons: Mapping[str, NotebookNode]) -> str:
    """Return the home page's map, with links to the pages of the lessons."""

    def link(found: re.Match[str]) -> str:
        title = lessons[found[1]].cells[0].source.partition("\n")[0].removeprefix("# ")
        return f'<a class="tl-lesson" href="notebooks/{found[1]}.html" aria-label="{title}"><title>{title}</title>'

    return re.sub(r'<a class="tl-lesson" data-lesson="(\w+)">', link, stored_map())


if __name__ == "__main__":
    file = ROOT / "README.md"
    file.write_text(with_addresses(file.read_text(encoding="utf-8"), published({})), encoding="utf-8")
