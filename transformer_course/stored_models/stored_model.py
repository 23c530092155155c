"""Load a stored model: its parameters, its tokenizer, and the card that says how it was trained."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tokenizers import Tokenizer
from torch import Tensor

from transformer_lab.data.tokenizers import load_tokenizer
from transformer_lab.tensor_files import read_tensors, write_tensors

FOLDER = Path(__file__).parent
MODEL, TOKENIZER, CARD = "model.safetensors", "tokenizer.json", "card.json"


@dataclass(frozen=True, eq=False)
class StoredModel:
    """A model that was trained before, without its class: the learner has that.

    Attributes:
        parameters: By name, in float32, for ``load_state_dict``.
        tokenizer: The tokenizer that it was trained with.
        card: How it was trained: command, texts, processor time, and losses.
    """

    parameters: Mapping[str, Tensor]
    tokenizer: Tokenizer
    card: Mapping[str, Any]

    @property
    def sizes(self) -> dict[str, int]:
        """The arguments of its class."""
        return dict(self.card["sizes"])


def trained(name: str) -> StoredModel:
    """Return a stored model.

    Args:
        name: Its name, such as ``"gpt-docstrings"``.

    Raises:
        ValueError: There is no such model.
    """
    names = sorted(card.parent.name for card in FOLDER.glob(f"*/{CARD}"))
    if name not in names:
        raise ValueError(f"there is no stored model {name!r}; there are {', '.join(names)}")
    tensors, _ = read_tensors(FOLDER / name / MODEL)
    card = json.loads((FOLDER / name / CARD).read_text(encoding="utf-8"))
    parameters = {key: tensor.float() for key, tensor in tensors.items()}
    return StoredModel(parameters, load_tokenizer(FOLDER / name / TOKENIZER), card)


def store(folder: Path, parameters: Mapping[str, Tensor], tokenizer: Tokenizer, card: Mapping[str, Any]) -> None:
    """Write a model as ``trained`` reads it, in half precision."""
    folder.mkdir(parents=True, exist_ok=True)
    write_tensors(folder / MODEL, {key: tensor.half() for key, tensor in parameters.items()}, {})
    (folder / TOKENIZER).write_text(tokenizer.to_str(), encoding="utf-8")
    (folder / CARD).write_text(json.dumps(dict(card), indent=2, ensure_ascii=False) + "\n", encoding="utf-8")
