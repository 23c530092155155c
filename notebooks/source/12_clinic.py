# %% [markdown] id="title"
# # 12 · The bug clinic
#
# **The question.** In 2024, a widely used library turned out to compute [the wrong
# loss](https://github.com/huggingface/transformers/pull/34191) for batches split into parts. Nothing crashed, and
# losses fell. How do you find a bug that raises no error?
#
# **Afterwards you can** list what may cause a symptom, choose the one measurement that tells the causes apart, and
# write the test that would have caught the bug.
#
# Reading: 38 minutes. Exercises: 45 minutes (three core; one stretch ★ takes 15 more). With all predictions, runs and
# questions: about 105 minutes.

# %% [markdown]
# ## Before you start
#
# Three questions from earlier lessons. Answer each one aloud, then open it.
#
# <details><summary>Lesson 04: the loss of a model is too good to be true. What do you do, and why does a held-out set
# not help?</summary>
#
# Change a token: no output before it may move. On held-out text the answer leaks in as well.
# </details>
#
# <details><summary>Lesson 06: you set the output projections of a pre-norm layer to zero. What should the layer
# return?</summary>
#
# Its input, exactly: nothing but the residual connection is left.
# </details>
#
# <details><summary>Lesson 10: how do you test a KV cache?</summary>
#
# Its logits must equal those without a cache, at every position, however the text is cut up.
# </details>

# %% id="imports"
import copy
import random
from collections.abc import Callable
from datetime import date, timedelta
from itertools import combinations

import matplotlib.pyplot as plt
import pandas as pd
import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor, nn

from transformer_course import check, compare, diagrams, hint, parts, plots, solution, tally
from transformer_course.clinic import instruments
from transformer_course.clinic.case_report import DIAGNOSES
from transformer_course.clinic.findings import MEASURED, findings
from transformer_course.clinic.patient import Patient
from transformer_course.clinic.patients import report
from transformer_course.clinic.record import Clinic
from transformer_course.clinic.task import PAD_ID, draw_pairs
from transformer_lab import trace_shapes
from transformer_lab.data.dates import write_date

# %%
_ = torch.manual_seed(12)

# %% [markdown]
# ## A symptom is not a diagnosis
#
# A model made of your own layers reads French dates and generates digits: `3 mars 2021=20210303`. After 120 steps it
# gets most of them right. A colleague's model does not: "My loss falls, but too many digits are wrong. Why?"

# %%
days = [date(2000, 1, 1) + timedelta(days=n) for n in range(0, 9000, 3)]
random.Random(0).shuffle(days)
lines = [write_date(day, "fr", "long").rjust(17, "·") + "=" + day.strftime("%Y%m%d") for day in days]
CHARACTERS = sorted({c for line in lines for c in line})
texts = torch.tensor([[CHARACTERS.index(c) for c in line] for line in lines])
held_out, train_texts = texts[:200], texts[200:]


# %%
class Reader(nn.Module):
    def __init__(self, d_model: int = 32) -> None:
        super().__init__()
        self.embedding = nn.Embedding(len(CHARACTERS), d_model)
        self.layers = nn.ModuleList(parts.PreNormEncoderLayer(d_model, 4, 4 * d_model) for _ in range(2))
        self.norm, self.head = nn.LayerNorm(d_model), nn.Linear(d_model, len(CHARACTERS))
        self.mask = parts.causal_mask(26)

    def forward(self, tokens: Tensor) -> Tensor:
        n = tokens.shape[1]
        x = self.embedding(tokens) + parts.sinusoidal_encoding(n, self.embedding.embedding_dim)
        for layer in self.layers:
            x = layer(x, self.mask[:n, :n])
        return self.head(self.norm(x))


# %% [markdown]
# We build a model with each of three causes: the **mask** lets each position attend to itself only; the two **layers**
# were never passed to the optimizer; the learning **rate** is a tenth of what it should be.
#
# **Predict.** A model with the first cause sees one character and its position. What fraction of the eight digits does
# it get right, nearest to .1, .25, .5 or .75? (It predicts each digit from the correct one before it. All years begin
# with 20.)

# %% tags=["prediction"]
prediction = ...


# %%
def train_reader(cause: str, seed: int, n_steps: int = 120) -> tuple[Reader, Reader, list[float]]:
    """Return a trained model, a copy of it as it was before, and the loss at each step."""
    torch.manual_seed(seed)
    model, losses = Reader(), []
    before = copy.deepcopy(model)
    if cause == "mask":
        model.mask = torch.eye(26, dtype=torch.bool)
    trained = [p for name, p in model.named_parameters() if not (cause == "layers" and name.startswith("layers"))]
    optimizer = torch.optim.AdamW(trained, fused=True)
    for step in range(n_steps):
        optimizer.param_groups[0]["lr"] = min(1, step / 20) * (0.0015 if cause == "rate" else 0.015)
        batch = train_texts[torch.randint(len(train_texts), (32,))]
        loss = parts.next_token_loss(model(batch), batch, pad_id=-1)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    return model, before, losses


