"""Define the readers under test, each with a function that creates valid files and the file to corrupt."""

import gzip
import hashlib
import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import torch
from torch import nn

from tests.fuzz.damage import BYTES, GZIPPED, JSON, TENSORS, TEXT, Damage
from tests.transformer_lab.pretrained.marian_folder import ENGLISH, GERMAN, write_tokenizer
from tests.transformer_lab.training.small_task import text_trainer, trainer
from transformer_lab.attention.positions import LinearScaling, Llama3Scaling
from transformer_lab.data.corpus import LineErrors, read_pairs
from transformer_lab.data.documents import read_documents
from transformer_lab.data.prepare import prepare, prepare_text
from transformer_lab.data.token_store import TokenStore
from transformer_lab.data.tokenizers import bpe_tokenizer
from transformer_lab.models.language_model import LanguageModel
from transformer_lab.models.language_model_config import LanguageModelConfig, SlidingWindow
from transformer_lab.models.transformer import Transformer
from transformer_lab.models.transformer_config import TransformerConfig
from transformer_lab.pretrained.load import load_language_model, load_translation_model, save_pretrained
from transformer_lab.pretrained.marian_tokenizer import MarianTokenizer
from transformer_lab.pretrained.text_tokenizer import load_text_tokenizer
from transformer_lab.tensor_files import PARAMETERS_FILE, read_tensors, write_tensors
from transformer_lab.text.translator import Translator
from transformer_lab.training.log import Log

SIZES = {"d_model": 24, "n_heads": 6, "d_ff": 19, "n_layers": 2, "max_length": 29}
LLAMA = LanguageModelConfig.llama(37, **SIZES)
GEMMA = {
    "norm_placement": "both",
    "qk_norm": True,
    "scaled_embeddings": True,
    "feed_forward": "geglu",
    "tie_embeddings": True,
}
LANGUAGE_MODELS = {
    "GPT-2": LanguageModelConfig(37, **SIZES),
    "Llama": LanguageModelConfig.llama(37, **SIZES, n_kv_heads=2),
    "Llama 3": LanguageModelConfig.llama(37, **SIZES, rotary_scaling=Llama3Scaling(4.0, 7)),
    "Mistral": LanguageModelConfig.llama(37, **SIZES, window=SlidingWindow(3)),
    "Qwen 2": LanguageModelConfig.llama(37, **SIZES, qkv_bias=True, window=SlidingWindow(3, (False, True))),
    "Qwen 3": LanguageModelConfig.llama(37, **SIZES, qk_norm=True, rotary_scaling=LinearScaling(2.0)),
    "Gemma 3": LanguageModelConfig.llama(37, **SIZES, **GEMMA, window=SlidingWindow(3, (False, True), 50.0)),
}
MARIAN = TransformerConfig(37, **SIZES, source_pad_id=36, target_pad_id=36, hide_target_padding=False)
TOKENS = torch.tensor([[0, 0, 0, 0]])


class Reader(NamedTuple):
    """A component that reads files.

    Args:
        make: Writes valid files to a folder.
        file: Name of the file to corrupt.
        read: Reads the files in the folder, uses the result, and returns a value that is equal for equal results.
        damages: Functions that corrupt the file.
    """

    make: Callable[[Path], object]
    file: str
    read: Callable[[Path], object]
    damages: Sequence[Damage]


def _translator(folder: Path) -> None:
    torch.manual_seed(0)
    tokenizer = bpe_tokenizer([*ENGLISH, *GERMAN], 280)
    translator = Translator(Transformer(TransformerConfig(tokenizer.get_vocab_size(), **SIZES)), tokenizer)
    translator.save_description(folder)
    write_tensors(folder / PARAMETERS_FILE, translator.model.state_dict(), {})


def _translate(folder: Path) -> object:
    translator = Translator.load(folder)
    max_length = min(4, translator.model.config.max_length)
    return list(translator.translate(["the cat", "ein Hund"], max_length=max_length))


def _language_model(config: LanguageModelConfig) -> Callable[[Path], None]:
    def make(folder: Path) -> None:
        torch.manual_seed(0)
        save_pretrained(LanguageModel(config), folder, eos_id=3)

    return make


def _logits(folder: Path) -> object:
    model = load_language_model(folder)
    with torch.no_grad():
        return _digest(model(TOKENS[:, : model.config.max_length]))


