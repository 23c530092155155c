"""Write the page with the map of a trained model, which runs in the browser on any text that the reader types.

``transformer-course train dates`` trains the model and saves it in ``model-dates``. ``python -m docs.site.inside
model-dates`` then stores the map of the model, with the results for one text.
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
    """Return the page in Markdown for the state that ``View.stored`` returns."""
    return f"""# Inside a trained model

This Transformer learned in a few minutes on a laptop to convert dates to ISO 8601. It has the same size as the model
that you train in [lesson 08](notebooks/08_training.ipynb), and it runs in your browser. Type a date in any of a dozen
languages, and press Enter to run the model on this date. Choose a block to see its output for every token. In attention
blocks, you see the weights of each head. The bars show the norm of the vector that a block adds to the residual stream.
Press *Go on* to generate the date one token at a time. The model makes some mistakes. Can you find a date that it
converts incorrectly?

<div class="cell_output">{live_views.placed(stored)}</div>

In a notebook, `views.ModelMap` shows your own model in the same way. In lesson 08, it shows the model that you have
built and trained.
"""


def record(folder: Path) -> str:
    """Return the state of the map for the date translator in a training folder."""
    translator = Translator.load(folder)
    round_parameters(translator.model)  # the model in the browser also uses rounded parameters

    def read(text: str) -> list[Tensor]:
        source = torch.tensor([translator.encode_source(text).tolist()])
        generated = greedy_decode(translator.model, source, translator.bos_id, translator.eos_id, LENGTH)
        return [source, torch.cat([torch.tensor([[translator.bos_id]]), generated[:, :-1]], dim=1)]

    special = {translator.bos_id: "bos", translator.eos_id: "eos", PAD_ID: "pad", UNKNOWN_ID: "?"}

    def name(i: int) -> str:
        return special.get(i) or translator.decode([i])

    model = browser_model(translator.model, name, translator.bos_id, translator.eos_id, UNKNOWN_ID, LENGTH)
    view = ModelMap(translator.model, read, name, TEXTS, step=6, in_browser=model)
    view.runs = {TEXTS[0]: view.runs[TEXTS[0]]}  # the browser computes all other runs
    return view.stored()


if __name__ == "__main__":
    FILE.write_text(record(Path(sys.argv[1])) + "\n", encoding="utf-8")