# %%
CAUSES = ["none", "mask", "layers", "rate"]
runs = {cause: [train_reader(cause, seed) for seed in range(3)] for cause in CAUSES}


@torch.no_grad()
def digits_right(model: nn.Module) -> float:
    return (model(held_out)[:, 17:-1].argmax(dim=-1) == held_out[:, 18:]).float().mean().item()


right = {cause: [digits_right(model) for model, _, _ in three] for cause, three in runs.items()}

# %% tags=["approximate"]
curves = {cause: torch.tensor([losses for _, _, losses in three]) for cause, three in runs.items()}
ax = plots.lines(range(120), curves, "step", "loss")
pd.DataFrame(right).round(2).rename_axis("digits right, seed")

# %%
compare(prediction, measured=min((0.1, 0.25, 0.5, 0.75), key=lambda guess: abs(guess - right["mask"][0])))
sick = [fraction for cause in CAUSES[1:] for fraction in right[cause]]
print("about half of the digits in all nine runs with a cause:", all(0.4 < fraction < 0.6 for fraction in sick))
print("more than 60 % without:", min(right["none"]) > 0.6)

# %% [markdown]
# After these 120 steps, three causes have one **symptom**: half of the digits are wrong. (The century is always right;
# the other digits are mostly guesses.) All three curves fall. With the small rate the loss still falls at the end. What
# do we measure?
#
# | | |
# |---|---|
# | `"held-out"` | the loss on held-out days |
# | `"longer"` | the loss after four times as many steps |
# | `"early"` | whether outputs after the equals sign move if a letter of the month is changed |
# | `"moved"` | how far embedding, layers and head are each from where they began |
#
# **Predict.** Which *one* of the four gives a different result for each of the three causes?

# %% tags=["prediction"]
prediction = ...

# %%
expected = pd.DataFrame(
    {
        "held-out": {"mask": "high", "layers": "high", "rate": "high"},
        "longer": {"mask": "stays", "layers": "stays", "rate": "falls"},
        "early": {"mask": "no", "layers": "yes", "rate": "yes"},
        "moved": {"mask": "all far", "layers": "layers not at all", "rate": "all a little"},
    }
)
compare(prediction, measured=expected.nunique().idxmax())
expected.rename_axis("cause")

# %% [markdown]
# Fill in such a table *before* you measure anything. Each row is a **hypothesis**: a cause, and what it predicts. A
# column of equal entries rules out nothing. In the column of a **discriminating measurement**, the entries differ.
#
# We try three, `"moved"` last. Your experiment at the end tests `"longer"`.


# %%
@torch.no_grad()
def measured_early(model: nn.Module) -> str:
    """Return whether outputs after the equals sign move if a letter of the month is changed."""
    changed = held_out.clone()
    changed[:, 10] = (changed[:, 10] + 1) % len(CHARACTERS)
    return "yes" if (model(changed) - model(held_out))[:, 18:].abs().max() > 1e-4 else "no"


@torch.no_grad()
def held_out_loss(model: nn.Module) -> float:
    return parts.next_token_loss(model(held_out), held_out, pad_id=-1).item()


usual = max(held_out_loss(model) for model, _, _ in runs["none"])
rows = {}
for cause, three in runs.items():
    is_high = all(held_out_loss(model) > usual + 0.1 for model, _, _ in three)
    rows[cause] = {"held-out": "high" if is_high else "usual", "early": measured_early(three[0][0])}
pd.DataFrame.from_dict(rows, orient="index")

# %% [markdown]
# `"moved"` tells all three apart (the mask by elimination). The cell draws a cause, and shows how far each part of that
# model, and of a healthy one, has moved, relative to its size at the beginning.


# %% tags=["approximate"]
def moved(model: nn.Module, before: nn.Module) -> dict[str, float]:
    """Return how far each part is from where it began, relative to its size there."""
    distance = {}
    for name in ("embedding", "layers", "head"):
        now, then = (nn.utils.parameters_to_vector(getattr(m, name).parameters()) for m in (model, before))
        distance[name] = ((now - then).norm() / then.norm()).item()
    return distance


drawn = random.Random(12).choice(CAUSES[1:])
columns = {"healthy": runs["none"][0][:2], "the colleague's": runs[drawn][0][:2]}
pd.DataFrame({name: moved(*pair) for name, pair in columns.items()}).round(1)

# %% [markdown]
# **Your turn.** What is your diagnosis: `"mask"`, `"layers"` or `"rate"`?

# %% tags=["prediction"]
diagnosis = ...

