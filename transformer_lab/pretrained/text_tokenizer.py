"""The tokenizer of a published language model, in either of the forms that the hub has."""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TypeVar

from tokenizers import AddedToken, Tokenizer, decoders, models, pre_tokenizers

T = TypeVar("T")
TOKENIZER, VOCABULARY, MERGES = "tokenizer.json", "vocab.json", "merges.txt"


def load_text_tokenizer(folder: Path, special: Sequence[int] = ()) -> Tokenizer:
    """Load the tokenizer of a published language model.

    Args:
        folder: Where ``tokenizer.json`` is; or GPT-2's own form, ``vocab.json`` and ``merges.txt``.
        special: The tokens that stand for no text, which GPT-2's own form does not tell.

    Raises:
        ValueError: It is missing or damaged.
    """
    if (folder / TOKENIZER).is_file():
        tokenizer = _read(folder, [TOKENIZER], Tokenizer.from_file)
        tokenizer.no_padding()
        tokenizer.no_truncation()
        return tokenizer
    if missing := [name for name in (VOCABULARY, MERGES) if not (folder / name).is_file()]:
        raise ValueError(f"{folder} has no {TOKENIZER}, and no {' and no '.join(missing)}")
    tokenizer = Tokenizer(_read(folder, [VOCABULARY, MERGES], models.BPE.from_file))
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    tokens = filter(None, map(tokenizer.id_to_token, special))
    tokenizer.add_special_tokens([AddedToken(token, normalized=False, special=True) for token in tokens])
    return tokenizer


def _read(folder: Path, names: Sequence[str], read: Callable[..., T]) -> T:
    try:
        return read(*(str(folder / name) for name in names))
    except Exception as error:  # the library raises no narrower one
        raise ValueError(f"{folder}: {' and '.join(names)} hold no tokenizer: {error}") from error
