"""Make nbval compare the final state of a live display, such as a progress bar, not its initial state."""

from typing import Any

from nbformat.notebooknode import from_dict
from nbval.kernel import RunningKernel


def follow_live_displays() -> None:
    """Make nbval update the recorded output when a message updates a display."""
    receive, displays = RunningKernel.get_message, {}

    def get_message(self: RunningKernel, stream: str, timeout: float | None = None) -> dict[str, Any]:
        message = receive(self, stream, timeout=timeout)
        content = message["content"]
        display_id = content.get("transient", {}).get("display_id")
        if message["msg_type"] == "display_data" and display_id:
            displays[display_id] = content["data"] = from_dict(content["data"])  # nbval keeps this object, not a copy
        elif message["msg_type"] == "update_display_data" and display_id in displays:
            displays[display_id].clear()
            displays[display_id].update(content["data"])
        return message

    RunningKernel.get_message = get_message
