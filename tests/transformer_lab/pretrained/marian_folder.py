"""Create a folder with the tokenizer files of a published translator: source.spm, target.spm, and a vocabulary."""

import io
import json
from pathlib import Path

import sentencepiece

ENGLISH = [
    "the cat sat on the mat .", "a dog barks at the cat !", "where does the dog sit ?", "two cats , one mat .",
    "the mat is red , the dog is not .", "sit on it , dog !",
]  # fmt: skip
GERMAN = [
    "die Katze saß auf der Matte .", "ein Hund bellt die Katze an !", "wo sitzt der Hund ?", "zwei Katzen , eine Matte",
    "die Matte ist rot , der Hund ist es nicht .", "setz dich darauf , Hund !",
]  # fmt: skip
LANGUAGE = ">>deu<<"


def write_tokenizer(folder: Path, separate: bool = False) -> dict[str, int]:
    """Write the tokenizer files of a published model to a folder, and return the target vocabulary. In the vocabulary,
    ``</s>`` and ``<unk>`` come first and ``<pad>`` comes last. So the token IDs differ from sentencepiece's IDs.
    """
    pieces = {side: _train(folder / f"{side}.spm", texts) for side, texts in (("source", ENGLISH), ("target", GERMAN))}
    if separate:
        _write(folder / "vocab.json", pieces["source"])
        return _write(folder / "target_vocab.json", pieces["target"])
    return _write(folder / "vocab.json", [*pieces["target"], *pieces["source"]])


def _train(path: Path, texts: list[str]) -> list[str]:
    model = io.BytesIO()
    sentencepiece.SentencePieceTrainer.train(
        sentence_iterator=iter(4 * texts), model_writer=model, vocab_size=60, hard_vocab_limit=False, minloglevel=2
    )
    path.write_bytes(model.getvalue())
    processor = sentencepiece.SentencePieceProcessor(model_proto=model.getvalue())
    return [processor.id_to_piece(i) for i in range(3, len(processor))]  # without <unk>, <s> and </s>


def _write(path: Path, pieces: list[str]) -> dict[str, int]:
    tokens = dict.fromkeys(["</s>", "<unk>", *sorted(pieces), LANGUAGE, "<pad>"])
    vocabulary = {token: index for index, token in enumerate(tokens)}
    path.write_text(json.dumps(vocabulary), encoding="utf-8")
    return vocabulary
