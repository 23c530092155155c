"""Interactive views: pictures with a handle, which answer to mouse, touch and keys in a notebook.

``view`` is what all of them share, and ``front_end`` joins the JavaScript modules beside it into the one that a
notebook loads: nothing is built, and nothing is fetched from the network. Each view is a module of its own, and is
loaded when it is first used: ``views.AttentionExplorer`` needs no import but that of ``views``. Uses ``inspection`` and
``training``.

``attention_explorer`` shows where a model attends, in ``weight_tables``, and ``mask_painter`` what a mask leaves;
``lookup_dial`` and ``position_clock`` turn queries and positions by hand; ``residual_stream`` looks into deep stacks,
from the ``residual_runs`` that are stored with it; ``training_view`` is a training run, drawn while it goes on, and
``sampling_dial`` the distribution of a next token. ``model_map`` shows the inside of a whole model at work on a text,
as ``model_run`` records it; without a kernel, the browser runs what ``browser_model`` stores.

A view is made like this. In Python, ``coin.py`` holds its state, in traits that code can read and set and that are
synchronized with the browser, and says the same in a still picture and in words, for those who see no widget::

    class Coin(View):
        front_end = "coin"  # front_end/coin.mjs, and coin.css if it is there
        probability = Float(0.5, min=0.0, max=1.0).tag(sync=True)

        def still(self) -> Figure:
            figure = blank(3.0, 2.0)
            figure.add_subplot().bar(["heads", "tails"], [self.probability, 1 - self.probability])
            return figure

        def words(self) -> str:
            return f"Coin: heads with probability {self.probability:.2f}."

In the browser, ``front_end/coin.mjs`` sets traits, and draws what they say, by ``follow``: so it makes no difference
whether a hand or a line of Python changed one::

    import { slider } from "./controls.mjs";
    import { element } from "./dom.mjs";

    export function draw(view) {
      const { controls, body } = view.frame({ name: "Coin", help: "Arrow keys move the slider." });
      controls.append(slider(view, { trait: "probability", label: "heads", min: 0, max: 1, step: 0.01 }));
      const bar = body.appendChild(element("div", { class: "bar" }));
      view.follow(["probability"], () => {
        bar.style.width = `${100 * view.get("probability")}%`;
        view.say(`heads with probability ${view.get("probability").toFixed(2)}`);  // seen below, and read aloud
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
    """Import a view when it is first asked for, from the module of its name."""
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}; there are {', '.join(__all__)}")
    module = re.sub(r"(?<=[a-z])(?=[A-Z])", "_", name).lower()
    return getattr(import_module(f"{__name__}.{module}"), name)