# %%
compare(diagnosis, measured=drawn)
every = {cause: [moved(*run[:2])["layers"] for run in three] for cause, three in runs.items()}
print("for each seed, layers: not at all", max(every["layers"]) == 0, end="; ")
print("less than half as far with the small rate:", max(every["rate"]) < min(every["none"]) / 2, end="; ")
print("more than half as far with the mask:", min(every["mask"]) > min(every["none"]) / 2)

# %% [markdown]
# The repair is one line: give the optimizer `model.parameters()`. Which test would have found this earlier?


# %%
def never_trained(model: nn.Module, before: nn.Module) -> list[str]:
    return [name for (name, p), q in zip(model.named_parameters(), before.parameters()) if torch.equal(p, q)]


for cause in ("layers", "none"):
    model, before, _ = train_reader(cause, seed=0, n_steps=2)
    print(f"{cause}: {len(never_trained(model, before))} of {len(list(model.parameters()))} parameters never trained")

# %% [markdown]
# Two steps are enough. Such a test is a **regression test**: it fails with the bug, passes with the repair, and is
# kept.

# %% [markdown]
# ## The method
#
# 1. **Symptom.** Say what you see, with a number: not "it is bad", but "half of the digits". Read one batch, decoded:
#    many bugs are in the data.
# 2. **Hypotheses.** List at least three causes. If you have only one, every measurement seems to confirm it.
# 3. **Measurement.** Write down what each hypothesis predicts, and measure where the predictions differ.
# 4. **Repair.** Then measure again: is the symptom gone?
# 5. **Test.** Write the test that fails with the bug and passes without it.
#
# What to measure first for four common symptoms:

# %%
diagrams.diagnosis.first_measurements()

# %% [markdown]
# ## The ward
#
# Twelve small Transformers have been trained to reverse words, `abcd` to `dcba`. Patients 1, 4 and 12 have an encoder
# and a decoder; the others are decoder-only. Each differs in at most one thing from its *healthy twin*, which was
# trained on the same data from the same seed. At least one is healthy.
#
# The owners' complaints, the loss curves and the answers cost nothing:

# %%
clinic = Clinic()
cases = {number: clinic.admit(number) for number in range(1, 13)}
for number, case in cases.items():
    print(f"{number}: {case.complaint}")

# %% tags=["approximate"]
figure, axes = plt.subplots(3, 4, figsize=(10, 6), sharex=True, sharey=True, layout="constrained")
for ax, (number, case) in zip(axes.flat, cases.items()):
    smooth = case.losses().rolling(10, min_periods=1).mean()[["healthy twin", "patient"]]
    plots.lines(list(smooth.index), {name: smooth[name].tolist() for name in smooth}, "step", "loss", ax=ax)
    ax.set(title=f"patient {number}", yscale="log")
    ax.label_outer()
    if number > 1:
        ax.get_legend().remove()

# %% tags=["nbval-ignore-output"]
asked = cases[1].answers(5)["question"].tolist()
answers = {number: case.answers(5)["answer"].tolist() for number, case in cases.items()}
pd.DataFrame(answers, index=[word[::-1] for word in asked]).T.rename_axis(index="patient", columns="right answer")

# %% [markdown]
# <details><summary>What does it mean if the curves of patient and twin are one line?</summary>
#
# Training is the same, step by step. So if something is wrong, it happens only when the model answers: in the cache or
# the padding, or because `eval()` is missing.
# </details>
#
# Each measurement adds 1 to your score, and each wrong diagnosis 2; lower is better. The healthy twin's
# measurements cost nothing. Not all of the twenty diagnoses occur.
#
# <details><summary>What is a micro-batch, in diagnosis I?</summary>
#
# A part of a batch: the gradients of all parts are added up before the optimizer's step.
#
# </details>

# %%
for letter, diagnosis in DIAGNOSES.items():
    print(f"{letter}  {diagnosis}")


# %%
def measure(number: int, instrument: Callable) -> pd.DataFrame | None:
    """Measure a patient, and show its healthy twin beside it."""
    if instrument is not ...:
        case = clinic.admit(number)
        return pd.concat({"patient": case.measure(instrument), "twin": case.normal(instrument)}, axis=1).round(3)


def diagnose(number: int, letter: str) -> None:
    print(f"patient {number}:", "open" if letter is ... else clinic.admit(number).diagnose(letter))


# %% [markdown]
# ## Instruments
#
# We call a measurement an **instrument** if its correct result is known in advance, such as exactly 0. In the ward the
# healthy twin supplies that result. Each bar spans the stages whose bugs the instrument may catch. A long bar, such as
# that of the loss, shows *that* something is wrong; a short bar, *where*.

# %%
diagrams.diagnosis.instruments()

