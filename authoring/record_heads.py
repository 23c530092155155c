"""Record the attention weights of SmolLM2 on a few sentences, and ablate a few of its heads, for lesson 03.

``python -m authoring.record_heads FOLDER`` loads the model from the folder that ``published("smollm2")`` returns and
writes the weights for the lesson. The command takes about two minutes on one core. The lesson can then run without a
network connection or the model.
"""

import json
import random
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import Any

import torch
from tokenizers import Tokenizer
from torch import Tensor

from transformer_course.stored_models.stored_model import FOLDER
from transformer_lab import LanguageModel, record_attention
from transformer_lab.pretrained.load import load_language_model
from transformer_lab.tensor_files import write_tensors

COMMAND = "python -m authoring.record_heads"
WEIGHTS, SENTENCES = FOLDER / "smollm2-heads" / "weights.safetensors", FOLDER / "smollm2-heads" / "sentences.json"
SENTENCE = "The cat that was chased by the dog ran away."
TEMPLATES = {
    "The {a} that was {verb} by the {b} {end}.": "a",
    "In the garden, the {a} that was {verb} by the {b} {end}.": "a",
    "The {a} that {verb} the {b} {end}.": "a",
    "The {a} next to the {b} {end}.": "a",
    "The {a} {verb} the {b} that {end}.": "b",
}
"""Sentence templates with two nouns, and the noun that is the subject of the last verb."""
N_SENTENCES = 24
"""Number of sentences per template."""
NOUNS = (
    "cat", "dog", "man", "woman", "boy", "girl", "child", "horse", "fox",
    "wolf", "bear", "rabbit", "king", "queen", "teacher", "student", "farmer", "soldier",
)  # fmt: skip
VERBS = ("chased", "followed", "found", "heard", "pushed", "helped", "watched")
ENDINGS = ("ran away", "fell down", "came back", "went home", "sat down", "woke up")
QUESTION = " The animal that ran away was the"
ANIMALS = ("cat", "dog")
Head = tuple[int, int]
"""The layer and the index of a head."""
HEAD = (13, 8)
"""The head that lesson 03 tests."""
N_GROUP, N_DRAWS = 5, 5
"""Number of heads that are removed together, and number of random groups of other heads."""
AGREEMENT_TEMPLATES = ("The {a} that the {b} {verb}", "The {a} that {verb} the {b}", "The {a} next to the {b}")
"""Beginnings of sentences. The next word, "was" or "were", has to agree with the first noun."""
N_AGREEMENT_SENTENCES = 96
"""Number of sentences per template. In half of them, only the first noun is plural; in the other half, the second."""
REGULAR_NOUNS = tuple(noun for noun in NOUNS if noun not in {"man", "woman", "child", "fox", "wolf"})
"""Nouns that form the plural with -s, in one token."""


@cache
def loaded() -> tuple[LanguageModel, Tokenizer]:
    """Load SmolLM2 and its tokenizer."""
    folder = Path(sys.argv[1])
    return load_language_model(folder), Tokenizer.from_file(str(folder / "tokenizer.json"))


def read(text: str) -> tuple[list[str], Tensor, Tensor]:
    """Return the tokens, the weights of all heads (n_layers, n_heads, n, n) and the logits of the next token."""
    model, tokenizer = loaded()
    encoded = tokenizer.encode(text)
    with record_attention(model) as recorded, torch.no_grad():
        logits = model(torch.tensor([encoded.ids]))[0, -1]
    return [token.lstrip("Ġ") for token in encoded.tokens], torch.stack([w[0] for w in recorded.values()]), logits


def filled() -> Iterator[dict[str, str]]:
    """Yield the words of each sentence: two different nouns, a verb and an ending."""
    draw = random.Random(0)
    for _ in range(N_SENTENCES):
        a, b = draw.sample(NOUNS, 2)
        yield {"a": a, "b": b, "verb": draw.choice(VERBS), "end": draw.choice(ENDINGS)}


def from_verb_to_nouns(template: str, words: dict[str, str]) -> Tensor:
    """Return each head's weights from the last verb to the subject and the other noun (n_layers, n_heads, 2)."""
    tokens, weights, _ = read(template.format(**words))
    verb = tokens.index(words["end"].split()[0])
    subject = TEMPLATES[template]
    nouns = words[subject], words["b" if subject == "a" else "a"]
    return torch.stack([weights[:, :, verb, tokens.index(noun)] for noun in nouns], dim=-1)


def words_to_nouns(template: str) -> list[tuple[str, float, float]]:
    """Return each token with the mean weights of ``HEAD`` from this token to the subject and to the other noun."""
    subject = TEMPLATES[template]
    names = ("a", "b") if subject == "a" else ("b", "a")
    of_sentences = []
    for words in filled():
        tokens, weights, _ = read(template.format(**words))
        of_sentences.append(torch.stack([weights[HEAD][:, tokens.index(words[name])] for name in names], dim=-1))
    labels = read(template.format(a="A", b="B", verb="chased", end="ran away"))[0]
    means = torch.stack(of_sentences).mean(dim=0).tolist()
    return [(label, *(round(weight, 2) for weight in row)) for label, row in zip(labels, means, strict=True)]


def self_attention(layer: int) -> Any:
    """Return the attention module of a layer."""
    return loaded()[0].blocks[layer].self_attention


