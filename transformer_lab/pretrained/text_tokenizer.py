"""The tokenizer of a published language model, in either of the hub's two formats."""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TypeVar

from tokenizers import AddedToken, Tokenizer, decoders, models, pre_tokenizers

T = TypeVar("T")
TOKENIZER, VOCABULARY, MERGES = "tokenizer.json", "vocab.json", "merges.txt"


def load_text_tokenizer(folder: Path, special: Sequence[int] = ()) -> Tokenizer:
    """Load the tokenizer of a published language model.

    Args:
        folder: Folder with ``tokenizer.json``, or with ``vocab.json`` and ``merges.txt``, GPT-2's original format.
        special: Ids of the special tokens, which are not marked in GPT-2's original format.

    Raises:
        ValueError: The files are missing or corrupted.
    """
    if (folder / TOKENIZER).is_file():
        tokenizer = _load_files(folder, [TOKENIZER], Tokenizer.from_file)
        tokenizer.no_padding()
        tokenizer.no_truncation()
        return tokenizer
    if missing := [name for name in (VOCABULARY, MERGES) if not (folder / name).is_file()]:
        raise ValueError(f"{folder} has no {TOKENIZER} and no {' and no '.join(missing)}")
    tokenizer = Tokenizer(_load_files(folder, [VOCABULARY, MERGES], models.BPE.from_file))
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    tokens = filter(None, map(tokenizer.id_to_token, special))
    tokenizer.add_special_tokens([AddedToken(token, normalized=False, special=True) for token in tokens])
    return tokenizer


def _load_files(folder: Path, names: Sequence[str], load: Callable[..., T]) -> T:
    try:
        return load(*(str(folder / name) for name in names))
    except Exception as error:  # the library raises plain Exception
        reason = " ".join(str(error).split())
        raise ValueError(f"{folder}: cannot read a tokenizer from {' and '.join(names)}: {reason}") from error
