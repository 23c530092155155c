"""Notebooks are saved with the pictures of their views, not with the views."""

from typing import Any

WIDGET = "application/vnd.jupyter.widget-view+json"
VIEW = "transformer-course-view"
"""Where the metadata of an output say which widget its picture shows."""


def keep_pictures(model: dict[str, Any], **_: Any) -> None:
    """Take out of a notebook that is being saved every widget beside which there is a picture of it.

    A widget ends with its kernel, and JupyterLab prefers it to the picture all the same: a notebook that is opened on
    another day would say "Error displaying widget: model not found" in the place of each view. Which widget it was is
    noted in the metadata of the output: as long as its kernel runs, ``views.js`` brings it back.

    Args:
        model: What is saved, as Jupyter's contents manager gives it to its hooks.
        _: Its path and manager.
    """
    if model["type"] != "notebook":
        return
    for cell in model["content"]["cells"]:
        for output in cell.get("outputs", ()):
            if "image/png" in output.get("data", ()) and (widget := output["data"].pop(WIDGET, None)):
                output.setdefault("metadata", {})[VIEW] = widget["model_id"]
