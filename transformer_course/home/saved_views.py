"""Save notebooks with pictures of views instead of widgets."""

from typing import Any

WIDGET = "application/vnd.jupyter.widget-view+json"
VIEW = "transformer-course-view"
"""The key in an output's metadata for the id of the widget that the picture shows."""


def keep_pictures(model: dict[str, Any], **_: Any) -> None:
    """Remove every widget that has a picture from a notebook that is being saved.

    A widget stops working when its kernel ends, but JupyterLab still prefers the widget to the picture, so a notebook
    opened on another day would show "Error displaying widget: model not found". The id of the widget is stored in the
    output's metadata, so that ``views.js`` can restore the widget if the kernel is still running.

    Args:
        model: The notebook to save, as Jupyter's contents manager passes it to a pre-save hook.
        _: Other arguments of the hook, which are not used.
    """
    if model["type"] != "notebook":
        return
    for cell in model["content"]["cells"]:
        for output in cell.get("outputs", ()):
            if "image/png" in output.get("data", ()) and (widget := output["data"].pop(WIDGET, None)):
                output.setdefault("metadata", {})[VIEW] = widget["model_id"]
