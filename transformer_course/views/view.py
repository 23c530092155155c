"""What all views share: a widget that is also a still picture, and words."""

import json
from base64 import b64encode
from io import BytesIO
from typing import Any, ClassVar

import anywidget
from matplotlib.figure import Figure

from transformer_course.views import front_end
from transformer_course.views.front_end import STATE as STATE


class View(anywidget.AnyWidget):
    """A widget that is also a picture and words, for where there is no widget: GitHub, print, a plain terminal.

    A subclass names its JavaScript module in ``front_end``, keeps its state in traits tagged ``sync=True``, and has
    ``still`` and ``words``. The package's docstring shows one.

    A notebook stores the picture as it was when the cell was run, and the words as the cell's plain text: so they must
    be the same in every run. The widget itself is not stored (``notebooks/build.py`` leaves it out): without its kernel
    JupyterLab could not draw it. Its state is, in the metadata of the output: from it the web edition shows the view.
    """

    front_end: ClassVar[str]
    """Name of the module that draws it, without its ending."""

    def __init_subclass__(cls, **keywords: Any) -> None:
        if "front_end" in cls.__dict__:
            cls._esm, cls._css = front_end.module(cls.front_end), front_end.style(cls.front_end)
        super().__init_subclass__(**keywords)

    def still(self) -> Figure:
        """Return what the view shows now as a picture; begin it with ``blank``, as pyplot would show it once more."""
        raise NotImplementedError

    def words(self) -> str:
        """Return what the view shows now in a sentence or two."""
        raise NotImplementedError

    def stored(self) -> str:
        """Return what its front end needs to draw it, as JSON: its name and traits, bytes in base 64."""
        of_all = anywidget.AnyWidget.class_trait_names()
        traits = self.get_state([name for name in self.keys if name not in of_all and not name.startswith("_")])
        sent = {name: {"base64": b64encode(v).decode()} if isinstance(v, bytes) else v for name, v in traits.items()}
        return json.dumps({"view": self.front_end, "traits": sent}, ensure_ascii=False, sort_keys=True)

    def _repr_mimebundle_(self, **keywords: Any) -> tuple[dict[str, Any], dict[str, Any]]:
        data, metadata = super()._repr_mimebundle_(**keywords) or ({}, {})
        picture = BytesIO()
        self.still().savefig(picture, format="png", dpi=100)
        bundle = {**data, "text/plain": self.words(), "image/png": b64encode(picture.getvalue()).decode()}
        return bundle, {**metadata, STATE: self.stored()}


def blank(width: float, height: float) -> Figure:
    """Return an empty figure of a size in inches, which nothing but the view shows."""
    return Figure(figsize=(width, height), layout="constrained")
