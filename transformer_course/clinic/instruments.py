"""Instruments for measuring patients. Each instrument measures one property and returns a table of numbers.

Instruments put the model into evaluation mode, except for instruments that measure the patient's own inference.
"""

import math
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import pandas as pd
import torch
from jaxtyping import Float
from torch import Tensor, nn
from torch.nn import functional as F

from transformer_course.clinic.patient import Batch, Patient, evaluation
from transformer_course.clinic.task import LETTERS, MAX_LETTERS, PAD_ID, VOCAB_SIZE, Pair, draw_pairs, encode
from transformer_lab.training.loss import count_tokens, smoothed_cross_entropy

Instrument = Callable[[Patient], pd.DataFrame]


def leak_test(patient: Patient) -> pd.DataFrame:
    """Return how strongly each token affects each prediction without a cache: the largest change in any logit.

    Rows are changed tokens and columns are predicted tokens. A token of the answer may affect only the predictions of
    later tokens.
    """
    return _reach(patient, forced_logits)


def leak_test_with_cache(patient: Patient) -> pd.DataFrame:
    """Return how strongly each token affects each prediction with a cache, as in ``leak_test``."""
    return _reach(patient, cached_logits)


def gradient_norms(patient: Patient) -> pd.DataFrame:
    """Return the gradient norm of every parameter of the trained model on one batch."""
    with evaluation(patient.model), torch.enable_grad():
        gradients = _gradients(patient, [patient.batch(draw_pairs(32, "gradient"))])
    return pd.DataFrame({"norm": {name: float(gradient.norm()) for name, gradient in gradients.items()}})


def overfit_one_batch(patient: Patient, n_steps: int = 40) -> pd.DataFrame:
    """Return the loss at each step of a new model that is trained repeatedly on the same 24 pairs."""
    fresh = type(patient)(patient.seed, trained=False)
    batches, optimizer, losses = [fresh.batch(draw_pairs(24, "overfit"))], fresh.optimizer(), []
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(patient.seed)
        for step in range(n_steps):
            for group in optimizer.param_groups:
                group["lr"] = patient.lr * min(1.0, (step + 1) / 10)
            optimizer.zero_grad()
            losses.append(fresh.backward(batches))
            optimizer.step()
    return pd.DataFrame({"loss": losses}, index=pd.RangeIndex(1, n_steps + 1, name="step"))


def cached_against_uncached(patient: Patient) -> pd.DataFrame:
    """Return the largest difference between each stage's outputs with and without a cache.

    Rows are stages of the model, in order of computation, and columns are predicted tokens of the answer. The first
    token is predicted in the call that reads the question, and each later token in a separate call.
    """
    pairs = draw_pairs(16, "cache", MAX_LETTERS)
    stages = patient.stages()
    with _record(stages) as recorded:
        uncached = forced_logits(patient, pairs)
        whole = {name: torch.cat(outputs, dim=1)[:, -MAX_LETTERS - 1 :] for name, outputs in recorded.items()}
        for outputs in recorded.values():
            outputs.clear()
        cached = cached_logits(patient, pairs)
        steps = {name: torch.stack([x[:, -1] for x in outputs], dim=1) for name, outputs in recorded.items()}
    differences = {name: (steps[name] - whole[name]).abs() for name in stages} | {"logits": (cached - uncached).abs()}
    table = {name: difference.amax(dim=(0, 2)).tolist() for name, difference in differences.items()}
    return pd.DataFrame(table, index=_prediction_names()).T


def shuffle_question(patient: Patient) -> pd.DataFrame:
    """Return how much the prediction of the first letter changes when the question's letters are shuffled."""
    pairs = [("abcde", "edcba"), ("hgfab", "bafgh"), ("cafed", "defac")]
    table = {}
    for question, answer in pairs:
        shuffled = question[3:] + question[:3]
        before, after = forced_logits(patient, [(question, answer)]), forced_logits(patient, [(shuffled, answer)])
        table[f"{question} → {shuffled}"] = _largest(after[:, 0] - before[:, 0])
    return pd.DataFrame({"largest change": table})


def pad_and_compare(patient: Patient) -> pd.DataFrame:
    """Return how much the logits change when a text is padded on the left or right by 1, 2 or 3 tokens."""
    batch = patient.batch(draw_pairs(16, "padding", n_letters=4))
    with evaluation(patient.model):
        before = patient.logits(batch)[batch.targets != PAD_ID]
        table: dict[str, list[float]] = {"left": [], "right": []}
        for n_padding in (1, 2, 3):
            for side, gap in (("left", (n_padding, 0)), ("right", (0, n_padding))):
                padded = Batch(*(F.pad(x, gap, value=PAD_ID) for x in (batch.source, batch.inputs, batch.targets)))
                after = patient.logits(padded)[padded.targets != PAD_ID]
                table[side].append(_largest(after - before))
    return pd.DataFrame(table, index=pd.Index([1, 2, 3], name="n_padding"))


