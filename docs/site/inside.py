"""The page with the map of a trained model, which runs any typed text in the browser.

``transformer-course train dates`` trains the model in ``model-dates``, and ``python -m docs.site.inside model-dates``
stores it with an initial run.
"""

import sys
from pathlib import Path

import torch
from torch import Tensor

from docs.site import live_views
from transformer_course.views import ModelMap
from transformer_course.views.browser_model import browser_model, round_parameters
from transformer_lab.data.tokenizers import PAD_ID, UNKNOWN_ID
from transformer_lab.generation.decode import greedy_decode
from transformer_lab.text.translator import Translator

FILE = Path(__file__).with_name("inside.json")
TEXTS = ("3 mars 2021", "May 5, 1999", "1. Dezember 1987")
LENGTH = 11
"""Number of tokens in a date, including the end token."""


def page(stored: str) -> str:
    """Return the page in Markdown, from the result of ``View.stored``."""
    return f"""# Inside a trained model

This Transformer has learned, in a few minutes on a laptop, to write dates in the form of ISO 8601. It is of the size
that you train in [lesson 08](notebooks/08_training.ipynb), and runs here, in your browser. Type a date, in any of a
dozen languages, and press Enter: it flows through the model. Choose a block to see what leaves it for every token: an
attention has a map for each head, and bars say how long the vector is that a block adds to the residual stream. *Go on*
generates the date, a token at a time. It is not always right: can you find a date that it gets wrong?

<div class="cell_output">{live_views.placed(stored)}</div>

In a notebook, `views.ModelMap` shows a model of your own in this way: in lesson 08 the one that you have built and
trained.
"""


def record(folder: Path) -> str:
    """Return the state of the map of a date translator, from the folder that training wrote."""
    translator = Translator.load(folder)
    round_parameters(translator.model)  # the browser has only rounded parameters

    def read(text: str) -> list[Tensor]:
        source = torch.tensor([translator.encode_source(text).tolist()])
        generated = greedy_decode(translator.model, source, translator.bos_id, translator.eos_id, LENGTH)
        return [source, torch.cat([torch.tensor([[translator.bos_id]]), generated[:, :-1]], dim=1)]

    special = {translator.bos_id: "bos", translator.eos_id: "eos", PAD_ID: "pad", UNKNOWN_ID: "?"}

    def name(i: int) -> str:
        return special.get(i) or translator.decode([i])

    model = browser_model(translator.model, name, translator.bos_id, translator.eos_id, UNKNOWN_ID, LENGTH)
    view = ModelMap(translator.model, read, name, TEXTS, step=6, in_browser=model)
    view.runs = {TEXTS[0]: view.runs[TEXTS[0]]}  # the browser computes the others
    return view.stored()


if __name__ == "__main__":
    FILE.write_text(record(Path(sys.argv[1])) + "\n", encoding="utf-8")
