"""Score multiple-choice questions with SmolLM2 and use it as a judge, for the lesson on evaluation.

``python -m authoring.score_questions FOLDER`` loads the model from the folder that ``published("smollm2")`` returns. It
asks the questions with several templates and numbers of examples, lets the model answer freely, and stores the results
for the lesson. It takes about six minutes on one core.
"""

import json
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import torch
from tokenizers import Tokenizer
from torch.nn.utils.rnn import pad_sequence

from authoring.chat_template import chat
from authoring.stored_runs import store_runs
from transformer_course.stored_models.stored_model import FOLDER
from transformer_lab.attention.kv_cache import ModelCache
from transformer_lab.models.language_model import LanguageModel
from transformer_lab.pretrained.load import load_language_model
from transformer_lab.text.text_generator import TextGenerator

COMMAND = "python -m authoring.score_questions FOLDER"
DATA = FOLDER / "multiple-choice"
QUESTIONS, FILE = DATA / "questions.json", DATA / "scores.json"
Question = Mapping[str, Any]

TEMPLATES = {
    "Question, Answer": ("Question: {question}\nAnswer:", " {option}", "\n\n"),
    "letters": ("Question: {question}\n{listed}\nAnswer:", " {letter}", "\n\n"),
    "no question": ("Answer:", " {option}", "\n\n"),
    "letters, chat template": (chat([], "Question: {question}\n{listed}") + "Answer:", " {letter}", ""),
    "one letter, chat template": (chat([], "{question}\n{listed}\nAnswer with one letter."), "{letter}", ""),
    "question, chat template": (chat([], "{question}"), "{option}", ""),
}
"""For each template: the prompt, its continuation with an option, and the separator after an example."""
N_JUDGED = 16
"""Number of questions for the judge."""
SETTINGS = [*[(name, 0) for name in TEMPLATES], ("Question, Answer", 5), ("letters", 5)]
"""Each template with the number of examples before the question."""
FREE_SETTINGS = [("question, chat template", 0, ()), ("Question, Answer", 5, ("\n",))]
"""For each kind of free answer: the template, the number of examples, and the strings that end the answer."""
N_FREE_TOKENS = 40
PADDING = " This is the answer that most people would give, and it has been known to be right for a very long time."
"""Text that makes an answer longer but not better, to test the judge."""
JUDGE_PROMPT = "Question: {question}\nAnswer A: {a}\nAnswer B: {b}\nWhich answer is better, A or B?"


def filled(template: str, question: Question, option: int) -> str:
    """Fill in a template with a question, its options and one selected option."""
    listed = "\n".join(f"{letter}. {text}" for letter, text in zip("ABCD", question["options"], strict=True))
    return template.format(
        question=question["question"], listed=listed, option=question["options"][option], letter="ABCD"[option]
    )


def format_examples(template: tuple[str, str, str], examples: Sequence[Question]) -> str:
    """Format examples with their correct answers, to place before the question."""
    prompt, answer, end = template
    return "".join(filled(prompt, e, e["right"]) + filled(answer, e, e["right"]) + end for e in examples)


@torch.no_grad()
def option_log_p(
    model: LanguageModel, cache: ModelCache, prompt: Sequence[int], options: Sequence[Sequence[int]]
) -> list[list[float]]:
    """Return the log-probability of every token in each option after a cached text and a prompt.

    The cache must have batch size 1. It is restored before returning.
    """
    n_before = cache.length
    first = model.next_logits(torch.tensor([prompt]), cache).log_softmax(dim=-1)[0]
    found = [[first[option[0]].item()] for option in options]
    if max(map(len, options)) > 1:
        cache.reorder(torch.zeros(len(options), dtype=torch.long))
        rows = pad_sequence([torch.tensor(option[:-1], dtype=torch.long) for option in options], batch_first=True)
        log_p = model(rows, cache).log_softmax(dim=-1)
        for i, option in enumerate(options):
            found[i] += [log_p[i, j, token].item() for j, token in enumerate(option[1:])]
        cache.reorder(torch.zeros(1, dtype=torch.long))
    cache.truncate(n_before)
    return found


