"""Write the model card: the ``README.md`` in a model's folder, which the Hugging Face Hub displays."""

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

{description} with {n_parameters:,} parameters, made with Transformer Course.

## Usage

```
pip install transformer-course
```

```python
{usage}
```

## Configuration

| setting | value |
|---|---|
{settings}

## Evaluation

{measurements}
"""


def model_card(
    model: nn.Module,
    config: Any,
    title: str,
    description: str,
    task: str,
    usage: str,
    measured: Mapping[str, str],
) -> str:
    """Return a model card with a description of the model and its measurements.

    Args:
        model: The model.
        config: The configuration of the model, a dataclass.
        title: The model's name.
        description: A short description, such as ``A language model``.
        task: The task of the model on the Hugging Face Hub, such as ``text-generation``.
        usage: Python code that uses the model.
        measured: The measurements, keyed by name. May be empty.
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
        description=description,
        n_parameters=sum(parameter.numel() for parameter in parameters),
        usage=usage.strip(),
        settings=_rows(numbers | {f"`{name}`": f"`{value!r}`" for name, value in settings.items()}),
        measurements=f"| measure | value |\n|---|---|\n{_rows(measured)}" if measured else "None.",
    )


def _rows(values: Mapping[str, str]) -> str:
    """Return the rows of a Markdown table, with characters that would end a cell escaped."""
    cell = str.maketrans({"|": "\\|", "\n": " "})
    return "\n".join(f"| {name.translate(cell)} | {value.translate(cell)} |" for name, value in values.items())
