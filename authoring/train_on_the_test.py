"""Train small stored models on half of a test's questions, for the lesson on evaluation.

``python -m authoring.train_on_the_test`` trains two of the course's models on one half of the questions and then, from
the initial parameters, on the other half. The command stores the results for the lesson and takes about two minutes on
one core.
"""

import json
from collections.abc import Iterator, Sequence
from typing import Any

import torch
from tokenizers import Tokenizer
from torch import Tensor, nn
from torch.nn.utils.rnn import pad_sequence

from authoring.score_questions import DATA, QUESTIONS, TEMPLATES, Question, filled, rephrased
from authoring.stored_runs import store_runs
from transformer_course import parts
from transformer_course.stored_models.stored_model import trained
from transformer_lab.data.tokenizers import PAD_ID

COMMAND = "python -m authoring.train_on_the_test"
FILE = DATA / "leaked.json"
TEMPLATE = TEMPLATES["Question, Answer"]
SEEDS, EPOCHS = {"gpt-docstrings": (0, 1, 2), "gpt-plays": (0,)}, (0, 5, 20)
LR, BATCH_SIZE = 1e-3, 5
"""Learning rate and batch size (in questions)."""
QUESTION_FORMATS = ("as leaked", "in other words", "no question")
"""Formats of the questions: as in training, rephrased, or omitted, with only the options."""


def padded(tokenizer: Tokenizer, texts: Sequence[str]) -> Tensor:
    """Return the tokens of texts, right-padded to the longest text."""
    ids = [torch.tensor(tokenizer.encode(text).ids) for text in texts]
    return pad_sequence(ids, batch_first=True, padding_value=PAD_ID)


def text_of(question: Question, option: int, template: tuple[str, str, str] = TEMPLATE) -> str:
    """Return a question with one of its options as the answer."""
    return filled(template[0] + template[1], question, option)


@torch.no_grad()
def right(
    model: nn.Module, tokenizer: Tokenizer, questions: Sequence[Question], template: tuple[str, str, str] = TEMPLATE
) -> list[int]:
    """Return 1 for each question whose correct option is the most probable, and 0 for every other question."""
    model.eval()
    tokens = padded(tokenizer, [text_of(question, i, template) for question in questions for i in range(4)])
    prompts = [len(tokenizer.encode(filled(template[0], question, 0)).ids) for question in questions for _ in range(4)]
    log_p = model(tokens)[:, :-1].log_softmax(dim=-1).gather(-1, tokens[:, 1:, None]).squeeze(-1)
    is_option = (torch.arange(1, tokens.shape[1]) >= torch.tensor(prompts)[:, None]) & (tokens[:, 1:] != PAD_ID)
    chosen = log_p.masked_fill(~is_option, 0.0).sum(dim=-1).view(-1, 4).argmax(dim=-1)
    return [int(i == question["right"]) for i, question in zip(chosen.tolist(), questions, strict=True)]


def train(
    model: nn.Module, tokenizer: Tokenizer, questions: Sequence[Question], n_epochs: int, seed: int
) -> Iterator[int]:
    """Train on questions with their correct answers, as on any text; yield the number of finished epochs, from 0."""
    rng = torch.Generator().manual_seed(seed)
    optimizer = torch.optim.AdamW(model.parameters(), lr=LR, weight_decay=0.0)
    texts = [text_of(question, question["right"]) for question in questions]
    yield 0
    for epoch in range(1, n_epochs + 1):
        model.train()
        for rows in torch.split(torch.randperm(len(texts), generator=rng), BATCH_SIZE):
            tokens = padded(tokenizer, [texts[i] for i in rows.tolist()])
            loss = parts.next_token_loss(model(tokens), tokens, PAD_ID)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
        yield epoch


def run(name: str, half: int, seed: int, epochs: Sequence[int] = EPOCHS) -> Iterator[dict[str, Any]]:
    """Yield a row for each number of epochs, with the correctly answered questions in each format."""
    questions = json.loads(QUESTIONS.read_text(encoding="utf-8"))["questions"]
    stored = trained(name)
    torch.manual_seed(seed)
    model = stored.load_into(parts.GPT(**stored.sizes))
    for epoch in train(model, stored.tokenizer, questions[half::2], max(epochs), seed):
        if epoch in epochs:
            asked = {"as leaked": questions, "in other words": rephrased(questions)}
            answers = {kind: right(model, stored.tokenizer, test) for kind, test in asked.items()}
            answers["no question"] = right(model, stored.tokenizer, questions, TEMPLATES["no question"])
            yield {"model": name, "leaked half": half, "seed": seed, "epochs": epoch, **answers}


def runs() -> Iterator[dict[str, Any]]:
    """Yield the rows for all models, halves and seeds."""
    for name, seeds in SEEDS.items():
        for seed in seeds:
            for half in (0, 1):
                for row in run(name, half, seed):
                    shares = [sum(row[kind][part::2]) / 25 for kind in QUESTION_FORMATS for part in (0, 1)]
                    print(name, half, seed, row["epochs"], shares, flush=True)
                    yield row


if __name__ == "__main__":
    torch.set_num_threads(1)
    store_runs(FILE, COMMAND, lambda: {"runs": list(runs())})
