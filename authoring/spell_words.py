"""Ask SmolLM2 for the letters of ten words, for the lesson on tokenizers.

``python -m authoring.spell_words FOLDER`` loads the model from the folder that ``published("smollm2")`` returns, and
stores its answers for the lesson. It takes about two minutes on one core.
"""

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import torch

from authoring.chat_template import chat
from authoring.stored_runs import store_runs
from transformer_course.stored_models.stored_model import FOLDER
from transformer_lab.text.text_generator import TextGenerator

COMMAND = "python -m authoring.spell_words FOLDER"
FILE = FOLDER / "spelled-words" / "answers.json"
WORDS = {
    "strawberry": "r",
    "banana": "a",
    "mississippi": "s",
    "committee": "t",
    "bookkeeper": "e",
    "parallel": "l",
    "coconut": "o",
    "tomorrow": "o",
    "address": "d",
    "engineering": "n",
}
"""For each word, the letter to count."""
EXAMPLES = {"apple": "p", "cat": "t", "cheese": "e"}
"""Words with a letter to count, whose questions and answers come first."""
TASKS = ("count", "count, letters apart", "spell", "copy")
N_NEW_TOKENS = 24


def spaced(word: str) -> str:
    """Return a word with spaces between its letters, so that each letter is a token."""
    return " ".join(word)


def question(task: str, word: str, letter: str) -> tuple[str, str]:
    """Return a question about a word and its correct answer."""
    if task in ("count", "count, letters apart"):
        written = word if task == "count" else spaced(word)
        return f"How many times does the letter {letter} occur in {written}?", str(word.count(letter))
    return (f"Spell the word {word}." if task == "spell" else f"Repeat: {spaced(word)}"), spaced(word)


def rows(generator: TextGenerator) -> Iterator[dict[str, Any]]:
    """Yield for each word its tokens and the model's answer to each question about it."""
    for word, letter in WORDS.items():
        tokens = generator.tokenizer.encode(f" {word}").ids
        row: dict[str, Any] = {"word": word, "tokens": [generator.tokenizer.decode([token]) for token in tokens]}
        for task in TASKS:
            examples = [question(task, *example) for example in EXAMPLES.items()]
            asked, right = question(task, word, letter)
            answer = generator.generate([chat(examples, asked)], N_NEW_TOKENS, temperature=0.0)[0]
            row[task] = {"question": asked, "right": right, "answer": answer.strip()}
        print(row, flush=True)
        yield row


if __name__ == "__main__":
    torch.set_num_threads(1)
    smollm = TextGenerator.load(Path(sys.argv[1]))
    store_runs(FILE, COMMAND, lambda: {"words": list(rows(smollm))})
