"""The preview of a shared link to a page: a title, a sentence and a picture, as Open Graph tags."""

import re
from html import escape, unescape

from docs.site.repository import Repository

SITE_NAME = "Transformer Course"
PICTURE = "lesson.png"
"""A file in ``docs`` that is one of the site's static files."""
PICTURE_TEXT = "In a lesson, softmax divides by a sum over all rows, and the check names that mistake."


def preview_tags(page: str, title: str, description: str, picture: str, repository: Repository | None) -> str:
    """Return the tags for the head of a page.

    Args:
        page: Name of the page, without its extension.
        title: Its title; may contain HTML.
        description: A sentence or two about it.
        picture: URL of the picture, relative to the page.
        repository: The project's repository. Without it, the picture has no absolute URL, and only some programs
            resolve a relative one.
    """
    properties = {
        "og:type": "website",
        "og:site_name": SITE_NAME,
        "og:title": unescape(re.sub(r"<[^>]+>", "", title)) or SITE_NAME,
        "og:description": description,
        "og:image": f"{repository.site}_static/{PICTURE}" if repository else picture,
        "og:image:alt": PICTURE_TEXT,
    }
    if repository:
        properties["og:url"] = f"{repository.site}{page}.html"
    tags = [f'<meta property="{name}" content="{escape(value)}">' for name, value in properties.items()]
    return "\n".join([*tags, '<meta name="twitter:card" content="summary_large_image">'])
