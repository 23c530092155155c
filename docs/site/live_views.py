"""Views that live on the site: the state that a lesson stored, under the front end that notebooks get, and no kernel.

A page holds the state beside the still picture; ``static/live_views.js`` puts the view in the picture's place.
"""

import html
from base64 import b64encode
from io import BytesIO
from pathlib import Path

from transformer_course import views
from transformer_course.views import front_end
from transformer_course.views.view import View


def placed(stored: str) -> str:
    """Return the HTML behind a picture that lets the view take its place, from what ``View.stored`` returns."""
    state = stored.replace("<", "\\u003c")  # the text of a token may end a script
    return f'<script type="application/json" class="live-view">{state}</script>'


def displayed(view: View) -> str:
    """Return the HTML of a view: a picture with its words, for where no script runs, and its state."""
    picture = BytesIO()
    view.still().savefig(picture, format="png", dpi=100)
    source = f"data:image/png;base64,{b64encode(picture.getvalue()).decode()}"
    still = f'<img src="{source}" alt="{html.escape(view.words(), quote=True)}">'
    return f'<div class="cell_output">{still}{placed(view.stored())}</div>'


def write_front_ends(folder: Path) -> None:
    """Write the script and the style sheet of each view; a script that is no module runs from a disk, too."""
    folder.mkdir(parents=True, exist_ok=True)
    for name in (getattr(views, name).front_end for name in views.__all__):
        script = front_end.module(name).replace("export default", f"(globalThis.courseViews ??= {{}}).{name} =")
        (folder / f"{name}.js").write_text(f"{{\n{script}}}\n", encoding="utf-8")
        (folder / f"{name}.css").write_text(front_end.style(name), encoding="utf-8")