def compare_company(patient: Patient) -> pd.DataFrame:
    """Return how much the first prediction for short words changes when a longer word is in the same batch."""
    questions = [question for question, _ in draw_pairs(8, "company", n_letters=3)]
    alone, table = first_logits(patient, questions), {}
    for other in ("abc", "abcd", "abcde"):
        table[f"beside {other}"] = _largest(first_logits(patient, [*questions, other])[:-1] - alone)
    return pd.DataFrame({"largest change": table})


def repeat_question(patient: Patient) -> pd.DataFrame:
    """Return how much the first prediction changes when the same questions are asked again."""
    questions = [question for question, _ in draw_pairs(8, "repeat")]
    first = first_logits(patient, questions)
    again = {n: _largest(first_logits(patient, questions) - first) for n in (2, 3, 4)}
    return pd.DataFrame({"largest change": again}).rename_axis("time")


def split_the_batch(patient: Patient) -> pd.DataFrame:
    """Return the relative difference between the gradient over micro-batches and the gradient of the whole batch."""
    pairs = sorted(draw_pairs(16, "split"), key=lambda pair: len(pair[0]))
    with evaluation(patient.model), torch.enable_grad():
        whole = _flat(_gradients(patient, [patient.batch(pairs)]))
        table = {}
        for n in (2, 4):
            parts = [patient.batch(pairs[i : i + 16 // n]) for i in range(0, 16, 16 // n)]
            table[n] = float((_flat(_gradients(patient, parts)) - whole).norm() / whole.norm())
    return pd.DataFrame({"relative difference": table}).rename_axis("n_micro_batches")


def drift_without_gradient(patient: Patient) -> pd.DataFrame:
    """Return the relative change of every parameter in an optimizer step with zero gradients."""
    fresh = type(patient)(patient.seed, trained=False)
    fresh.model.load_state_dict(patient.model.state_dict())
    optimizer = fresh.optimizer()
    for group in optimizer.param_groups:
        group["lr"] = patient.lr
    before = {name: parameter.detach().clone() for name, parameter in fresh.model.named_parameters()}
    for parameter in fresh.model.parameters():
        parameter.grad = torch.zeros_like(parameter)
    optimizer.step()
    after = dict(fresh.model.named_parameters())
    return pd.DataFrame(
        {
            "relative change": {
                name: float((after[name].detach() - x).norm() / (x.norm() + 1e-12)) for name, x in before.items()
            }
        }
    )


def initial_loss(patient: Patient) -> pd.DataFrame:
    """Return the loss of an untrained model next to the loss of a uniform guess, ln(vocab_size)."""
    fresh = type(patient)(patient.seed, trained=False)
    batch = fresh.batch(draw_pairs(64, "initial"))
    with evaluation(fresh.model):
        loss = smoothed_cross_entropy(fresh.logits(batch), batch.targets, PAD_ID) / count_tokens(batch.targets, PAD_ID)
    return pd.DataFrame({"loss": [float(loss)], "ln(vocab_size)": [math.log(VOCAB_SIZE)]}, index=["fresh model"])


def initial_logits(patient: Patient) -> pd.DataFrame:
    """Return the standard deviation of an untrained model's logits for each token of the answer."""
    fresh = type(patient)(patient.seed, trained=False)
    logits = forced_logits(fresh, draw_pairs(64, "initial", MAX_LETTERS))
    return pd.DataFrame({"standard deviation": logits.std(dim=-1).mean(dim=0).tolist()}, index=_prediction_names())


def residual_stream(patient: Patient) -> pd.DataFrame:
    """Return the root mean square of the residual stream after each stage of the trained model."""
    with _record(patient.stages()) as recorded:
        forced_logits(patient, draw_pairs(32, "stream", MAX_LETTERS))
    sizes = {name: float(outputs[0].square().mean().sqrt()) for name, outputs in recorded.items()}
    return pd.DataFrame({"root mean square": sizes})


def scale_stream(patient: Patient, factor: float = 10.0) -> pd.DataFrame:
    """Return how much each layer's output and residual update grow when the layer's input is multiplied by ten.

    The output of a pre-norm layer grows almost as much as the input, because of the residual connection. The update
    does not grow, because the sublayers receive normalized inputs.
    """
    layers = {name: module for name, module in patient.stages().items() if name != "embeddings"}
    calls: dict[str, tuple[tuple[Any, ...], dict[str, Any]]] = {}
    hooks = [
        module.register_forward_pre_hook(
            lambda _, args, kwargs, name=name: calls.update({name: (args, kwargs)}), with_kwargs=True
        )
        for name, module in layers.items()
    ]
    forced_logits(patient, draw_pairs(32, "scale", MAX_LETTERS))
    for hook in hooks:
        hook.remove()
    table = {}
    with evaluation(patient.model):
        for name, layer in layers.items():
            (x, *rest), kwargs = calls[name]
            once, scaled = layer(x, *rest, **kwargs), layer(factor * x, *rest, **kwargs)
            table[name] = {
                "its output grows by": float(scaled.norm() / once.norm()),
                "what it adds grows by": float((scaled - factor * x).norm() / (once - x).norm()),
            }
    return pd.DataFrame(table).T


def forced_against_generated(patient: Patient) -> pd.DataFrame:
    """Return the fraction of correct letters with teacher forcing and when the model generates the whole answer."""
    pairs = draw_pairs(64, "held out", MAX_LETTERS)
    answers = [answer for _, answer in pairs]
    targets = torch.tensor([encode(answer) for answer in answers])
    forced = (forced_logits(patient, pairs)[:, :-1].argmax(dim=-1) == targets).float().mean()
    generated = patient.answer([question for question, _ in pairs])
    letters = zip("".join(f"{mine:5.5}" for mine in generated), "".join(answers), strict=True)
    right = [mine == letter for mine, letter in letters]
    return pd.DataFrame({"right": {"answer so far given": float(forced), "generated": sum(right) / len(right)}})


ALL_INSTRUMENTS: tuple[Instrument, ...] = (
    leak_test, leak_test_with_cache, gradient_norms, overfit_one_batch, cached_against_uncached, shuffle_question,
    pad_and_compare, compare_company, repeat_question, split_the_batch, drift_without_gradient, initial_loss,
    initial_logits, residual_stream, scale_stream, forced_against_generated,
)  # fmt: skip


def forced_logits(patient: Patient, pairs: Sequence[Pair]) -> Float[Tensor, "batch n_answer vocab_size"]:
    """Return the logits for every token of the answer and the end token, in one pass with teacher forcing.

    All words must have the same length.
    """
    batch = patient.batch(pairs)
    with evaluation(patient.model):
        return patient.logits(batch)[:, -len(pairs[0][1]) - 1 :]


@torch.no_grad()
def cached_logits(patient: Patient, pairs: Sequence[Pair]) -> Float[Tensor, "batch n_answer vocab_size"]:
    """Return the same logits as ``forced_logits``, but computed by the patient's own inference with a cache."""
    state, tokens = patient.decoding([question for question, _ in pairs])
    answers = torch.tensor([encode(answer) for _, answer in pairs])
    calls = [tokens, *answers[..., None].unbind(dim=1)]
    return torch.stack([state.next_logits(new) for new in calls], dim=1)


@torch.no_grad()
def first_logits(patient: Patient, questions: Sequence[str]) -> Float[Tensor, "batch vocab_size"]:
    """Return the logits for the first letter of each answer, computed by the patient's own inference."""
    state, tokens = patient.decoding(questions)
    return state.next_logits(tokens)


def _reach(patient: Patient, logits: Callable[[Patient, Sequence[Pair]], Tensor]) -> pd.DataFrame:
    pairs = draw_pairs(8, "leak", MAX_LETTERS)
    places = range(MAX_LETTERS)
    variants = [pairs]
    variants += [[(_change(question, i), answer) for question, answer in pairs] for i in places]
    variants += [[(question, _change(answer, i)) for question, answer in pairs] for i in places]
    with _float64(patient.model):  # so that rounding errors don't look like effects
        before, *after = logits(patient, [pair for variant in variants for pair in variant]).chunk(len(variants))
    names = [*(f"question {i + 1}" for i in places), *(f"answer {i + 1}" for i in places)]
    table = [(changed - before).abs().amax(dim=(0, 2)).tolist() for changed in after]
    return pd.DataFrame(table, index=names, columns=_prediction_names())


def _change(word: str, i: int) -> str:
    """Replace letter i of a word with another letter."""
    other = LETTERS[(LETTERS.index(word[i]) + 1) % len(LETTERS)]
    return word[:i] + other + word[i + 1 :]


def _prediction_names() -> list[str]:
    return [*(f"answer {i}" for i in range(1, MAX_LETTERS + 1)), "end"]


def _gradients(patient: Patient, batches: Sequence[Batch]) -> dict[str, Tensor]:
    """Return the gradient of every parameter, or zeros if the loss does not depend on the parameter."""
    patient.model.zero_grad()
    patient.backward(batches)
    gradients = {
        name: torch.zeros_like(p) if p.grad is None else p.grad.clone() for name, p in patient.model.named_parameters()
    }
    patient.model.zero_grad()
    return gradients


def _flat(gradients: dict[str, Tensor]) -> Tensor:
    return torch.cat([gradient.flatten() for gradient in gradients.values()])


def _largest(difference: Tensor) -> float:
    return float(difference.abs().max())


@contextmanager
def _float64(model: nn.Module) -> Iterator[None]:
    """Run a model in float64 inside the ``with`` block."""
    model.double()
    try:
        yield
    finally:
        model.float()  # converting to float64 and back does not change the parameters


@contextmanager
def _record(stages: dict[str, nn.Module]) -> Iterator[dict[str, list[Tensor]]]:
    """Record the output of each stage in every call."""
    recorded: dict[str, list[Tensor]] = {name: [] for name in stages}
    hooks = [
        stage.register_forward_hook(lambda _, args, output, name=name: recorded[name].append(output.detach()))
        for name, stage in stages.items()
    ]
    try:
        yield recorded
    finally:
        for hook in hooks:
            hook.remove()