def _in_two_files(folder: Path) -> None:
    _language_model(LLAMA)(folder)
    tensors, name = _tensors(folder / PARAMETERS_FILE), "model-{}.safetensors"
    (folder / PARAMETERS_FILE).unlink()
    files = {key: name.format(i % 2) for i, key in enumerate(tensors)}
    for file in set(files.values()):
        write_tensors(folder / file, {key: tensors[key] for key in tensors if files[key] == file}, {})
    (folder / f"{PARAMETERS_FILE}.index.json").write_text(json.dumps({"weight_map": files}))


def _pickled(folder: Path) -> None:
    _language_model(LLAMA)(folder)
    torch.save(_tensors(folder / PARAMETERS_FILE), folder / "pytorch_model.bin")
    (folder / PARAMETERS_FILE).unlink()


def _tensors(path: Path) -> dict[str, torch.Tensor]:
    from safetensors.torch import load_file

    return load_file(path)


def _marian(folder: Path) -> None:
    torch.manual_seed(0)
    save_pretrained(Transformer(MARIAN), folder, bos_id=36, eos_id=3)


def _marian_logits(folder: Path) -> object:
    model = load_translation_model(folder)
    tokens = TOKENS[:, : model.config.max_length]
    with torch.no_grad():
        return _digest(model(tokens, tokens))


def _tokenizer(folder: Path) -> None:
    bpe_tokenizer([*ENGLISH, *GERMAN], 280).save(str(folder / "tokenizer.json"))


def _vocabulary(folder: Path) -> None:
    learned = json.loads(bpe_tokenizer([*ENGLISH, *GERMAN], 280).to_str())["model"]
    merges = [merge if isinstance(merge, str) else " ".join(merge) for merge in learned["merges"]]
    (folder / "vocab.json").write_text(json.dumps(learned["vocab"]), encoding="utf-8")
    (folder / "merges.txt").write_text("\n".join(["#version: 0.2", *merges, ""]), encoding="utf-8")


def _split(folder: Path) -> object:
    tokenizer = load_text_tokenizer(folder, [2])
    ids = tokenizer.encode("the cat's 12 Matten €").ids
    return ids, tokenizer.decode(ids)


def _marian_split(folder: Path) -> object:
    tokenizer = MarianTokenizer(folder)
    ids = tokenizer.encode(">>deu<< the cat sat")
    return ids, tokenizer.decode([*tokenizer.pieces][:3])


def _table(folder: Path) -> None:
    lines = [f"{n}: {source}\t{target}" for n, (source, target) in enumerate(zip(ENGLISH, GERMAN, strict=True))]
    (folder / "corpus.tsv").write_text("\n".join(9 * lines) + "\n", "utf-8")


def _two_files(folder: Path) -> None:
    for name, lines in (("source.txt", ENGLISH), ("target.txt", GERMAN)):
        (folder / name).write_text("\n".join(lines) + "\n", "utf-8")


def _gzipped(folder: Path) -> None:
    _table(folder)
    (folder / "corpus.tsv.gz").write_bytes(gzip.compress((folder / "corpus.tsv").read_bytes()))


def _documents(folder: Path) -> None:
    (folder / "text.txt").write_text("\n<|endoftext|>\n".join(9 * [*ENGLISH, *GERMAN]) + "\n", "utf-8")


def _prepared(*names: str) -> Callable[[Path], object]:
    """Return a function that prepares a corpus, skipping invalid lines, and reads the whole corpus."""

    def read(folder: Path) -> object:
        paths = [folder / name for name in names]
        assert all(len(pair) == 3 for pair in read_pairs(paths, LineErrors()))
        _, *sides = prepare(paths, folder / "data", 270, 20, LineErrors())
        return [sequence.tolist() for side in sides for sequence in side]

    return read


def _prepared_text(folder: Path) -> object:
    assert all(isinstance(document, str) for document in read_documents([folder / "text.txt"], LineErrors()))
    _, windows = prepare_text([folder / "text.txt"], folder / "data", 270, 20, hold_out=True, errors=LineErrors())
    return [window.tolist() for window in windows]


def _prepared_before(folder: Path) -> None:
    _table(folder)
    _prepared("corpus.tsv")(folder)


def _store(folder: Path) -> object:
    return [sequence.tolist() for sequence in TokenStore(folder / "data" / "source.tokens")]


def _run(folder: Path) -> None:
    trainer(folder, steps=24, save_every=2).run(max_steps=2)


def _resume(folder: Path) -> object:
    run = trainer(folder, steps=24, save_every=2)
    run.run(max_steps=1)
    return _digest(*run.model.state_dict().values())


