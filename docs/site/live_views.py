"""Show interactive views on the site without a kernel, using their stored state and the front end from the notebooks.

A page contains the state of a view next to its still picture. ``static/live_views.js`` replaces the picture with the
interactive view.
"""

import html
from base64 import b64encode
from io import BytesIO
from pathlib import Path

from transformer_course import views
from transformer_course.views import front_end
from transformer_course.views.view import View


def placed(stored: str) -> str:
    """Return the HTML that contains the state of a view, as returned by ``View.stored``; it follows the picture."""
    state = stored.replace("<", "\\u003c")  # otherwise, a token's text could end the script element
    return f'<script type="application/json" class="live-view">{state}</script>'


def displayed(view: View) -> str:
    """Return the HTML for a view: its state, and a picture with a description for readers without JavaScript."""
    picture = BytesIO()
    view.still().savefig(picture, format="png", dpi=100)
    source = f"data:image/png;base64,{b64encode(picture.getvalue()).decode()}"
    still = f'<img src="{source}" alt="{html.escape(view.words(), quote=True)}">'
    return f'<div class="cell_output">{still}{placed(view.stored())}</div>'


def write_front_ends(folder: Path) -> None:
    """Write the script and style sheet of each view. The scripts are not modules, so they run from local files."""
    folder.mkdir(parents=True, exist_ok=True)
    for name in (getattr(views, name).front_end for name in views.__all__):
        script = front_end.module(name).replace("export default", f"(globalThis.courseViews ??= {{}}).{name} =")
        (folder / f"{name}.js").write_text(f"{{\n{script}}}\n", encoding="utf-8")
        (folder / f"{name}.css").write_text(front_end.style(name), encoding="utf-8")