# %% [markdown]
# You will build three.

# %% [markdown]
# ### Gradient norms
#
# **Exercise.** `backward()` has already been called. For a parameter that no gradient has reached, return 0.


# %% id="gradient_norms" tags=["exercise"]
def gradient_norms(model: nn.Module) -> dict[str, float]:
    """Return the norm of each parameter's gradient by the parameter's name: 0 where no gradient has arrived."""
    raise NotImplementedError


# %% id="check-gradient_norms"
check(gradient_norms)

# %% [markdown]
# **Predict.** Take the readers of dates again. Of the parameters in `layers`, how many have a gradient norm of 0 in the
# model whose layers were never given to the optimizer: `"none"`, `"some"` or `"all"`? And in the one whose mask lets
# each position attend to itself only?

# %% tags=["prediction"]
prediction_layers, prediction_mask = ..., ...


# %%
def without_gradient(model: nn.Module) -> list[str]:
    return [name for name, norm in parts.gradient_norms(model).items() if norm == 0]


# %%
zero = {}
for cause in ("layers", "mask"):
    model, _, _ = runs[cause][0]
    model.zero_grad()
    parts.next_token_loss(model(held_out), held_out, pad_id=-1).backward()
    zero[cause] = [name for name in without_gradient(model) if name.startswith("layers")]
compare(prediction_layers, measured={0: "none", 32: "all"}.get(len(zero["layers"]), "some"))
compare(prediction_mask, measured={0: "none", 32: "all"}.get(len(zero["mask"]), "some"))
print("with the mask:", *sorted({name.split(".")[-2] for name in zero["mask"]}))

# %% [markdown]
# With one key, the weight is 1 whatever the score, so queries and keys get no gradient: the instrument finds this
# cause. (`never_trained` would not: weight decay moves them.) Where the layers were never given to the optimizer,
# gradients arrive, but no step uses them. In the picture, the bar of this instrument ends one stage too early: an
# instrument says nothing about what it does not cover.
#
# In the ward, five owners have doubts although their models get most answers right.


# %%
def parameters_without_gradient(patient: Patient) -> pd.DataFrame:
    patient.model.zero_grad()
    patient.backward([patient.batch(draw_pairs(32, seed=12))])
    names = without_gradient(patient.model)
    return pd.DataFrame({"how many": len(names), "such as": names[:1] or "none"}, index=[""])


pd.concat({number: clinic.admit(number).measure(parameters_without_gradient) for number in (2, 4, 7, 9, 12)})

# %% [markdown]
# **Your turn.** Write a letter in place of the dots. (While the dots stay, the case stays open.)

# %%
diagnose(4, ...)

# %% [markdown]
# ### Cached against uncached
#
# **Exercise.** Compare the logits of one call, `model(tokens)`, with those of one call per token. For the second,
# `model.new_cache()` returns an empty cache, and `model(tokens, cache)` appends the tokens to it. Measure in evaluation
# mode, without gradients, and leave the model in the mode in which you found it.


# %% id="cached_difference" tags=["exercise"]
def cached_difference(model: nn.Module, tokens: Int[Tensor, "batch n"]) -> float:
    """Return the largest difference between the logits of one call and those of one call per token, with a cache."""
    raise NotImplementedError


# %% id="check-cached_difference"
check(cached_difference)

# %% [markdown]
# **Predict.** Read the complaints of patients 2, 3, 5, 8 and 11 again. For how many of these five does a cache change
# the logits by more than 0.001?

# %% tags=["prediction"]
prediction = ...


# %%
def with_cache(patient: Patient) -> pd.DataFrame:
    texts = patient.batch(draw_pairs(16, seed=12, n_letters=5)).inputs
    return pd.DataFrame({"largest difference": [parts.cached_difference(patient.model, texts)]})


table = pd.concat({number: clinic.admit(number).measure(with_cache) for number in (2, 3, 5, 8, 11)}).droplevel(1)
compare(prediction, measured=int((table["largest difference"] > 0.001).sum()))
(table > 0.001).rename(columns={"largest difference": "differs with a cache"})

# %% [markdown]
# Equal means up to rounding, and in float32: in bfloat16, a difference in the second or third digit is normal. So the
# instrument finds patients 3 and 11, whose complaints are the same, but cannot tell them apart. Three of the diagnoses
# concern a cache: **F**, **G** and **H**. A finer instrument compares every stage, for every token of the answer:

# %%
pd.concat({n: clinic.admit(n).measure(instruments.cached_against_uncached) > 0.001 for n in (3, 11)})

# %% [markdown]
# The question was read in *one* call, which gave the first prediction; each later token had a call of its own. The
# table rules out one of the three hypotheses. Which one? And which measurement tells the other two apart?
#
# <details><summary>Which one is ruled out?</summary>
#
# G: if positions were counted from 0 again, the *embeddings* of later tokens would differ, too. (In a model with RoPE
# they would not: there, positions enter only in the layers. No patient has G and RoPE.)
# </details>
#
# These are the instruments of the clinic:

