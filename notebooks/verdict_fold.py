"""The stored verdict below a bug hunt is closed, so that someone who reads the lesson can look for the bug first.

GitHub, nbviewer and JupyterLab show the fold. Where the cell is run, its verdict is open.
"""

START = "<details><summary>Open the verdict once you have found the bug.</summary>"
END = "</details>"


def folded(html: str) -> str:
    """Return the HTML of a verdict in a closed fold."""
    return START + without_fold(html) + END


def without_fold(html: str) -> str:
    """Return the HTML of an output as its cell gives it: without the fold, if there is one."""
    return html[len(START) : -len(END)] if html.startswith(START) else html
