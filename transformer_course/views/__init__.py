"""Interactive views that respond to the mouse, touch and the keyboard in a notebook.

``view`` is the base class, and ``front_end`` bundles the JavaScript modules in the folder ``front_end``. There is no
build step, and nothing is loaded from the network. Each view is a separate module, loaded on first use:
``views.AttentionExplorer`` needs only ``from transformer_course import views``. The views use ``inspection`` and
``training``.

``attention_explorer`` shows attention weights, encoded by ``weight_tables``, and ``mask_painter`` shows the effect of a
mask. In ``lookup_dial`` you drag a query, and in ``position_clock`` you change positions. ``residual_stream`` compares
stacks from the stored ``residual_runs``. ``training_view`` draws a training run while it is running, and
``sampling_dial`` draws the distribution of the next token. ``model_map`` shows the inside of a whole model as it
processes a text, recorded by ``model_run``. Without a kernel, the browser runs the model that ``browser_model`` stores.

To write a view, define its state in Python as traits, which your code can read and set and which are synchronized with
the browser. Also define a still picture and a description, for readers who see no widget. For example, in ``coin.py``::

    class Coin(View):
        front_end = "coin"  # front_end/coin.mjs, and coin.css if it exists
        probability = Float(0.5, min=0.0, max=1.0).tag(sync=True)

        def still(self) -> Figure:
            figure = blank(3.0, 2.0)
            figure.add_subplot().bar(["heads", "tails"], [self.probability, 1 - self.probability])
            return figure

        def words(self) -> str:
            return f"Coin: heads with probability {self.probability:.2f}."

In the browser, ``front_end/coin.mjs`` sets traits. The callback of ``follow`` redraws the view whenever a trait
changes, no matter whether the reader or Python code changed it::

    import { slider } from "./controls.mjs";
    import { element } from "./dom.mjs";

    export function draw(view) {
      const { controls, body } = view.frame({ name: "Coin", help: "Arrow keys move the slider." });
      controls.append(slider(view, { trait: "probability", label: "heads", min: 0, max: 1, step: 0.01 }));
      const bar = body.appendChild(element("div", { class: "bar" }));
      view.follow(["probability"], () => {
        bar.style.width = `${100 * view.get("probability")}%`;
        view.say(`heads with probability ${view.get("probability").toFixed(2)}`);  // below the view, and read aloud
      });
    }
"""

import re
from importlib import import_module
from typing import Any

__all__ = [
    "AttentionExplorer",
    "LookupDial",
    "MaskPainter",
    "ModelMap",
    "PositionClock",
    "ResidualStream",
    "SamplingDial",
    "TrainingView",
]


def __getattr__(name: str) -> Any:
    """Import a view on first use, from the module with the same name."""
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}; the views are {', '.join(__all__)}")
    module = re.sub(r"(?<=[a-z])(?=[A-Z])", "_", name).lower()
    return getattr(import_module(f"{__name__}.{module}"), name)