# %%
for instrument in instruments.ALL_INSTRUMENTS:
    print(f"{instrument.__name__}: {instrument.__doc__.splitlines()[0].removeprefix('Return ')}")

# %% [markdown]
# **Your turn.** Replace the dots in `measure` with an instrument, such as `instruments.leak_test_with_cache`, and the
# dots in `diagnose` with a letter. Measure as often as you need, in cells of your own if you like.

# %%
diagnose(3, ...)
measure(3, ...)

# %%
diagnose(11, ...)
measure(11, ...)

# %% [markdown]
# <details><summary>A hint, if you are stuck</summary>
#
# Of the two hypotheses that are left, one is about *which* keys a new token may attend to, the other about the numbers
# in these keys. Change one token of the question at a time: which of these changes reach a later prediction at all?
# </details>

# %% [markdown]
# ### Alone, and with padding
#
# **Exercise.** Put padding on the left of each text, and measure what changes at the tokens that were there before:
# nothing should. (Ignore positions that were padding to begin with. Use evaluation mode and no gradients, as
# before.)


# %% id="padding_difference" tags=["exercise"]
def padding_difference(model: nn.Module, tokens: Int[Tensor, "batch n"], pad_id: int, n_pads: int) -> float:
    """Return by how much the logits at real tokens change at most when every text gets padding on its left."""
    raise NotImplementedError


# %% id="check-padding_difference"
check(padding_difference)


# %%
def with_padding(patient: Patient) -> pd.DataFrame:
    texts = patient.batch(draw_pairs(16, seed=12)).inputs
    return pd.DataFrame({n: [parts.padding_difference(patient.model, texts, PAD_ID, n) > 0.001] for n in (1, 2, 3)})


table = pd.concat({number: clinic.admit(number).measure(with_padding) for number in (2, 5, 8, 11)}).droplevel(1)
table.rename_axis("differs with so many pads", axis=1)

# %% [markdown]
# **Your turn.** Diagnose patient 5, and then patient 8: its probabilities change, too, but your instrument finds
# nothing. What else may differ between two answers to the same question?

# %%
diagnose(5, ...)

# %%
diagnose(8, ...)
measure(8, ...)

# %% [markdown]
# ## The other patients
#
# Now you choose. Before each measurement, name two diagnoses that would give different results.
#
# **Your turn.** Begin with the three whose answers are mostly wrong: 1, 6 and 10.

# %%
diagnose(1, ...)
measure(1, ...)

# %%
diagnose(6, ...)
measure(6, ...)

# %%
diagnose(10, ...)
measure(10, ...)

# %% [markdown]
# **Your turn.** Go on with the patients that get most answers right: 2, 7, 9 and 12. When would you call a model
# healthy?

# %%
diagnose(2, ...)
measure(2, ...)

# %%
diagnose(7, ...)
measure(7, ...)

# %%
diagnose(9, ...)
measure(9, ...)

# %%
diagnose(12, ...)
measure(12, ...)

# %% [markdown]
# <details><summary>Is there a certificate of health?</summary>
#
# No. Each instrument that finds nothing rules out the bugs that it would have found. So the honest diagnosis is:
# healthy, as far as these instruments reach.
# </details>

# %% [markdown]
# ### The record
#
# For a closed case, `clinic.admit(4).report()` names the bug, its repair, where it was found in public, and the test;
# `source()` returns the code. The lesson's own measurements count, too. Four more patients, 13 to 16, are waiting:
# `clinic.admit(13).complaint` says why. Diagnose them before you read on: the next section shows which diagnoses occur.
#
# Next to your score is the score of a bot. The bot has a table of what every instrument finds with every bug. It
# measures in random order until one diagnosis is left; if two are left after all sixteen instruments, it guesses. You
# can do better: complaints, loss curves and answers cost nothing.

# %%
for case in cases.values():
    if case.closed:
        print(f"{case.number}: {case.report().bug}\nRepair: {case.report().repair}\n")
clinic.summary().set_index("patient")

# %% [markdown]
# ## Which instrument finds which bug?
#
# We tried all sixteen instruments on all sixteen patients, one healthy and 15 with different bugs, and noted where the
# result differs from the twin's. (`findings([13])` measures one patient again.) A well-known recipe has you overfit one
# batch before a long run ([Karpathy, 2019](https://karpathy.github.io/2019/04/25/recipe/)).
#
# **Predict.** How many of the 15 bugs does `overfit_one_batch` find? And how many instruments does it take to find all
# 15: nearest to 3, 6 or 10?

