"""Marian's tokenizer: sentencepiece cuts texts into pieces, and a vocabulary of its own numbers them."""

from pathlib import Path

from sentencepiece import SentencePieceProcessor

from transformer_lab.pretrained.hub import read_json

UNKNOWN, END, PAD = "<unk>", "</s>", "<pad>"


class MarianTokenizer:
    """Makes token ids of source texts, and texts of target token ids, as a published folder says.

    The folder holds ``source.spm``, ``target.spm`` and ``vocab.json``, and ``target_vocab.json`` where source and
    target have a vocabulary each. A source may begin with a language, as in ``>>fra<< Good morning.``, where the
    vocabulary has it.

    Args:
        folder: A folder here; ``find`` gives one for a name on the hub.

    Raises:
        ValueError: A file is missing or damaged, or a vocabulary lacks ``<unk>``, ``</s>`` or ``<pad>``.
    """

    def __init__(self, folder: Path) -> None:
        self.source, self.target = (_processor(folder / f"{side}.spm") for side in ("source", "target"))
        self.vocabulary = _vocabulary(folder / "vocab.json")
        apart = folder / "target_vocab.json"
        self.target_vocabulary = _vocabulary(apart) if apart.is_file() else self.vocabulary
        self.pieces = {index: piece for piece, index in self.target_vocabulary.items()}

    def encode(self, text: str) -> list[int]:
        """Make token ids of a source, without the one that ends it."""
        end = text.find("<<") + 2
        if text.startswith(">>") and text[:end] in self.vocabulary:
            language, text = [text[:end]], text[end:]
        else:
            language = []
        return _numbered(language + self.source.encode(text, out_type=str), self.vocabulary)

    def encode_target(self, text: str) -> list[int]:
        """Make token ids of a target, without the one that ends it."""
        return _numbered(self.target.encode(text, out_type=str), self.target_vocabulary)

    def decode(self, ids: list[int]) -> str:
        """Make a text of target token ids, leaving out what stands for no text.

        Raises:
            ValueError: An id is not in the vocabulary.
        """
        if unknown := [index for index in ids if index not in self.pieces]:
            raise ValueError(f"the vocabulary has no tokens {unknown}")
        pieces = [self.pieces[index] for index in ids]
        return self.target.decode([piece for piece in pieces if piece not in (UNKNOWN, END, PAD)]).strip()


def _numbered(pieces: list[str], vocabulary: dict[str, int]) -> list[int]:
    return [vocabulary.get(piece, vocabulary[UNKNOWN]) for piece in pieces]


def _processor(path: Path) -> SentencePieceProcessor:
    if not path.is_file():
        raise ValueError(f"{path.parent} has no {path.name}")
    try:
        return SentencePieceProcessor(model_file=str(path))
    except Exception as error:
        raise ValueError(f"{path} is damaged: {error}") from error


def _vocabulary(path: Path) -> dict[str, int]:
    vocabulary = read_json(path)
    if missing := [token for token in (UNKNOWN, END, PAD) if token not in vocabulary]:
        raise ValueError(f"{path} lacks {', '.join(missing)}")
    if wrong := [piece for piece, index in vocabulary.items() if type(index) is not int]:
        raise ValueError(f"{path} must number its pieces; {wrong[0]!r} has {vocabulary[wrong[0]]!r}")
    return vocabulary
