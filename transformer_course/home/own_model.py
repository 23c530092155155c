"""Read the map of the learner's own model as it was saved with a lesson, for the home page without a kernel."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from transformer_course.views import front_end
from transformer_course.views.front_end import STATE

VIEW = "model_map"


def cell_of_map(cells: Sequence[dict[str, Any]]) -> str:
    """Return the id of the first cell that shows a map of a model, or "" if there is none."""
    return next((str(cell["id"]) for cell in cells if _state(cell)), "")


def map_to_show(notebook: Path, cell: str) -> dict[str, Any]:
    """Return the script, the style sheet and the traits that a browser needs to show the map in a notebook's cell.

    Raises:
        OSError: The notebook cannot be read.
        ValueError: The notebook has changed and no longer contains the map.
    """
    cells = json.loads(notebook.read_text(encoding="utf-8"))["cells"]
    state = next((_state(each) for each in cells if each.get("id") == cell), "")
    traits = json.loads(state)["traits"]
    return {"script": front_end.module(VIEW), "style": front_end.style(VIEW), "traits": traits}


def _state(cell: dict[str, Any]) -> str:
    """Return the stored state of the map in a cell, or "" if the cell has no map."""
    states = (str(output.get("metadata", {}).get(STATE, "")) for output in cell.get("outputs", ()))
    return next((state for state in states if f'"view": "{VIEW}"' in state), "")