# %% tags=["prediction"]
prediction_overfit, prediction_needed = ..., ...

# %%
found = {instrument.__name__: set() for instrument in instruments.ALL_INSTRUMENTS}  # the bugs that each finds
for number, names in MEASURED.items():
    for name in names:
        found[name].add(report(number).diagnosis)
letters = sorted(report(number).diagnosis for number in MEASURED)
cells = torch.tensor([[letter in bugs for letter in letters] for bugs in found.values()])
figure, ax = plt.subplots(figsize=(9, 5), layout="constrained")
says = ("finds nothing", "finds it")
ax = plots.mask(cells, list(found), letters, ax, says, xlabel="diagnosis", ylabel="instrument")

# %%
bugs = set(letters) - {"A"}
enough = next(n for n in range(17) if any(set().union(*some) == bugs for some in combinations(found.values(), n)))
columns = [tuple(letter in some for some in found.values()) for letter in sorted(bugs)]
compare(prediction_overfit, measured=len(found["overfit_one_batch"]))
compare(prediction_needed, measured=min((3, 6, 10), key=lambda n: abs(n - enough)))
print("instruments needed:", enough)
print("bugs that only one of the 16 finds:", sum(sum(column) == 1 for column in columns))
print("different columns:", len(set(columns)), "of", len(columns))

# %% [markdown]
# In the picture, each row is an instrument, and a bright cell a bug that it finds. Overfitting one batch finds E, which
# does not learn, and M, which learns slowly. With each of the other thirteen bugs, a model overfits the batch, too. (We
# chose bugs with which a model trains.) Comparing forced with generated answers finds the most, six bugs, three of them
# in the cache: it shows *that* something is wrong, not where.
#
# B and C have the same column, and so have G and H: the instruments find these bugs, but their columns cannot tell them
# apart. For that you need the numbers, or a second measurement.

# %% [markdown]
# ## Where these bugs were found
#
# | diagnosis | found in | the test that would have caught it |
# |---|---|---|
# | B | [PyTorch 61165], [burn 1056] | with silent sublayers, a layer returns its input |
# | C | [xformers 233] | given ten times its input, a sublayer returns the same |
# | D | [mlx 1636], with post-norm | after one backward pass, every parameter has a gradient |
# | F | [PyTorch 103082], about `is_causal=True` | cached equals uncached |
# | F, G, H, or rounding | [nanoGPT 613]: with a cache, "coherent", but not the same | cached equals uncached |
# | H | [gpt-neox 363], "FIX: cache un-RoPE'd KVs": there unrotated keys are the repair | cached equals uncached |
# | I | [transformers 34191] | micro-batches give the gradient of the whole batch |
# | K | [transformers 21080], and [22382] for two other models | padding on the left changes nothing |
# | M, without tied embeddings | [transformers 26441]: the first loss of T5 was about 110 | the first loss is log V |
#
# [PyTorch 61165]: https://github.com/pytorch/pytorch/issues/61165
# [burn 1056]: https://github.com/tracel-ai/burn/issues/1056
# [xformers 233]: https://github.com/facebookresearch/xformers/pull/233
# [mlx 1636]: https://github.com/ml-explore/mlx/issues/1636
# [PyTorch 103082]: https://github.com/pytorch/pytorch/issues/103082
# [nanoGPT 613]: https://github.com/karpathy/nanoGPT/pull/613
# [gpt-neox 363]: https://github.com/EleutherAI/gpt-neox/pull/363
# [transformers 34191]: https://github.com/huggingface/transformers/pull/34191
# [transformers 21080]: https://github.com/huggingface/transformers/issues/21080
# [22382]: https://github.com/huggingface/transformers/pull/22382
# [transformers 26441]: https://github.com/huggingface/transformers/pull/26441
#
# None of these bugs raises an error. No patient has mislabeled data or a loss of NaN: for the first read a batch, for
# the second find the first step with a gradient that is not finite.

# %% [markdown]
# ## Bug hunt
#
# Instruments have bugs, too. A colleague's `padding_difference` cuts the padded text back to its old length, because
# her model cannot take longer ones. For a healthy model it gives 0, as it should. Decide which faults it cannot find
# *before* you run the check. Then put a corrected version, `mended`, into the cell after it.


# %% tags=["bug-hunt"]
def difference_of_a_colleague(model, tokens, pad_id, n_pads):
    n = tokens.shape[1]
    was_training = model.training
    model.eval()
    pads = torch.full((len(tokens), n_pads), pad_id)
    with torch.no_grad():
        alone, padded = model(tokens), model(torch.cat([pads, tokens], dim=1)[:, :n])
    model.train(was_training)
    differences = padded[:, n_pads:] - alone[:, : n - n_pads]
    return differences[tokens[:, : n - n_pads] != pad_id].abs().max().item()


