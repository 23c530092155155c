"""Record the attention weights of SmolLM2 in a few sentences, for lesson 03.

``python -m authoring.record_heads FOLDER`` loads the model from the folder that ``published("smollm2")`` returns and
writes the weights for the lesson. It takes about a minute on one core. The lesson can then run without a network
connection or the model.
"""

import json
import random
import sys
from collections.abc import Iterator
from functools import cache
from pathlib import Path

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
        "question": QUESTION,
        "answers": {sentence: answers(sentence) for sentence in (SENTENCE, swapped)},
    }
    SENTENCES.write_text(json.dumps(card, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
