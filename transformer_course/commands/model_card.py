"""The card of a model: the ``README.md`` of its folder, which the hub shows first."""

from collections.abc import Mapping
from dataclasses import fields
from typing import Any

from huggingface_hub import ModelCardData
from torch import nn

CARD_FILE = "README.md"

TEMPLATE = """---
{header}
---

# {title}

{what} of {n_parameters:,} parameters, made with Transformer Course.

## How to use it

```
pip install transformer-course
```

```python
{usage}
```

## What it is

| setting | value |
|---|---|
{settings}

## What was measured

{measurements}
"""


def model_card(
    model: nn.Module,
    config: Any,
    title: str,
    what: str,
    task: str,
    usage: str,
    measured: Mapping[str, str],
) -> str:
    """Return a card: what the model is, counted from the model itself, and what was measured, as it is given.

    Args:
        model: The model.
        config: Its configuration, a dataclass.
        title: Its name.
        what: What it is, such as ``A language model``.
        task: Its task on the hub, such as ``text-generation``.
        usage: Python that uses it.
        measured: What was measured on it, by the name of the measure. Empty: the card says that nothing was.
    """
    header = ModelCardData(
        library_name="transformer-course",
        pipeline_tag=task,
        tags=["transformer-course", "safetensors"],
    )
    parameters = list(model.parameters())
    numbers = {
        "parameters": f"{sum(parameter.numel() for parameter in parameters):,}",
        "stored as": ", ".join(sorted({str(parameter.dtype).removeprefix("torch.") for parameter in parameters})),
    }
    settings = {field.name: getattr(config, field.name) for field in fields(config)}
    return TEMPLATE.format(
        header=header.to_yaml().strip(),
        title=title,
        what=what,
        n_parameters=sum(parameter.numel() for parameter in parameters),
        usage=usage.strip(),
        settings=_rows(numbers | {f"`{name}`": f"`{value!r}`" for name, value in settings.items()}),
        measurements=f"| measure | value |\n|---|---|\n{_rows(measured)}" if measured else "Nothing was.",
    )


def _rows(values: Mapping[str, str]) -> str:
    """Return the rows of a table, in which no text can end its cell."""
    cell = str.maketrans({"|": "\\|", "\n": " "})
    return "\n".join(f"| {name.translate(cell)} | {value.translate(cell)} |" for name, value in values.items())
