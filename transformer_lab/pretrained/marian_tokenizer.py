"""Marian's tokenizer: SentencePiece splits texts into pieces, and a separate vocabulary maps the pieces to ids."""

from pathlib import Path

from sentencepiece import SentencePieceProcessor

from transformer_lab.pretrained.config_json import shortened
from transformer_lab.pretrained.hub import read_json

UNKNOWN, END, PAD = "<unk>", "</s>", "<pad>"


class MarianTokenizer:
    """The tokenizer of a published translation model.

    Its folder contains ``source.spm``, ``target.spm`` and ``vocab.json``, and also ``target_vocab.json`` if source and
    target have separate vocabularies. A source may begin with the target language, as in ``>>fra<< Good morning.``, if
    the vocabulary has a token for it.

    Args:
        folder: A local folder; ``fetch_model`` downloads a folder from the hub.

    Raises:
        ValueError: A file is missing or corrupted, or a vocabulary lacks ``<unk>``, ``</s>`` or ``<pad>``.
    """

    def __init__(self, folder: Path) -> None:
        self.source, self.target = (_processor(folder / f"{side}.spm") for side in ("source", "target"))
        self.vocabulary = _vocabulary(folder / "vocab.json")
        target_path = folder / "target_vocab.json"
        self.target_vocabulary = _vocabulary(target_path) if target_path.is_file() else self.vocabulary
        self.pieces = {index: piece for piece, index in self.target_vocabulary.items()}

    def encode(self, text: str) -> list[int]:
        """Return the token ids of a source, without the end-of-sequence token."""
        end = text.find("<<") + 2
        if text.startswith(">>") and text[:end] in self.vocabulary:
            language, text = [text[:end]], text[end:]
        else:
            language = []
        pieces = language + self.source.encode(text, out_type=str)
        return [self.vocabulary.get(piece, self.vocabulary[UNKNOWN]) for piece in pieces]

    def decode(self, ids: list[int]) -> str:
        """Return the text of target token ids, without special tokens.

        Raises:
            ValueError: Some ids are not in the target vocabulary.
        """
        if unknown := [index for index in ids if index not in self.pieces]:
            raise ValueError(f"the target vocabulary has no tokens with the ids {unknown}")
        pieces = [self.pieces[index] for index in ids]
        return self.target.decode([piece for piece in pieces if piece not in (UNKNOWN, END, PAD)]).strip()


def _processor(path: Path) -> SentencePieceProcessor:
    if not path.is_file():
        raise ValueError(f"{path.parent} has no {path.name}")
    try:
        return SentencePieceProcessor(model_file=str(path))
    except Exception as error:
        raise ValueError(f"{path} is corrupted: {error}") from error


def _vocabulary(path: Path) -> dict[str, int]:
    vocabulary = read_json(path)
    if missing := [token for token in (UNKNOWN, END, PAD) if token not in vocabulary]:
        raise ValueError(f"{path} lacks {', '.join(missing)}")
    if wrong := [piece for piece, index in vocabulary.items() if type(index) is not int]:
        raise ValueError(f"{path} must map every piece to an id; got {wrong[0]!r}: {shortened(vocabulary[wrong[0]])}")
    return vocabulary