# %% id="mend-instrument"
mended = difference_of_a_colleague

# %% id="check-mend-instrument"
check(mended, "padding_difference", save=False)


# %%
class WrongAtOneToken(nn.Module):
    """A model that is broken on purpose: at one real token, its output shows how many pads stand in front."""

    def __init__(self, place: int) -> None:
        super().__init__()
        self.place = place

    def forward(self, tokens: Tensor) -> Tensor:
        n_pads = (tokens[0] == PAD_ID).sum().item()
        logits = torch.zeros(*tokens.shape, 3)
        logits[:, n_pads + self.place : n_pads + self.place + 1] = n_pads
        return logits


# %%
six_tokens = torch.full((1, 6), PAD_ID + 1)
for whose, difference in {"hers": difference_of_a_colleague, "that of parts": parts.padding_difference}.items():
    found = [place for place in range(6) if difference(WrongAtOneToken(place), six_tokens, PAD_ID, 2) > 0.001]
    print(f"{whose} finds a fault at these of six tokens:", found)

# %% [markdown]
# <details><summary>How to find such a bug without a check</summary>
#
# Try the instrument on models that are broken on purpose, each in one place, as the cell above does, and see whether it
# finds them all. Here the pads push the last tokens out of the text, so the logits at the end are never compared,
# although that is where a model generates. The same goes for a test: check that it fails for each bug that it should
# find.
# </details>


# %% [markdown]
# ## ★ Transfer: what does an output depend on?
#
# The most general of these instruments needs no tokens and no mask: change one input vector, and see which outputs
# move. Do so for every input, and you have the receptive field (lesson 04) of each output, for any module: attention,
# convolution, norm.
#
# **Exercise.** `model` takes and returns vectors, one at each position. Write `which_inputs` from scratch, without
# gradients. (A change that a norm removes, such as adding 1 to all features, would not be seen.)


# %% id="which_inputs" tags=["exercise"]
def which_inputs(model: Callable[[Tensor], Tensor], x: Float[Tensor, "n_in d"]) -> Bool[Tensor, "n_out n_in"]:
    """Return on which inputs each output depends: entry i, j is True where output i changes with input j."""
    raise NotImplementedError


# %% id="check-which_inputs"
check(which_inputs)

# %% [markdown]
# **Predict.** In two layers of attention, each token attends to three tokens: itself and the two before it. On how many
# inputs does the last of 12 outputs depend? And after a BatchNorm over the positions of *one* text, in training mode?

# %% tags=["prediction"]
prediction_window, prediction_norm = ..., ...

# %%
layers = [parts.MultiHeadAttention(8, 2) for _ in range(2)]
window = parts.causal_mask(12) & torch.ones(12, 12, dtype=torch.bool).triu(-2)
batch_norm, convolution = nn.BatchNorm1d(8), nn.Conv1d(8, 8, kernel_size=3, padding=1)


def attend(x: Tensor, n_layers: int) -> Tensor:
    for layer in layers[:n_layers]:
        x = layer(x, x, x, window)
    return x


modules = {
    "window, one layer": lambda x: attend(x[None], 1)[0],
    "window, two layers": lambda x: attend(x[None], 2)[0],
    "LayerNorm": nn.LayerNorm(8),
    "BatchNorm": batch_norm,
    "convolution": lambda x: convolution(x.T[None])[0].T,
}
with torch.no_grad():
    fields = {name: parts.which_inputs(module, torch.randn(12, 8)) for name, module in modules.items()}
compare(prediction_window, measured=fields["window, two layers"][-1].sum().item())
compare(prediction_norm, measured=fields["BatchNorm"][-1].sum().item())

# %%
figure, axes = plt.subplots(1, 5, figsize=(11, 2.6), layout="constrained")
for ax, (name, field) in zip(axes, fields.items()):
    plots.mask(field, ax=ax, labels=("no", "depends"), xlabel="input", ylabel="output").set_title(name)

# %% [markdown]
# Each layer with this window reaches two positions further back. In training mode, each output of BatchNorm depends on
# all positions (lesson 06): a causal model with it would fail the leak test.

# %% [markdown]
# ## Your experiment
#
# Ungraded, about 15 minutes. Test a claim of your own as this lesson tests its claims, or begin with this one:
#
# **Claim.** A longer run tells the first three causes apart, as the table of hypotheses says: after four times as many
# steps, the model with the small learning rate gets more than 60 % of the digits right, the two others do not.
#
# **Prediction.** Before you run anything, write down in how many of three runs the claim will hold.
#
# **Verdict.** Say in one sentence what the runs show. A claim that fails is a result, too.

