"""Render HTML pages from the jinja2 templates in a package's folder ``templates``.

Inserted text is always escaped, so a name or a comment never becomes an HTML element. Only ``Markup`` and objects with
an ``__html__`` method, such as ``Panel``, are inserted as HTML.
"""

from functools import cache
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined


def render(package: str, template: str, **values: Any) -> str:
    """Render a template.

    Args:
        package: The package with the folder ``templates``, such as ``transformer_course.grading.reports``.
        template: The file name of the template.
        values: The variables of the template.

    Raises:
        jinja2.UndefinedError: The template uses a variable or an attribute that does not exist.
    """
    return environment(package).get_template(template).render(values)


@cache
def environment(package: str) -> Environment:
    """Return the jinja2 environment for the templates of a package."""
    return Environment(
        loader=PackageLoader(package),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
