"""Write Open Graph tags for the preview of a shared link: a title, a description and a picture."""

import re
from html import escape, unescape

from docs.site.repository import Repository

SITE_NAME = "Transformer Course"
PICTURE = "lesson.png"
"""The preview picture, a file in ``docs`` that is copied to the site's static files."""
PICTURE_TEXT = "In a lesson, softmax divides by a sum over all rows, and the check explains the mistake."


def preview_tags(page: str, title: str, description: str, picture: str, repository: Repository | None) -> str:
    """Return the tags for the head of a page.

    Args:
        page: Name of the page, without its extension.
        title: The page's title, which may contain HTML.
        description: One or two sentences about the page.
        picture: URL of the picture, relative to the page.
        repository: The project's repository. Without it, the picture has no absolute URL, and only some programs
            resolve relative URLs.
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