def scored(
    model: LanguageModel,
    tokenizer: Tokenizer,
    template: tuple[str, str, str],
    questions: Sequence[Question],
    examples: Sequence[Question] = (),
) -> list[list[list[float]]]:
    """For each question, return the log-probabilities of each option's tokens."""
    cache = model.new_cache(1000)
    if examples:
        model.next_logits(torch.tensor([tokenizer.encode(format_examples(template, examples)).ids]), cache)
    found = []
    for question in questions:
        prompt = tokenizer.encode(filled(template[0], question, 0)).ids
        options = [tokenizer.encode(filled(template[1], question, i)).ids for i in range(4)]
        log_p = option_log_p(model, cache, prompt, options)
        found.append([[round(number, 2) for number in option] for option in log_p])
    return found


def free_answers(
    model: LanguageModel,
    tokenizer: Tokenizer,
    prompt: str,
    questions: Sequence[Question],
    before: str = "",
    stops: Sequence[str] = (),
) -> list[str]:
    """Return what the model writes after each question, taking the likeliest token each time."""
    generator = TextGenerator(model, tokenizer, eos_ids=tokenizer.encode("<|im_end|>").ids)
    prompts = [before + filled(prompt, question, 0) for question in questions]
    return [generator.generate([text], N_FREE_TOKENS, 0.0, stops=stops)[0].strip() for text in prompts]


def rephrased(questions: Sequence[Question]) -> list[Question]:
    """Return the questions in their rephrased form."""
    return [{**question, "question": question["rephrased"]} for question in questions]


def judged(model: LanguageModel, tokenizer: Tokenizer, questions: Sequence[Question]) -> dict[str, list[list[float]]]:
    """Return how much the judge prefers the long answer, log p(long) − log p(short), in both orders of each pair.

    The short answer is always correct. The long answer is the short answer or a wrong answer, followed by padding.
    """
    letters = [tokenizer.encode(f" {letter}").ids for letter in "AB"]
    table: dict[str, list[list[float]]] = {"long, right": [], "long, wrong": []}
    for question in questions:
        right = question["right"]
        short, wrong = question["options"][right], question["options"][(right + 1) % 4]
        for kind, answer in (("long, right", short), ("long, wrong", wrong)):
            long, both = f"{answer.removesuffix('.')}.{PADDING}", []
            for a, b, at in ((long, short, 0), (short, long, 1)):
                asked = JUDGE_PROMPT.format(question=question["question"], a=a, b=b)
                prompt = tokenizer.encode(chat([], asked) + "Answer").ids
                log_p = option_log_p(model, model.new_cache(1000), prompt, letters)
                both.append(round(log_p[at][0] - log_p[1 - at][0], 2))
            table[kind].append(both)
    return table


def runs(model: LanguageModel, tokenizer: Tokenizer) -> Iterator[tuple[str, Any]]:
    """Yield the names and values of the results that the lesson reads."""
    data = json.loads(QUESTIONS.read_text(encoding="utf-8"))
    questions, examples = data["questions"], data["examples"]
    yield "templates", {name: template[0] for name, template in TEMPLATES.items()}
    tables = []
    for name, n_examples in SETTINGS:
        log_p = scored(model, tokenizer, TEMPLATES[name], questions, examples[:n_examples])
        print(name, n_examples, fraction_right(log_p, questions), flush=True)
        tables.append({"template": name, "n_examples": n_examples, "log_p": log_p})
    yield "scores", tables
    yield "rephrased", scored(model, tokenizer, TEMPLATES["Question, Answer"], rephrased(questions))
    free = []
    for name, n_examples, stops in FREE_SETTINGS:
        before = format_examples(TEMPLATES[name], examples[:n_examples])
        answers = free_answers(model, tokenizer, TEMPLATES[name][0], questions, before, stops)
        free.append({"template": name, "n_examples": n_examples, "answers": answers})
    yield "free", free
    yield "padding", PADDING.strip()
    judge = judged(model, tokenizer, questions[:N_JUDGED])
    print({kind: torch.tensor(rows).mean(dim=0) for kind, rows in judge.items()}, flush=True)
    yield "judge", judge


def fraction_right(log_p: list[list[list[float]]], questions: Sequence[Question]) -> float:
    """Return the fraction of questions whose correct option is the most probable."""
    chosen = [max(range(4), key=lambda i, row=row: sum(row[i])) for row in log_p]
    return sum(c == question["right"] for c, question in zip(chosen, questions, strict=True)) / len(questions)


if __name__ == "__main__":
    torch.set_num_threads(1)
    folder = Path(sys.argv[1])
    smollm = load_language_model(folder).requires_grad_(False).eval()
    smollm_tokenizer = Tokenizer.from_file(str(folder / "tokenizer.json"))
    store_runs(FILE, COMMAND, lambda: dict(runs(smollm, smollm_tokenizer)))
