"""Load a stored model: its parameters, its tokenizer, and the card that describes its training."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tokenizers import Tokenizer
from torch import Tensor

from transformer_lab.data.tokenizers import load_tokenizer
from transformer_lab.tensor_files import AnyModel, read_tensors, write_tensors

FOLDER = Path(__file__).parent
MODEL, TOKENIZER, CARD = "model.safetensors", "tokenizer.json", "card.json"


@dataclass(frozen=True, eq=False)
class StoredModel:
    """A trained model without its class, which the learner writes.

    Attributes:
        parameters: Parameters by name, in float32.
        tokenizer: Tokenizer with which the model was trained.
        card: Model card: training command, texts, CPU time and losses.
    """

    parameters: Mapping[str, Tensor]
    tokenizer: Tokenizer
    card: Mapping[str, Any]

    @property
    def sizes(self) -> dict[str, int]:
        """Arguments for the constructor of the learner's class."""
        return dict(self.card["sizes"])

    def load_into(self, model: AnyModel) -> AnyModel:
        """Copy the stored parameters into a model and return the model.

        Raises:
            ValueError: The model's parameters do not match. The model is unchanged.
        """
        theirs, ours = dict(model.named_parameters()), self.parameters
        missing, unknown = sorted(ours.keys() - theirs.keys()), sorted(theirs.keys() - ours.keys())
        shapes = [
            f"{name} has shape {tuple(theirs[name].shape)} in the model but {tuple(ours[name].shape)} in the file"
            for name in ours
            if name in theirs and theirs[name].shape != ours[name].shape
        ]
        differences = [
            *([f"the model has no {_abbreviated(missing)}"] if missing else []),
            *([f"there are no stored parameters for the model's {_abbreviated(unknown)}"] if unknown else []),
            *([_abbreviated(shapes)] if shapes else []),
        ]
        if differences:
            sizes = ", ".join(f"{name}={size}" for name, size in self.sizes.items())
            raise ValueError(
                f"the stored parameters do not fit {type(model).__name__}: {'; '.join(differences)}. "
                f"Create the model with {sizes} and the parameter names of the lesson"
            )
        model.load_state_dict(dict(ours), strict=False)  # strict=False because buffers are not stored
        return model


def trained(name: str) -> StoredModel:
    """Return a stored model.

    Args:
        name: Name of the model, such as ``"gpt-docstrings"``.

    Raises:
        ValueError: There is no stored model with this name.
    """
    names = sorted(card.parent.name for card in FOLDER.glob(f"*/{CARD}"))
    if name not in names:
        raise ValueError(f"there is no stored model {name!r}; choose one of {', '.join(names)}")
    tensors, _ = read_tensors(FOLDER / name / MODEL)
    card = json.loads((FOLDER / name / CARD).read_text(encoding="utf-8"))
    parameters = {key: tensor.float() for key, tensor in tensors.items()}
    return StoredModel(parameters, load_tokenizer(FOLDER / name / TOKENIZER), card)


def store(folder: Path, parameters: Mapping[str, Tensor], tokenizer: Tokenizer, card: Mapping[str, Any]) -> None:
    """Write a model in half precision, in the format that ``trained`` reads."""
    folder.mkdir(parents=True, exist_ok=True)
    write_tensors(folder / MODEL, {key: tensor.half() for key, tensor in parameters.items()}, {})
    (folder / TOKENIZER).write_text(tokenizer.to_str(), encoding="utf-8")
    (folder / CARD).write_text(json.dumps(dict(card), indent=2, ensure_ascii=False) + "\n", encoding="utf-8")


def _abbreviated(words: list[str]) -> str:
    """Join the first three items and count the others, because a missing block would list dozens of names."""
    return ", ".join(words[:3]) + (f" and {len(words) - 3} more" if len(words) > 3 else "")
