"""Fold the stored verdict below a bug hunt, so that readers of the lesson can look for the bug first.

GitHub, nbviewer and JupyterLab show the verdict folded. When a learner runs the cell, its verdict is not folded.
"""

START = "<details><summary>Open the verdict once you have found the bug.</summary>"
END = "</details>"


def folded(html: str) -> str:
    """Return the HTML of a verdict inside a collapsed element."""
    return START + without_fold(html) + END


def without_fold(html: str) -> str:
    """Return the HTML of an output without the collapsed element around it, if it has one."""
    return html[len(START) : -len(END)] if html.startswith(START) else html