# %% id="experiment" tags=["experiment", "skip-execution"]
prediction = ...  # in how many of the three runs will the claim hold?
holds = []
for seed in range(3):
    longer = {cause: digits_right(train_reader(cause, seed, n_steps=480)[0]) for cause in ("mask", "layers", "rate")}
    holds.append(...)  # True or False, from the three numbers in `longer`
print("predicted:", prediction, " measured:", holds)
# Verdict:

# %% [markdown]
# ## In short
#
# - A symptom has many causes. List them, and what each predicts, before you measure.
# - A measurement is worth its time if its result differs between the hypotheses.
# - An instrument says nothing about what it does not cover; try it on a model with a known bug. Outside the clinic
#   there is no healthy twin: keep the numbers of your last good run.
# - The loss curve and overfitting one batch find models that do not learn. Most of these bugs do not stop a model from
#   learning.
# - A repair is finished when a test fails without it.
# - You have diagnosed models without being told what was wrong with them.
#   Your `padding_difference` and `never_trained` run on any model that takes tokens: put them into your own tests.

# %%
table = trace_shapes(runs["none"][0][0], held_out[:2, :11])
table.drop(columns="class")[:12]

# %% [markdown]
# ## New words
#
# The words of all lessons are in the [glossary](glossary.ipynb).
#
# - **symptom**: what is seen of a bug: a curve, a text, a number.
# - **hypothesis**: a cause that would explain a symptom, and that predicts further results.
# - **discriminating measurement**: a measurement whose result differs from hypothesis to hypothesis.
# - **instrument**: in this course, a measurement whose correct result is known in advance; the field says diagnostic.
# - **regression test**: a test that fails with a bug and passes without it, kept so that the bug does not come back.

# %% [markdown]
# ## Interview questions
#
# Answer aloud first; the section named in each answer has the cell that shows it.
#
# <details><summary>The loss is fine, and the samples are garbage. What do you measure first?</summary>
#
# Cached against uncached logits: generation uses a cache, training does not. If they are equal, look for what else
# differs between the two: the mode, the padding, the prompt. (<i>Cached against uncached</i>)
# </details>
#
# <details><summary>The loss falls, but stays too high. What might be wrong, and how do you find out?</summary>
#
# A wrong mask, a part that is not trained, a learning rate that is too small: with each of the three, half of the
# digits were right. How far each part had moved told all three apart. (<i>A symptom is not a diagnosis</i>)
# </details>
#
# <details><summary>What makes a measurement a good one?</summary>
#
# The hypotheses predict different results for it. If all predict the same, the result tells you nothing. (<i>A symptom
# is not a diagnosis</i>)
# </details>
#
# <details><summary>What does a gradient norm of 0 tell you, and what does it not?</summary>
#
# The parameter takes no part in the loss, or something has stopped the gradient. A norm above 0 does not show that a
# parameter is trained: gradients also reach a part that was never passed to the optimizer. (<i>Gradient norms</i>)
# </details>
#
# <details><summary>What does overfitting one batch find?</summary>
#
# Models that learn slowly or not at all: two of our 15 bugs. With each of the others, a model overfits the batch, too.
# (<i>Which instrument finds which bug</i>)
# </details>

# %% [markdown]
# <details><summary>The same prompt gives a different output in a batch than alone. What do you do?</summary>
#
# Run it twice alone: if the outputs differ, something is random, such as dropout. If not, add padding on the left: the
# padding mask or the positions are wrong. (<i>Alone, and with padding</i>) If both are right, it may be rounding: a
# batch changes the order of sums, so on a server even greedy decoding may give two answers ([He et al.,
# 2025](https://thinkingmachines.ai/blog/defeating-nondeterminism-in-llm-inference/)).
# </details>
#
# <details><summary>How do you test a KV cache?</summary>
#
# Compare its logits, token by token, with those of one call: they must be equal. That finds a wrong mask, wrong
# positions and wrong keys alike; to tell them apart, compare layer by layer, or change one token of the prompt.
# (<i>Cached against uncached</i>)
# </details>
#
# <details><summary>When is a bug fixed?</summary>
#
# When a test fails with it and passes without it. Ours needs two steps of training. (<i>A symptom is not a
# diagnosis</i>)
# </details>
#
# <details><summary>How do you know that a model has no bug?</summary>
#
# You do not. You know which bugs your instruments would have found, if you have seen them find one. (<i>The other
# patients</i>, <i>Bug hunt</i>)
# </details>

# %% [markdown]
# ## What to read next
#
# - Karpathy (2019), [A recipe for training neural networks](https://karpathy.github.io/2019/04/25/recipe/): neural
#   networks fail silently, and what to do about it.
# - `transformer_course/clinic/instruments.py`: all sixteen instruments. (Open `patients/` beside it only when your
#   cases are closed.)

# %% [markdown]
# How far did you get, and how well did you predict?

# %% id="tally"
tally()