def _text_run(folder: Path) -> None:
    text_trainer(folder, steps=24, ema=0.5).run(max_steps=2)


def _resume_text(folder: Path) -> object:
    run = text_trainer(folder, steps=24, ema=0.5)
    run.run(max_steps=1)
    return _digest(*run.model.state_dict().values())


def _log(folder: Path) -> None:
    log = Log(folder / "log.csv", 0)
    for step in range(1, 9):
        log.add(step=step, seconds=step / 7, loss=1 / step, lr=1e-3, tokens_per_second=900)


def _continue_log(folder: Path) -> object:
    Log(folder / "log.csv", step=6).add(step=7, loss=0.5)
    return (folder / "log.csv").read_bytes()


def _linear(folder: Path) -> None:
    write_tensors(folder / "x.safetensors", nn.Linear(3, 2).state_dict(), {"step": 3, "nested": {"x": [1, 2.5, "y"]}})


def _any_tensors(folder: Path) -> object:
    tensors, info = read_tensors(folder / "x.safetensors")
    return _digest(*tensors.values()), json.dumps(info)


def _digest(*tensors: Any) -> str:
    content = (tensor.detach().contiguous().flatten().view(torch.uint8).numpy().tobytes() for tensor in tensors)
    return hashlib.sha256(b"".join(content)).hexdigest()


READERS: dict[str, Reader] = {
    "config.json of a translator": Reader(_translator, "config.json", _translate, JSON),
    "tokenizer.json of a translator": Reader(_translator, "tokenizer.json", _translate, JSON),
    "parameters of a translator": Reader(_translator, PARAMETERS_FILE, _translate, TENSORS),
    **{
        f"config.json of {name}": Reader(_language_model(config), "config.json", _logits, JSON)
        for name, config in LANGUAGE_MODELS.items()
    },
    "tensors of GPT-2": Reader(_language_model(LANGUAGE_MODELS["GPT-2"]), PARAMETERS_FILE, _logits, TENSORS),
    "tensors of Llama": Reader(_language_model(LLAMA), PARAMETERS_FILE, _logits, TENSORS),
    "index of two files": Reader(_in_two_files, f"{PARAMETERS_FILE}.index.json", _logits, JSON),
    "one of two files": Reader(_in_two_files, "model-1.safetensors", _logits, TENSORS),
    "pickled tensors": Reader(_pickled, "pytorch_model.bin", _logits, BYTES),
    "config.json of Marian": Reader(_marian, "config.json", _marian_logits, JSON),
    "tensors of Marian": Reader(_marian, PARAMETERS_FILE, _marian_logits, TENSORS),
    "tokenizer.json": Reader(_tokenizer, "tokenizer.json", _split, JSON),
    "vocab.json": Reader(_vocabulary, "vocab.json", _split, JSON),
    "merges.txt": Reader(_vocabulary, "merges.txt", _split, TEXT),
    "Marian's vocab.json": Reader(write_tokenizer, "vocab.json", _marian_split, JSON),
    "Marian's source.spm": Reader(write_tokenizer, "source.spm", _marian_split, BYTES),
    "Marian's target.spm": Reader(write_tokenizer, "target.spm", _marian_split, BYTES),
    "a table of pairs": Reader(_table, "corpus.tsv", _prepared("corpus.tsv"), TEXT),
    "a gzipped table": Reader(_gzipped, "corpus.tsv.gz", _prepared("corpus.tsv.gz"), GZIPPED),
    "one of two texts": Reader(_two_files, "target.txt", _prepared("source.txt", "target.txt"), TEXT),
    "documents": Reader(_documents, "text.txt", _prepared_text, TEXT),
    "origin.json": Reader(_prepared_before, "data/origin.json", _prepared("corpus.tsv"), JSON),
    "tokenizer.json of a preparation": Reader(
        _prepared_before, "data/tokenizer.json", _prepared("corpus.tsv"), JSON
    ),
    "tokens": Reader(_prepared_before, "data/source.tokens", _store, BYTES),
    "lengths of tokens": Reader(_prepared_before, "data/source.lengths.npy", _store, TEXT),
    "checkpoint of pairs": Reader(_run, "checkpoint.safetensors", _resume, TENSORS),
    "checkpoint of a text": Reader(_text_run, "checkpoint.safetensors", _resume_text, TENSORS),
    "log.csv": Reader(_log, "log.csv", _continue_log, TEXT),
    "tensors with information": Reader(_linear, "x.safetensors", _any_tensors, TENSORS),
}  # fmt: skip
