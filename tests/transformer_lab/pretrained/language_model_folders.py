"""Create folders in the layout of published language models: GPT-2 with both tokenizer formats, and Llama."""

import json
import re
from pathlib import Path

import torch
from tokenizers import Tokenizer, decoders, models, normalizers, pre_tokenizers, processors, trainers
from transformers import PreTrainedModel

from tests.transformer_lab.pretrained.marian_folder import ENGLISH, GERMAN
from tests.transformer_lab.pretrained.small_checkpoints import drawn, gpt2, llama

END = "<|endoftext|>"
TEXTS = [*ENGLISH, *GERMAN, "the  cat's 12 mats\n\nsat", " ünter € 日本 😀 ", END, f"the cat{END}the dog", "<s> the"]
FORMS = ["tokenizer.json", "vocab.json", "Llama"]


def publish(folder: Path, form: str = "tokenizer.json", **sizes: object) -> PreTrainedModel:
    """Write a model's files to a folder in the published layout. The model is untrained, but it prefers words."""
    tokenizer = llama_tokenizer() if form == "Llama" else gpt2_tokenizer()
    bos_id, eos_id = (tokenizer.token_to_id(token) for token in (("<s>", "</s>") if form == "Llama" else (END, END)))
    make = llama if form == "Llama" else gpt2
    sizes |= {"vocab_size": tokenizer.get_vocab_size(), "bos_token_id": bos_id, "eos_token_id": eos_id}
    model = drawn(make(**sizes))
    others = [index for token, index in tokenizer.get_vocab().items() if not re.fullmatch("[Ġ▁]?[A-Za-z]+", token)]
    with torch.no_grad():
        model.get_output_embeddings().weight[others] *= 0.2
    model.save_pretrained(folder)
    if form != "vocab.json":
        tokenizer.save(str(folder / "tokenizer.json"))
        return model
    learned = json.loads(tokenizer.to_str())["model"]
    merges = [merge if isinstance(merge, str) else " ".join(merge) for merge in learned["merges"]]
    (folder / "vocab.json").write_text(json.dumps(learned["vocab"]), encoding="utf-8")
    (folder / "merges.txt").write_text("\n".join(["#version: 0.2", *merges, ""]), encoding="utf-8")
    return model


def gpt2_tokenizer() -> Tokenizer:
    """Train a tokenizer like GPT-2's, in which a character may consist of several tokens."""
    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    alphabet = pre_tokenizers.ByteLevel.alphabet()
    trainer = trainers.BpeTrainer(vocab_size=300, special_tokens=[END], initial_alphabet=alphabet, show_progress=False)
    tokenizer.train_from_iterator([*ENGLISH, *GERMAN], trainer)
    return tokenizer


def llama_tokenizer() -> Tokenizer:
    """Train a tokenizer like Llama's. Texts begin with ``<s>``, words begin with ▁, and unknown characters become
    bytes.
    """
    tokenizer = Tokenizer(models.BPE(unk_token="<unk>", byte_fallback=True, fuse_unk=True))
    tokenizer.normalizer = normalizers.Sequence([normalizers.Prepend("▁"), normalizers.Replace(" ", "▁")])
    tokenizer.pre_tokenizer = pre_tokenizers.Split(
        "▁", "merged_with_next"
    )  # prevents training from learning tokens that span words
    steps = [decoders.Replace("▁", " "), decoders.ByteFallback(), decoders.Fuse(), decoders.Strip(" ", 1, 0)]
    tokenizer.decoder = decoders.Sequence(steps)
    special = ["<unk>", "<s>", "</s>"]
    learned = special + [f"<0x{byte:02X}>" for byte in range(256)]
    trainer = trainers.BpeTrainer(vocab_size=330, special_tokens=learned, show_progress=False)
    tokenizer.train_from_iterator(ENGLISH, trainer)
    described = json.loads(tokenizer.to_str())
    described["pre_tokenizer"] = None
    described["added_tokens"] = [token for token in described["added_tokens"] if token["content"] in special]
    tokenizer = Tokenizer.from_str(json.dumps(described))
    tokenizer.post_processor = processors.TemplateProcessing(single="<s> $A", special_tokens=[("<s>", 1)])
    return tokenizer