@contextmanager
def without(heads: Sequence[Head]) -> Iterator[None]:
    """Set the outputs of some heads to zero while the block runs."""

    def remove_from(layer: int, index: int) -> Any:
        attention = self_attention(layer)

        def remove(_: torch.nn.Module, inputs: tuple[Tensor]) -> tuple[Tensor]:
            merged = inputs[0].clone()  # (batch, n, n_heads · d_k)
            merged.chunk(attention.n_heads, dim=-1)[index].zero_()
            return (merged,)

        return attention.w_o.register_forward_pre_hook(remove)

    hooks = [remove_from(*head) for head in heads]
    try:
        yield
    finally:
        for hook in hooks:
            hook.remove()


def agreement_sentences(template: str) -> Iterator[tuple[str, str, str]]:
    """Yield the beginnings of sentences, with the form of "be" that agrees with the first noun, and the other form."""
    draw = random.Random(1)
    for i in range(N_AGREEMENT_SENTENCES):
        a, b = draw.sample(REGULAR_NOUNS, 2)
        verb, is_plural = draw.choice(VERBS), i % 2
        a, b = (f"{a}s", b) if is_plural else (a, f"{b}s")
        yield template.format(a=a, b=b, verb=verb), *(("were", "was") if is_plural else ("was", "were"))


def agreement(template: str, heads: Sequence[Head]) -> float:
    """Return the fraction of sentences in which the agreeing form is more probable, with some heads removed."""
    model, tokenizer = loaded()
    texts, right, wrong = zip(*agreement_sentences(template), strict=True)
    ids = torch.tensor([tokenizer.encode(text).ids for text in texts])  # all have the same number of tokens
    token = {form: tokenizer.encode(f" {form}").ids[0] for form in ("was", "were")}
    forms = torch.tensor([[token[form] for form in pair] for pair in zip(right, wrong, strict=True)])
    with without(heads), torch.no_grad():
        logits = model(ids)[:, -1].gather(1, forms)  # (sentence, [right, wrong])
    return round((logits[:, 0] > logits[:, 1]).float().mean().item(), 3)


def removed_heads() -> dict[str, dict[str, float]]:
    """Return the agreement with all heads, and with each head in the layer of ``HEAD`` removed."""
    layer, _ = HEAD
    heads: dict[str, list[Head]] = {"none": []}
    heads |= {f"{layer}, {i}": [(layer, i)] for i in range(self_attention(layer).n_heads)}
    return {
        template: {name: agreement(template, removed) for name, removed in heads.items()}
        for template in AGREEMENT_TEMPLATES
    }


def subject_heads(to_nouns: Tensor) -> list[Head]:
    """Return the heads that give the subject more weight than the other noun in the most sentences, best first.

    Args:
        to_nouns: The weights from the verb to the two nouns (n_templates, n_sentences, n_layers, n_heads, 2).
    """
    n_right = (to_nouns[..., 0] > to_nouns[..., 1]).sum(dim=(0, 1))  # (n_layers, n_heads)
    order = n_right.flatten().argsort(descending=True, stable=True)[:N_GROUP].tolist()
    return [divmod(head, n_right.shape[1]) for head in order]


def removed_groups(to_nouns: Tensor) -> dict[str, Any]:
    """Return the agreement without the ``N_GROUP`` best subject heads together, and without random heads of the same
    layers.
    """
    best, draw = subject_heads(to_nouns), random.Random(2)
    others = []
    for _ in range(N_DRAWS):
        group: set[Head] = set()
        for layer, _ in best:
            choices = [(layer, i) for i in range(self_attention(layer).n_heads)]
            group.add(draw.choice([head for head in choices if head not in best and head not in group]))
        others.append(sorted(group))
    return {
        "best": best,
        "others": others,
        "agreement": {
            template: {"best": agreement(template, best), "others": [agreement(template, group) for group in others]}
            for template in AGREEMENT_TEMPLATES
        },
    }


def answers(sentence: str) -> dict[str, float]:
    """Return the probability of each animal as the next token after the sentence and ``QUESTION``."""
    _, tokenizer = loaded()
    probabilities = read(sentence + QUESTION)[2].softmax(dim=-1)
    return {animal: round(probabilities[tokenizer.encode(f" {animal}").ids[0]].item(), 2) for animal in ANIMALS}


def main() -> None:
    """Write the weights and the sentences."""
    tokens, weights, _ = read(SENTENCE)
    to_nouns = [torch.stack([from_verb_to_nouns(template, words) for words in filled()]) for template in TEMPLATES]
    WEIGHTS.parent.mkdir(exist_ok=True)
    tensors = {"sentence": weights.half(), "from_verb_to_nouns": torch.stack(to_nouns).half()}
    write_tensors(WEIGHTS, tensors, {})
    swapped = SENTENCE.replace("cat", "*").replace("dog", "cat").replace("*", "dog")
    card = {
        "command": COMMAND,
        "model": "HuggingFaceTB/SmolLM2-135M-Instruct, Apache-2.0",
        "tokens": tokens,
        "templates": [[template, TEMPLATES[template]] for template in TEMPLATES],
        "words": list(filled()),
        "words_to_nouns": {template: words_to_nouns(template) for template in TEMPLATES},
        "agreement_without_head": removed_heads(),
        "agreement_without_groups": removed_groups(torch.stack(to_nouns)),
        "question": QUESTION,
        "answers": {sentence: answers(sentence) for sentence in (SENTENCE, swapped)},
    }
    SENTENCES.write_text(json.dumps(card, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
