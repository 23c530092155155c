"""The model map: the path of a text through a model, block by block and token by token."""

from collections.abc import Callable, Sequence
from typing import Any

import torch
from matplotlib.figure import Figure
from torch import nn
from traitlets import Dict, Integer, List, TraitError, Unicode, observe, validate

from transformer_course.plots import COLORS
from transformer_course.views.model_run import record_run
from transformer_course.views.view import View, blank

MAX_CHARACTERS = 200


class ModelMap(View):
    """Show how your own model processes a text that you type, in every block and head and at every token.

    Args:
        model: The model, which runs in its current mode (train or eval).
        read: Function that maps a text to the arguments of the model, including the tokens that the model generates.
        names: Function that maps a token id to its text, or one function per sequence.
        texts: The initial texts. Without a kernel, no other texts are available unless the browser runs the model.
        **traits: The initial values of ``text``, ``block``, ``step`` and ``in_browser``.

    Raises:
        ValueError: There is no initial text, or ``record_run`` rejects the arguments that ``read`` returns.
    """

    front_end = "model_map"

    text = Unicode(help="The text to show.").tag(sync=True)
    texts = List(Unicode(), help="Texts to choose from.").tag(sync=True)
    runs = Dict(help="The recorded runs, keyed by input text.").tag(sync=True)
    problem = Unicode(help="Reason why the model could not run on the last text, or an empty string.").tag(sync=True)
    block = Integer(0, min=0, help="Index of the open block, initially the last attention module.").tag(sync=True)
    step = Integer(0, min=0, help="Index of the selected token in the last sequence.").tag(sync=True)

    in_browser = Dict(help="Data from ``browser_model`` to run the model without a kernel.").tag(sync=True)

    def __init__(
        self,
        model: nn.Module,
        read: Callable[[str], Sequence[Any]],
        names: Callable[[int], str] | Sequence[Callable[[int], str]],
        texts: Sequence[str],
        **traits: Any,
    ) -> None:
        if not texts:
            raise ValueError("texts must contain at least one initial text")
        self._model, self._read, self._names = model, read, names
        runs = {text: self._run(text) for text in texts}
        blocks = runs[texts[0]]["blocks"]
        opened = max((i for i, block in enumerate(blocks) if "weights" in block), default=0)
        first = {
            "text": texts[0],
            "texts": list(texts),
            "runs": runs,
            "block": opened,
            "step": _first_step(runs[texts[0]]),
        }
        super().__init__(**{**first, **traits})

    @property
    def run(self) -> dict[str, Any]:
        """The current run."""
        return dict(self.runs[self.text if self.text in self.runs else self.texts[0]])

    @validate("text")
    def _check_length(self, proposal: dict[str, Any]) -> str:
        if not 0 < len(proposal["value"].strip()) <= MAX_CHARACTERS:
            raise TraitError(f"a text must have 1 to {MAX_CHARACTERS} characters; got {len(proposal['value'])}")
        return str(proposal["value"])

    @observe("text")
    def _run_new_text(self, change: dict[str, Any]) -> None:
        text = change["new"]
        if not self.runs or text in self.runs:
            return
        try:
            run = self._run(text)
        except Exception as error:  # the model and the reading function are the learner's code
            self.problem = f"{text!r} cannot be run: {type(error).__name__}: {error}"
            return
        with self.hold_sync():
            self.problem, self.step = "", _first_step(run)
            self.runs = {**{known: self.runs[known] for known in self.texts}, text: run}

    def _run(self, text: str) -> dict[str, Any]:
        with torch.no_grad():
            inputs = list(self._read(text))
        return record_run(self._model, inputs, self._names)

    def words(self) -> str:
        """Return the sequences, and the number of modules shown (several per block of a GPT)."""
        run = self.run
        sequences = "; ".join(" ".join(tokens) for tokens in run["sequences"])
        return f"Model map: {sequences}. {len(run['blocks'])} modules, the last is {run['blocks'][-1]['name']}."

    def still(self) -> Figure:
        """Return a bar chart of how much each attention and feed-forward network adds to the residual stream."""
        adding = [block for block in self.run["blocks"] if "adds" in block]
        figure = blank(7.0, 1.1 + 0.28 * max(1, len(adding)))
        ax = figure.add_subplot()
        means = [sum(block["adds"]) / len(block["adds"]) for block in adding]
        ax.barh([block["name"] for block in adding], means, color=COLORS[0])
        ax.invert_yaxis()
        ax.set_xlabel("length of what the part adds / length of the stream\n(mean over tokens)")
        return figure


def _first_step(run: dict[str, Any]) -> int:
    """Return the token to select at first. For a language model, it is the last token, where the text continues."""
    return len(run["sequences"][0]) - 1 if len(run["sequences"]) == 1 else 0
