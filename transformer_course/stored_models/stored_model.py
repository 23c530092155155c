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
        parameters: The parameters by name, in float32.
        tokenizer: The tokenizer that it was trained with.
        card: Its training: command, texts, processor time and losses.
    """

    parameters: Mapping[str, Tensor]
    tokenizer: Tokenizer
    card: Mapping[str, Any]

    @property
    def sizes(self) -> dict[str, int]:
        """The arguments of the class."""
        return dict(self.card["sizes"])

    def load_into(self, model: AnyModel) -> AnyModel:
        """Copy the stored parameters into a model, and return the model.

        Raises:
            ValueError: The model's parameters do not match; it is then unchanged.
        """
        theirs, ours = dict(model.named_parameters()), self.parameters
        # A few are enough, because a different block is different in every layer.
        missing, unknown = sorted(ours.keys() - theirs.keys()), sorted(theirs.keys() - ours.keys())
        shapes = [
            f"{name} is {tuple(theirs[name].shape)} in the model, and {tuple(ours[name].shape)} as it is stored"
            for name in ours
            if name in theirs and theirs[name].shape != ours[name].shape
        ]
        differences = [
            *([f"the model has no {_some(missing)}"] if missing else []),
            *([f"nothing is stored for the model's {_some(unknown)}"] if unknown else []),
            *([_some(shapes)] if shapes else []),
        ]
        if differences:
            made = ", ".join(f"{name}={size}" for name, size in self.sizes.items())
            raise ValueError(
                f"the stored parameters do not fit {type(model).__name__}: {'; '.join(differences)}. "
                f"They were made for the class of the lesson with {made}"
            )
        model.load_state_dict(dict(ours), strict=False)  # leaves buffers unchanged
        return model


def trained(name: str) -> StoredModel:
    """Return a stored model.

    Args:
        name: Its name, such as ``"gpt-docstrings"``.

    Raises:
        ValueError: There is no such model.
    """
    names = sorted(card.parent.name for card in FOLDER.glob(f"*/{CARD}"))
    if name not in names:
        raise ValueError(f"there is no stored model {name!r}; the models are {', '.join(names)}")
    tensors, _ = read_tensors(FOLDER / name / MODEL)
    card = json.loads((FOLDER / name / CARD).read_text(encoding="utf-8"))
    parameters = {key: tensor.float() for key, tensor in tensors.items()}
    return StoredModel(parameters, load_tokenizer(FOLDER / name / TOKENIZER), card)


def store(folder: Path, parameters: Mapping[str, Tensor], tokenizer: Tokenizer, card: Mapping[str, Any]) -> None:
    """Write a model in half precision, for ``trained``."""
    folder.mkdir(parents=True, exist_ok=True)
    write_tensors(folder / MODEL, {key: tensor.half() for key, tensor in parameters.items()}, {})
    (folder / TOKENIZER).write_text(tokenizer.to_str(), encoding="utf-8")
    (folder / CARD).write_text(json.dumps(dict(card), indent=2, ensure_ascii=False) + "\n", encoding="utf-8")


def _some(words: list[str]) -> str:
    """Join the first three items, and count the rest."""
    return ", ".join(words[:3]) + (f" and {len(words) - 3} more" if len(words) > 3 else "")
