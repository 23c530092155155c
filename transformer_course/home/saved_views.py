"""Save notebooks with pictures of their views instead of the views."""

from typing import Any

WIDGET = "application/vnd.jupyter.widget-view+json"
VIEW = "transformer-course-view"
"""The metadata key of an output for the widget that its picture shows."""


def keep_pictures(model: dict[str, Any], **_: Any) -> None:
    """Remove every widget that has a picture from a notebook that is being saved.

    A widget stops working when its kernel ends, but JupyterLab still prefers it to the picture. A notebook opened on
    another day would show "Error displaying widget: model not found" instead of each view. The output's metadata record
    which widget it was, so ``views.js`` can restore it while its kernel runs.

    Args:
        model: The model to save, as Jupyter's contents manager passes it to its hooks.
        _: The path and the contents manager.
    """
    if model["type"] != "notebook":
        return
    for cell in model["content"]["cells"]:
        for output in cell.get("outputs", ()):
            if "image/png" in output.get("data", ()) and (widget := output["data"].pop(WIDGET, None)):
                output.setdefault("metadata", {})[VIEW] = widget["model_id"]
