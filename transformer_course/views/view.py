"""The base class of views, which are widgets with a still picture and a description."""

import json
from base64 import b64encode
from io import BytesIO
from typing import Any, ClassVar

import anywidget
from matplotlib.figure import Figure

from transformer_course.views import front_end
from transformer_course.views.front_end import STATE as STATE


class View(anywidget.AnyWidget):
    """A widget with a picture and a description, which readers see on GitHub, in print or in a terminal.

    A subclass names its JavaScript module in ``front_end``, keeps its state in traits with the tag ``sync=True``, and
    defines ``still`` and ``words``. The package's docstring contains an example.

    A notebook stores the picture from the time when the cell ran, and the description as the cell's plain text. The
    description must therefore be the same in every run. ``notebooks/build.py`` does not store the widget itself,
    because JupyterLab cannot draw a widget without its kernel. It stores the widget's state in the metadata of the
    output, and the web edition creates the view from it.
    """

    front_end: ClassVar[str]
    """Name of the JavaScript module that draws the view, without the extension."""

    def __init_subclass__(cls, **keywords: Any) -> None:
        if "front_end" in cls.__dict__:
            cls._esm, cls._css = front_end.module(cls.front_end), front_end.style(cls.front_end)
        super().__init_subclass__(**keywords)

    def still(self) -> Figure:
        """Return a picture of the current state.

        Create the figure with ``blank``, because a figure from pyplot would be displayed a second time.
        """
        raise NotImplementedError

    def words(self) -> str:
        """Describe the current state in a sentence or two."""
        raise NotImplementedError

    def stored(self) -> str:
        """Return the view's name and traits as JSON for the front end, with bytes in base 64."""
        common_traits = anywidget.AnyWidget.class_trait_names()
        traits = self.get_state([name for name in self.keys if name not in common_traits and not name.startswith("_")])
        encoded = {name: {"base64": b64encode(v).decode()} if isinstance(v, bytes) else v for name, v in traits.items()}
        return json.dumps({"view": self.front_end, "traits": encoded}, ensure_ascii=False, sort_keys=True)

    def _repr_mimebundle_(self, **keywords: Any) -> tuple[dict[str, Any], dict[str, Any]]:
        data, metadata = super()._repr_mimebundle_(**keywords) or ({}, {})
        picture = BytesIO()
        self.still().savefig(picture, format="png", dpi=100)
        bundle = {**data, "text/plain": self.words(), "image/png": b64encode(picture.getvalue()).decode()}
        return bundle, {**metadata, STATE: self.stored()}


def blank(width: float, height: float) -> Figure:
    """Return an empty figure that is not managed by pyplot, with its size in inches."""
    return Figure(figsize=(width, height), layout="constrained")
