# %% [markdown] id="title"
# # 14 · Post-training: from a model that continues to one that answers
#
# **The question.** A pretrained model continues any text: asked a question, it may add a second one. How does it become
# a model that answers, that answers as people prefer, and that is right more often without being shown any more right
# answers?
#
# **Afterwards you can** fine-tune on chats, on preferences and on rewards, write the loss of GRPO, tell pass@1 from
# pass@k, recognize a reward that is being hacked, and run a real chat model.
#
# Reading: 40 minutes. Exercises: 50 minutes (five core; one stretch ★ takes 10 more). With all predictions, runs and
# questions: about 110 minutes.

# %% [markdown]
# ## Before you start
#
# Three questions from earlier lessons. Answer each one aloud, then open it.
#
# <details><summary>Lesson 08: what is the probability of a whole sentence under a model?</summary>
#
# The product of the probabilities of its tokens, each given those before it: in practice, e to the power of the sum
# of their logarithms.
# </details>
#
# <details><summary>Lesson 09: which tokens does the loss of a language model count?</summary>
#
# All but the first of each text, which nothing predicts, and none that is padding.
# </details>
#
# <details><summary>Lesson 09: what does a temperature of 1 mean when a token is sampled?</summary>
#
# That it is drawn with the model's own probabilities.
# </details>

# %% id="imports"
import copy
import math
import random
import re
from collections import Counter
from collections.abc import Callable, Collection, Iterator
from datetime import date, timedelta
from functools import partial

import pandas as pd
import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor, nn

from transformer_course import check, compare, diagrams, hint, parts, plots, solution, tally
from transformer_course.lesson.final_page import FinalPage, predictions_in_record
from transformer_course.lesson.notebook import whose_parts
from transformer_course.published_models.in_lesson import published_in_lesson
from transformer_course.stored_models.stored_model import FOLDER, trained
from transformer_lab import TextGenerator, trace_shapes
from transformer_lab.data.dates import write_date
from transformer_lab.data.tokenizers import BOS_ID, EOS_ID, PAD_ID, character_tokenizer
from transformer_lab.models.initialization import initialize_language_model
from transformer_lab.pretrained.hub import read_json

# %%
_ = torch.manual_seed(14)

# %% [markdown]
# ## The way from text to a chat model
#
# Next to each stage is what it learns from.

# %% id="pipeline"
diagrams.post_training.pipeline()

# %% [markdown]
# ## A model that continues
#
# We take a task that a program can judge: dates. The pretraining text has lines such as `3 mars 2021 = 2021-03-03`;
# half of them use the form `03/03/2021` instead. The model is your GPT of lesson 09, made of your own parts. (Folded
# cells hold its first parameters, the texts and the training loop.)


# %% tags=["hide-input"]
def untrained() -> nn.Module:
    """Return your GPT with its parameters drawn as GPT-2's are."""
    model = parts.GPT(letters.get_vocab_size())
    initialize_language_model(model, len(model.blocks))
    return model


# %% tags=["hide-input"]
def train(model: nn.Module, n_steps: int, rate: float, loss_of: Callable[[nn.Module], Tensor]) -> Iterator[int]:
    """Take steps, and yield the number of each; the learning rate warms up over a tenth of them, then falls to 0."""
    optimizer = torch.optim.AdamW(parts.parameter_groups(model, 0.01), betas=(0.9, 0.98), fused=True)
    for step in range(1, n_steps + 1):
        loss = loss_of(model)
        optimizer.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        for group in optimizer.param_groups:
            group["lr"] = rate * min(1, 10 * step / n_steps) * (1 - (step - 1) / n_steps)
        optimizer.step()
        yield step


# %% tags=["hide-input"]
days = [date(2000, 1, 1) + timedelta(n) for n in range(365 * 30)]
random.Random(0).shuffle(days)
new_days, days = days[:100], days[100:]
FORMS = DASHES, SLASHES = "%Y-%m-%d", "%d/%m/%Y"
french = {day: write_date(day, "fr", "long") for day in new_days + days}
letters = character_tokenizer([*french.values(), "-/=?>"])


# %% tags=["hide-input"]
def padded(rows: list[list[int]]) -> Tensor:
    return nn.utils.rnn.pad_sequence([torch.tensor(row) for row in rows], batch_first=True, padding_value=PAD_ID)


# %% tags=["hide-input"]
def examples(days: list[date], prompt_form: str, *forms: str) -> tuple[Tensor, Tensor]:
    """Return the tokens of prompts and answers, each answer in one of the forms, and the lengths of the prompts."""
    prompts = [[BOS_ID, *letters.encode(prompt_form.format(french[day])).ids] for day in days]
    answers = [[*letters.encode(format(day, random.choice(forms))).ids, EOS_ID] for day in days]
    return padded([p + a for p, a in zip(prompts, answers)]), torch.tensor([len(p) for p in prompts])


# %% tags=["hide-input"]
TEXT, CHAT = "{} = ", "?{}>"


def pretraining_loss(model: nn.Module) -> Tensor:
    tokens, _ = examples(random.sample(days, 32), TEXT, *FORMS)
    return parts.next_token_loss(model(tokens), tokens, PAD_ID)


# %%
random.seed(0)
_ = torch.manual_seed(0)
pretrained = untrained()
for _ in train(pretrained, 600, 6e-3, pretraining_loss):
    pass


# %% tags=["hide-input"]
@torch.no_grad()
def sample(model: nn.Module, prompts: list[str], n_each: int, n_new: int = 12) -> tuple[Tensor, Tensor]:
    """Draw answers to prompts; return prompts and answers, padded, and the lengths of the prompts."""
    rows = [[BOS_ID, *letters.encode(prompt).ids] for prompt in prompts for _ in range(n_each)]
    tokens = padded([row + [PAD_ID] * n_new for row in rows])
    ends = lengths = torch.tensor([len(row) for row in rows])
    each, open_ = torch.arange(len(rows)), torch.ones(len(rows), dtype=torch.bool)
    for _ in range(n_new):
        if open_.any():
            texts, which = tokens[:, : int(ends.max())].unique(dim=0, return_inverse=True)  # read no text twice
            logits = model(texts)[which, ends - 1]
            tokens[each, ends] = parts.sample_next(logits).masked_fill(~open_, PAD_ID)
            open_ = open_ & (tokens[each, ends] != EOS_ID)
            ends = ends + 1
    return tokens, lengths


# %% tags=["hide-input"]
def answers_in(tokens: Tensor, lengths: Tensor, n_new: int = 12) -> Tensor:
    """Return what follows the prompts, (batch, n_new): answers that end with <eos>, and padding."""
    return tokens.gather(1, lengths[:, None] + torch.arange(n_new))


# %% [markdown]
# After every stage we sample fifty answers to one date, and print the commonest. Type your own, in French, between 2000
# and 2029.

# %%
your_date = "14 juillet 2021"


def most_frequent(model: nn.Module, prompt_form: str = CHAT, n: int = 4) -> str:
    """Return the most frequent of fifty answers to your date."""
    answers = answers_in(*sample(model, [prompt_form.format(your_date)], 50))
    counts = Counter(letters.decode(row.tolist()) or "(nothing)" for row in answers)
    return "   ".join(f"{answer} ×{count}" for answer, count in counts.most_common(n))


def show(model: nn.Module, prompt_form: str = CHAT) -> None:
    print(most_frequent(model, prompt_form))


# %% tags=["nbval-ignore-output"]
show(pretrained, TEXT)

# %% [markdown]
# ## The chat form
#
# A chat is one long text in which special tokens mark who is speaking: a **chat template** turns the messages into that
# text. Qwen writes `<|im_start|>user`, the message and `<|im_end|>`; then comes `<|im_start|>assistant`, and the model
# goes on from there. `<|im_end|>` is also how the model says that it has finished.
#
# Ours takes two characters: `?` opens the user's turn and `>` the assistant's, which ends with `<eos>`. The model has
# seen neither `?` nor `>`.

# %% tags=["nbval-ignore-output"]
show(pretrained)

# %% [markdown]
# In the form of its training text, the pretrained model knew the date. Given the chat form, it writes its old form,
# mostly wrongly.

# %% [markdown]
# ## Supervised fine-tuning
#
# **Supervised fine-tuning** (SFT) trains on chats with good answers, with the familiar next-token loss. Usually one
# thing changes: the model reads the prompt, but the loss ignores it, because the model should learn to answer, not to
# ask. (With very short answers, counting the prompt can help: [Shi et al., 2024](https://arxiv.org/abs/2405.14394).) So
# the labels are the tokens, with the prompt replaced by padding, which the loss ignores.
#
# **Exercise.** Write these labels. Each row has a prompt of its own length. The loss does the shifting.


# %% id="answer_labels" tags=["exercise"]
def answer_labels(
    tokens: Int[Tensor, "batch n"], prompt_lengths: Int[Tensor, " batch"], pad_id: int
) -> Int[Tensor, "batch n"]:
    """Return the labels of prompts that are followed by answers: only the answers count."""
    raise NotImplementedError


# %% id="check-answer_labels"
check(answer_labels)

# %% [markdown]
# A common bug takes `<eos>` for the padding token as well. Then the labels lose the end of every answer, and the model
# never learns to stop.


# %%
def sft_loss(model: nn.Module) -> Tensor:
    tokens, lengths = examples(random.sample(days, 32), CHAT, *FORMS)
    return parts.next_token_loss(model(tokens), parts.answer_labels(tokens, lengths, PAD_ID), PAD_ID)


# %% [markdown]
# We judge a model by the probabilities of whole answers, for days that it has never seen: those of the two right ones,
# and of all others together. (The last column, a mean log-probability, is for the section on DPO.)


# %% tags=["hide-input"]
def log_probability(model: nn.Module, days: list[date], form: str, prompt_form: str = CHAT) -> Tensor:
    """Return the log-probability of each day's answer, given its prompt."""
    tokens, lengths = examples(days, prompt_form, form)
    labels = parts.answer_labels(tokens, lengths, PAD_ID)
    return parts.sequence_log_probability(model(tokens)[:, :-1], labels[:, 1:], PAD_ID)


# %% tags=["hide-input"]
@torch.no_grad()
def probabilities(model: nn.Module, prompt_form: str = CHAT) -> dict[str, float]:
    """Return the mean probability of the two right answers and of all others."""
    log_p = [log_probability(model, new_days, form, prompt_form) for form in FORMS]
    dashes, slashes = (each.exp().mean().item() for each in log_p)
    return {
        "dashes": dashes,
        "slashes": slashes,
        "other": 1 - dashes - slashes,
        "log p, dashes": log_p[0].mean().item(),
    }


# %% [markdown]
# **Predict.** Pretraining took 600 steps, SFT takes 60. Afterwards, is the probability of `"other"` answers closest to
# 0.2, 0.5 or 1? And if the 60 steps start from an *untrained* model?

# %% tags=["prediction"]
with_pretraining, without = ..., ...


# %% tags=["hide-input"]
def tuned(model: nn.Module, seed: int) -> nn.Module:
    """Return a fine-tuned copy."""
    random.seed(seed)
    model = copy.deepcopy(model)
    for _ in train(model, 60, 2e-3, sft_loss):
        pass
    return model


# %% tags=["words-only"]
sft = [tuned(pretrained, seed) for seed in range(3)]
rows = {"pretrained, as text": [probabilities(pretrained, TEXT)], "pretrained, asked": [probabilities(pretrained)]}
rows |= {"SFT, asked": [*map(probabilities, sft)], "SFT, as text": [probabilities(model, TEXT) for model in sft]}
rows |= {"SFT alone, asked": [probabilities(tuned(untrained(), seed)) for seed in range(3)]}
runs = pd.concat({name: pd.DataFrame(rows) for name, rows in rows.items()})
median = runs["other"].groupby(level=0).median()
compare(with_pretraining, measured=median["SFT, asked"], choices=(0.2, 0.5, 1.0))
compare(without, measured=median["SFT alone, asked"], choices=(0.2, 0.5, 1.0))
runs.groupby(level=0, sort=False).agg(["min", "max"]).round(2)

# %% id="answers-after-sft" tags=["nbval-ignore-output"]
show(sft[0])

# %% [markdown]
# The knowledge comes from pretraining: without it, the same 60 steps give no right answers. That is a matter of budget,
# not of the kind of text. Our chats hold the same dates, and SFT alone for 660 steps, as many as both stages together,
# is right in 0.95 of the cases (three runs). Real chats are few, and hold much less than the pretraining text.
#
# SFT teaches the form, at a price: asked in the old form, the model has forgotten some of what it knew (**catastrophic
# forgetting**). The usual remedy is **replay**: keep some of the old data in the mix. With one pretraining batch beside
# each batch of chats, the probability of other answers to the old form stays at 0.15 or less, with each seed.

# %% [markdown]
# ### LoRA on all linear layers
#
# LoRA, the optional exercise of lesson 11, trains two small matrices next to each frozen one. Such adapters need about
# ten times the learning rate of full fine-tuning ([Schulman et al.,
# 2025](https://thinkingmachines.ai/blog/lora/)). We put them on all linear layers, or only on `w_q` and `w_v`.


# %% tags=["hide-input"]
def with_adapters(model: nn.Module, seed: int, names: Collection[str]) -> nn.Module:
    """Return a frozen copy whose linear layers with these names have trained adapters of rank 4."""
    random.seed(seed)
    torch.manual_seed(seed)
    model = copy.deepcopy(model).requires_grad_(False)
    layers = [(p, name) for block in model.blocks for p in (block.self_attention, block.feed_forward) for name in names]
    for part, name in layers:
        if hasattr(part, name):
            setattr(part, name, parts.LoRALinear(getattr(part, name), rank=4, alpha=8.0))
    for _ in train(model, 60, 2e-2, sft_loss):
        pass
    return model


# %% tags=["hide-input", "words-only"]
which = {"w_q and w_v": ("w_q", "w_v"), "all linear layers": ("w_q", "w_k", "w_v", "w_o", "w_1", "w_2")}
ways = {"all parameters": sft} | {
    k: [with_adapters(pretrained, seed, v) for seed in range(3)] for k, v in which.items()
}
rows = {}
for way, tuned_models in ways.items():
    other = [probabilities(model)["other"] for model in tuned_models]
    n_trained = sum(p.numel() for p in tuned_models[0].parameters() if p.requires_grad)
    rows[way] = {"numbers trained": n_trained} | {f"other answers, seed {seed}": x for seed, x in enumerate(other)}
pd.DataFrame(rows).T.round(2).astype({"numbers trained": int})

# %% [markdown]
# In 60 steps, and with less than a tenth of the numbers, adapters on all layers teach most of the new form. Adapters on
# two projections of each block teach much less.
#
# <details><summary>Do more steps change that? Do adapters prevent forgetting?</summary>
#
# After 180 steps, other answers have a probability of 0.04 with all parameters, 0.08 to 0.09 with adapters on all
# layers, and 0.16 to 0.18 with adapters on two projections. (Three runs each, each way at the best of the rates we
# tried: 0.002, 0.02 and 0.04.) Adapters don't prevent forgetting: asked in the old form, these models are wrong more
# often than after full fine-tuning. But when you take the adapters out, you have the pretrained model back.
# </details>

# %% [markdown]
# ## Preferences: DPO
#
# Both ways of writing a date are right. Suppose that people prefer dashes. Choosing the better of two answers is easier
# than writing one.
#
# **DPO**, direct preference optimization ([Rafailov et al., 2023](https://arxiv.org/abs/2305.18290)), compares the
# model with a frozen copy from before, the **reference model**. By how much did the log-probability of the chosen
# answer grow, and that of the rejected one? The first gain minus the second is the margin, and the loss of a pair is
#
# $$-\log \sigma(\beta \cdot \text{margin}), \qquad \sigma(z) = \frac{1}{1 + e^{-z}}$$
#
# A larger β keeps the model nearer to the reference.

# %%
text, prompt = ["<bos>", "3 mars 2021", " = ", "2021-03-03", "<eos>"], ["<bos>", "?", "3 mars 2021", ">"]
diagrams.language_model.losses(text, prompt, ["2021-03-03", "<eos>"], ["03/03/2021", "<eos>"])

# %% [markdown]
# **Exercise.** Both answers of a pair have a log-probability from the model and one from the reference. If z is far
# below 0, σ(z) is rounded to 0 and its logarithm is −∞; `nn.functional.logsigmoid` is safe.


# %% id="dpo_loss" tags=["exercise"]
def dpo_loss(
    chosen: Float[Tensor, " batch"],
    rejected: Float[Tensor, " batch"],
    reference_chosen: Float[Tensor, " batch"],
    reference_rejected: Float[Tensor, " batch"],
    beta: float,
) -> Float[Tensor, ""]:
    """Return the mean loss of the pairs."""
    raise NotImplementedError


# %% id="check-dpo_loss"
check(dpo_loss)

# %% [markdown]
# **Predict.** We train with dashes chosen and slashes rejected. After 40 steps, is the log-probability of the *chosen*
# answers higher than at the start (`"up"`), or lower (`"down"`)?

# %% tags=["prediction"]
prediction = ...


# %%
def preference_loss(reference: nn.Module, model: nn.Module) -> Tensor:
    some = random.sample(days, 16)
    pair = [log_probability(model, some, form) for form in FORMS]
    with torch.no_grad():
        before = [log_probability(reference, some, form) for form in FORMS]
    return parts.dpo_loss(*pair, *before, beta=0.1)


# %% tags=["hide-input", "words-only"]
rows, by_dpo = [], []
for reference in sft:
    model = copy.deepcopy(reference)
    rows.append({"step": 0} | probabilities(model))
    for step in train(model, 40, 2e-4, partial(preference_loss, reference)):
        if step in (4, 40):
            rows.append({"step": step} | probabilities(model))
        if step == 4:
            by_dpo.append(copy.deepcopy(model))
by_step = pd.DataFrame(rows).groupby("step")
log_p = by_step["log p, dashes"].median()
factor = math.exp(log_p[40] - log_p[0])  # by which the probability of an answer with dashes changes
compare(prediction, measured="up" if factor > 1 else "down")
by_step.agg(["min", "max"]).round(2)

# %% id="answers-after-dpo" tags=["nbval-ignore-output"]
for name, each in (("after 4 steps:", by_dpo[0]), ("the last model, after 40:", model)):
    print(name, end=" ")
    show(each)

# %% [markdown]
# After four steps the model prefers dashes. But the loss asks only for a *difference*: by step 40 slashes are nearly
# impossible, dashes are less probable than at first, and other answers take their place. This loss of the chosen
# answers themselves is called **likelihood displacement** ([Razin et al., 2024](https://arxiv.org/abs/2410.08847)).
# Adding the SFT loss of the chosen answer helps ([Pang et al., 2024](https://arxiv.org/abs/2404.19733)).

# %% [markdown]
# ## Where rewards come from
#
# Reinforcement learning came first. In **RLHF** ([Christiano et al., 2017](https://arxiv.org/abs/1706.03741); for
# assistants, [Ouyang et al., 2022](https://arxiv.org/abs/2203.02155)), a **reward model** learns from people's choices
# to give each answer a number r. Its loss for a pair is $-\log \sigma(r_\text{chosen} - r_\text{rejected})$. PPO
# (proximal policy optimization) then raises the reward of what the model generates, minus β times its drift from the
# reference. DPO does both in one step: it puts β times an answer's gain in place of r, and nothing has to be sampled.

# %% [markdown]
# Sometimes a program can judge: a proof checks, tests pass, a date is right. Then the program, a *verifier*, gives the
# reward: **RLVR**, reinforcement learning with verifiable rewards ([Lambert et al.,
# 2024](https://arxiv.org/abs/2411.15124)). Reasoning models such as DeepSeek-R1 are trained like this. Only the final
# answer is judged. What comes before it is free and may be as long as it helps: a **chain of thought**.
# DeepSeek-R1-Zero, rewarded only for right answers and their form, came to write longer and longer ones ([DeepSeek-R1,
# 2025](https://arxiv.org/abs/2501.12948)). (A *process reward* judges every step instead. It needs a judge of steps.)

# %% [markdown]
# | | learns from | models in memory |
# |---|---|---|
# | SFT | answers that people wrote | model |
# | SFT on samples | its own that were judged right (*rejection sampling*), or a larger model's (distillation) | model |
# | on-policy distillation | its own samples, each token compared with a larger model's probabilities | model, teacher |
# | RLHF with PPO | its own samples, judged by a reward model | model, reference, reward model, value model |
# | DPO | pairs that people compared | model, reference |
# | GRPO, with verifiable rewards | its own samples, judged by a program | model, and reference if β > 0 |
#
# The value model of PPO (the *critic*) predicts the reward, so that a sample is compared with what was expected. GRPO,
# below, draws several samples of each prompt and compares them with each other.
#
# **Exercise.** Write the judge. An answer is right if it is one of the accepted ones, from its first token to its
# last. Accepted forms end with `<eos>` and are padded after it, as are the answers that the model finished.


# %% id="exact_reward" tags=["exercise"]
def exact_reward(answers: Int[Tensor, "batch n"], accepted: Int[Tensor, "batch n_forms n"]) -> Float[Tensor, " batch"]:
    """Return 1 for each answer that is right, and 0 for each that is not."""
    raise NotImplementedError


# %% id="check-exact_reward"
check(exact_reward)


# %% tags=["hide-input"]
def accepted(days: list[date], n: int = 12) -> Tensor:
    """Return both right answers to each day, (batch, 2, n)."""
    rows = [[*letters.encode(format(day, form)).ids, EOS_ID] for day in days for form in FORMS]
    return nn.functional.pad(padded(rows), (0, n - 11), value=PAD_ID).view(len(days), 2, n)


# %% [markdown]
# ## GRPO: better than its own group
#
# **GRPO**, group relative policy optimization ([Shao et al., 2024](https://arxiv.org/abs/2402.03300)), repeats four
# steps. In the words of reinforcement learning, the model is the **policy**.
#
# 1. Draw G answers to each of several prompts: the answers to one prompt are a *group*.
# 2. Let the judge give each answer its reward.
# 3. Compare: the **advantage** of an answer is its reward minus the mean of its group, in standard deviations.
# 4. Raise the probability of all tokens of an answer in proportion to its advantage; a negative advantage lowers it.
#
# **Exercise.** Write step 3. Each row is a group. The variance is the mean of the squared differences (`correction=0`
# in torch), and `eps` is added to the standard deviation, which may be 0.


# %% id="group_advantages" tags=["exercise"]
def group_advantages(
    rewards: Float[Tensor, "n_prompts n_samples"], eps: float = 1e-4
) -> Float[Tensor, "n_prompts n_samples"]:
    """Return how far each reward is above the mean of its group, in standard deviations of the group."""
    raise NotImplementedError


# %% id="check-group_advantages"
check(group_advantages)

# %% [markdown]
# **Predict.** Two groups of four. In one, a single answer is right; in the other, all four are. What is the advantage
# of the single right answer, to one decimal, and what is that of each of the four?

# %% tags=["prediction"]
alone, of_four = ..., ...

# %%
advantages = parts.group_advantages(torch.tensor([[1.0, 0, 0, 0], [1, 1, 1, 1]]))
compare(alone, measured=round(advantages[0, 0].item(), 1))
compare(of_four, measured=round(advantages[1, 0].item(), 1))
diagrams.post_training.group(
    "?3 mars 2021>",
    ["2021-03-03", "2021-03-13", "03/05/2021", "2021-03-3"],
    [1.0, 0.0, 0.0, 0.0],
    advantages[0].tolist(),
)

# %% [markdown]
# A rare success counts for a lot. In a group in which all answers are right, or all are wrong, every advantage is 0. So
# prompts should be neither too easy nor too hard.

# %% [markdown]
# <details><summary>Why does step 4 raise the mean reward?</summary>
#
# The gradient of the mean reward is the mean of r ∇ log p over the model's *own*
# samples (REINFORCE, [Williams, 1992](https://doi.org/10.1007/BF00992696)): that of SFT, each sample weighted by its
# reward r. You may subtract from r any number that does not depend on the sample, since the mean of ∇ log p is 0. On
# average that changes nothing but the noise, which shrinks: hence advantages. (The group's mean contains the sample
# itself, which only makes the gradient 1 − 1/G times as long.)
# </details>

# %% [markdown]
# ### The loss
#
# Sampling is slow, so each batch of samples serves for several updates. After the first, the model is no longer the
# one that generated them. Three things keep this safe, at every token:
#
# - the *ratio* $\rho = e^{\log p - \log p_\text{before}}$ of its probability now to that when it was sampled;
# - the **clip** of PPO ([Schulman et al., 2017](https://arxiv.org/abs/1707.06347)): a ratio beyond 1 ± ε gains nothing
#   more. The gain is $\min(\rho A,\ \operatorname{clip}(\rho, 1-\varepsilon, 1+\varepsilon)\,A)$, where A is the
#   advantage;
# - the *drift* from the reference, $e^{d} - d - 1$ with $d = \log p_\text{reference} - \log p$. It is never negative.
#   Averaged over the model's samples it is the **KL divergence** of the model from the reference (this estimate is
#   called *k3*).

# %% id="clip"
ratio = torch.linspace(0.5, 1.5, 101)
gains = {f"A = {a:+d}": torch.minimum(ratio * a, ratio.clamp(0.8, 1.2) * a) for a in (1, -1)}
ax = plots.lines(ratio, gains, "ratio ρ", "gain, with ε = 0.2")

# %% [markdown]
# Where a line is flat, the gradient is 0: beyond 1.2 if A = 1, below 0.8 if A = −1. A token that moved the wrong way
# is on a slope, so it can come back.
#
# The loss is minus the mean of gain − β · drift over all tokens that the model generated.
#
# **Exercise.** Write it. `real` is False at prompts and padding. Every real token of the batch counts the same.


# %% id="grpo_loss" tags=["exercise"]
def grpo_loss(
    log_p: Float[Tensor, "batch n"],
    log_p_before: Float[Tensor, "batch n"],
    log_p_reference: Float[Tensor, "batch n"],
    advantages: Float[Tensor, " batch"],
    real: Bool[Tensor, "batch n"],
    clip: float,
    beta: float,
) -> Float[Tensor, ""]:
    """Return the loss of GRPO; the three log-probabilities are those of the sampled tokens."""
    raise NotImplementedError


# %% id="check-grpo_loss"
check(grpo_loss)


# %%
def token_log_p(model: nn.Module, tokens: Tensor) -> Tensor:
    """Return the log-probability of each token after the first, (batch, n − 1)."""
    texts, which = tokens.unique(dim=0, return_inverse=True)  # read no text twice
    return model(texts)[:, :-1].log_softmax(dim=-1).gather(-1, texts[:, 1:, None])[which, :, 0]


# %%
def group_losses(
    model: nn.Module, reference: nn.Module, reward: Callable, beta: float, rewards: list[float]
) -> Iterator[Tensor]:
    """Draw batches of 24 prompts with 8 samples each, and yield the loss of each batch twice."""
    while True:
        some = random.sample(days, 24)
        tokens, lengths = sample(model, [CHAT.format(french[day]) for day in some], 8)
        right = reward(answers_in(tokens, lengths), accepted(some).repeat_interleave(8, dim=0))
        rewards.append(right.mean().item())
        advantages = parts.group_advantages(right.view(24, 8)).flatten()
        real = parts.answer_labels(tokens, lengths, PAD_ID)[:, 1:] != PAD_ID
        log_p = token_log_p(model, tokens)
        before = log_p.detach()
        with torch.no_grad():
            at_first = token_log_p(reference, tokens) if beta else before  # β = 0: the reference does not count
        yield parts.grpo_loss(log_p, before, at_first, advantages, real, 0.2, beta)
        yield parts.grpo_loss(token_log_p(model, tokens), before, at_first, advantages, real, 0.2, beta)


# %%
def grpo(
    reference: nn.Module, reward: Callable, seed: int, rate: float = 5e-4, beta: float = 0.0
) -> tuple[nn.Module, list[float]]:
    """Return a copy of the reference after 40 batches, and the mean reward of each."""
    random.seed(seed)
    _ = torch.manual_seed(seed)
    model, rewards = copy.deepcopy(reference), []
    losses = group_losses(model, reference, reward, beta, rewards)
    for _ in train(model, 80, rate, lambda _: next(losses)):
        pass
    return model, rewards


# %% tags=["hide-input"]
def smooth(rewards: tuple[list[float], ...] | Tensor) -> Tensor:
    """Return the mean reward of each batch and the four before it, for each run."""
    return torch.as_tensor(rewards).unfold(1, 5, 1).mean(dim=-1)


# %% [markdown]
# **Predict.** SFT leaves both forms about equally frequent, and the judge accepts either. After 40 batches, what
# fraction of the right answers has the rarer form: 0.1, 0.3 or 0.5?

# %% tags=["prediction"]
prediction = ...

# %% tags=["words-only"]
by_grpo, rewards = zip(*(grpo(model, parts.exact_reward, seed) for seed, model in enumerate(sft)))
judged = {"SFT": sft, "GRPO": by_grpo}
runs = pd.concat({name: pd.DataFrame(map(probabilities, models)) for name, models in judged.items()})
right = runs[["dashes", "slashes"]]
rarer = (right.min(axis=1) / right.sum(axis=1)).groupby(level=0).median()
compare(prediction, measured=rarer["GRPO"], choices=(0.1, 0.3, 0.5))
ax = plots.lines(range(5, 41), {"exact judge": smooth(rewards)}, "batch", "mean reward of the last 5 batches")
runs[["dashes", "slashes", "other"]].groupby(level=0, sort=False).agg(["min", "max"]).round(2)

# %% id="answers-after-grpo" tags=["nbval-ignore-output"]
for name, models in judged.items():
    print(f"{name}:", end=" ")
    show(models[0])

# %% tags=["approximate"]
print("right more often, with each model:", (runs.loc["GRPO", "other"] < runs.loc["SFT", "other"]).all())

# %% [markdown]
# GRPO showed the policy no right answer: it found them among its own samples. It is right more often than the model it
# started from. With fewer prompts to a batch, the gradient is noisier: in three other runs with 6 instead of 24, the
# reward first fell by 0.1 to 0.2, and the policies ended at 0.84 to 0.90 right.
#
# In at least one of the three models, one form is dying out, though the judge prefers neither: what is sampled more
# often is raised more often, so a small lead can grow.

# %% [markdown]
# This **loss of diversity** (also *mode collapse* or *entropy collapse*) is a price of reinforcement learning, and a
# reason for β. In three runs with β = 0.3, both forms stayed, and 0.02 to 0.03 fewer answers were right.

# %% [markdown]
# ### Six losses in one table
#
# ρ is the ratio of a token, A the advantage, r the reward, y an answer of $\lvert y \rvert$ tokens:
#
# | | what is raised | A | averaged over |
# |---|---|---|---|
# | PPO | $\min(\rho A, \operatorname{clip}(\rho, 1 \pm \varepsilon) A)$ | r − a value model's guess | all tokens |
# | DPO | $\log \sigma(\beta \cdot \text{margin})$ | none: pairs | pairs |
# | GRPO | as PPO, minus β · drift | (r − mean) / std of the group | tokens of an answer, then answers |
# | Dr. GRPO | as PPO | r − mean | sum over tokens, divided by a constant |
# | DAPO | $\min(\rho A, \operatorname{clip}(\rho, 0.8, 1.28) A)$ | as GRPO; no groups of equal rewards | all tokens |
# | GSPO | as PPO, ρ of an answer: $(p / p_\text{before})^{1/\lvert y \rvert}$ | as GRPO | answers |
#
# Yours averages as [DAPO](https://arxiv.org/abs/2503.14476) does;
# [GSPO](https://arxiv.org/abs/2507.18071) clips whole answers.
#
# <details><summary>What do the divisions change?</summary>
#
# Averaging within each answer punishes each token of a long wrong answer less, so wrong answers may grow: Liu et al.
# (the paper of Dr. GRPO) attribute part of the length of R1-Zero's chains to the loss. Dividing by the standard
# deviation gives more weight to prompts that are nearly always right or wrong.
# </details>

# %% [markdown]
# ## Reward hacking
#
# A policy does not learn what you mean. It learns what is rewarded. If it raises its reward through a gap in the
# judge, that is called **reward hacking**.
#
# ### Bug hunt
#
# A colleague's policy has the best rewards of the whole team, but its users complain. Which line of her judge is wrong?
# Decide *before* you run the check, and before you see what her policy says. Then put a corrected version, `mended`,
# into the cell after it.


# %% tags=["bug-hunt"]
def reward_of_a_colleague(answers, accepted):
    written = answers > EOS_ID  # neither the end nor padding
    same = (answers[:, None] == accepted) | ~written[:, None]
    return same.all(dim=-1).any(dim=-1).float()


# %% id="mend-reward"
mended = reward_of_a_colleague

# %% id="check-mend-reward"
check(mended, "exact_reward", save=False)

# %% [markdown]
# <details><summary>How to find such a bug without a check</summary>
#
# Try to cheat: give the judge what should get nothing, such as an empty answer, one that is cut off, or one that goes
# on too long. This judge compares only where something was *written*, so whatever is cut off is right as far as it
# goes, and an answer of no tokens at all has nothing wrong with it. Python's `zip`, which stops at the shorter of two
# texts, makes the same mistake.
# </details>

# %%
empty, cut_off = torch.full((1, 12), PAD_ID), accepted([date(2021, 3, 3)])[:, 0].clone()
empty[0, 0], cut_off[0, 4], cut_off[0, 5:] = EOS_ID, EOS_ID, PAD_ID
for name, answer in {"nothing at all": empty, letters.decode(cut_off[0].tolist()): cut_off}.items():
    judges = (reward_of_a_colleague, parts.exact_reward)
    print(f"{name}:", *(judge(answer, accepted([date(2021, 3, 3)])).item() for judge in judges))

# %% [markdown]
# **Predict.** We train with her judge, at twice the learning rate. What mean reward will it give the last ten batches:
# 0.6, 0.8 or 1? And what fraction of the answers to new dates is then really right: nearest to 0, 0.4 or 0.8? As a
# control, the exact judge trains at the same rate.

# %% tags=["prediction"]
her_reward, really_right = ..., ...

# %% id="both-judges" tags=["hide-input"]
really = []  # what the exact judge says of the same samples


def her_judge_watched(answers: Tensor, accepted: Tensor) -> Tensor:
    really.append(parts.exact_reward(answers, accepted).mean().item())
    return reward_of_a_colleague(answers, accepted)


# %% tags=["hide-input", "words-only"]
hacked, hacked_rewards = zip(*(grpo(model, her_judge_watched, seed, rate=1e-3) for seed, model in enumerate(sft)))
fair, _ = zip(*(grpo(model, parts.exact_reward, seed, rate=1e-3) for seed, model in enumerate(sft)))
curves = {"reward of her judge": torch.tensor(hacked_rewards), "really right": torch.tensor(really).view(3, -1)}
right = pd.DataFrame(map(probabilities, hacked))[["dashes", "slashes"]].sum(axis=1)
compare(her_reward, measured=curves["reward of her judge"][:, -10:].mean().item(), choices=(0.6, 0.8, 1.0))
compare(really_right, measured=right.median(), choices=(0, 0.4, 0.8))
worst = hacked[right.argmin()]  # of the three, the one with the fewest right answers
by_judge = judged | {"her judge": hacked, "exact judge, same rate": fair}
print("right:", {name: [round(1 - probabilities(m)["other"], 2) for m in models] for name, models in by_judge.items()})
ax = plots.lines(
    range(5, 41), {name: smooth(curve) for name, curve in curves.items()}, "batch", "mean reward of the last 5 batches"
)

# %% id="answers-of-the-hacker" tags=["nbval-ignore-output"]
show(worst)

# %% [markdown]
# Both judges have seen the same samples. Compare the three runs in the line `right`; the samples come from the worst.
# In nine of ten runs of this lesson, most of its answers are wrong: the policy stumbled on a cut-off answer, was
# rewarded for it, and produced more of them. By *her* reward alone, this run is a success. Samples show the failure,
# and so does a second judge that the policy was not trained on.

# %% [markdown]
# What does the damage depend on? On the judge *and* on the rate: at this rate, with the exact judge, more answers are
# right than after SFT. Here is the fraction of right answers after 40 batches, in three other runs each:
#
# | prompts × samples | rate | exact judge | her judge |
# |---|--:|---|---|
# | 6 × 8 | 0.0005 | 0.84, 0.88, 0.90 | 0.74, 0.81, 0.84 |
# | 6 × 8 | 0.001 | 0.79, 0.84, 0.90 | 0.79, 0.69, 0.81 |
# | 24 × 8 | 0.0005 | 0.93, 0.94, 0.94 | 0.92, 0.87, 0.83 |
# | 24 × 8 | 0.001 | 0.95, 0.95, 0.95 | 0.14, 0.00, 0.02 |
#
# At the lower rate, or with few prompts, her judge does little harm within 40 batches: the policy has hardly found the
# gap. A better optimizer finds more gaps.

# %% [markdown]
# <details><summary>Does a learned reward model have such gaps?</summary>
#
# Many, because it only imitates people's judgment. One gap is a preference for long answers ([Singhal et al.,
# 2023](https://arxiv.org/abs/2310.03716)). At first the reward rises together with the real quality of the answers;
# later it keeps rising while the quality falls ([Gao et al., 2022](https://arxiv.org/abs/2210.10760)). There, β acts as
# a brake, although it does not fix the judge. Where a program judges, many set β to 0 and fix the program.
# </details>

# %% [markdown]
# ## ★ Transfer: pass@1 and pass@k
#
# A model right in 8 of 10 samples of any question, and one always right on 8 of 10 questions and never on the others,
# have the same mean reward. If you may try k times and a program picks the answer, the first is better: **pass@k** is
# the probability that at least one of k samples is right.
#
# To estimate it, draw n ≥ k samples, of which c are right, and ask how probable it is that k of them, drawn without
# replacement, include a right one ([Chen et al., 2021](https://arxiv.org/abs/2107.03374)). That is right on average; 1
# − (1 − c/n)^k is too low.
#
# **Exercise.** Write the estimate. `math.comb(n, k)` is the number of ways of choosing k of n.


# %% id="pass_at_k" tags=["exercise"]
def pass_at_k(n: int, c: int, k: int) -> float:
    """Return the probability that at least one of k samples is right, where c of n were."""
    raise NotImplementedError


# %% id="check-pass_at_k"
check(pass_at_k)

# %% [markdown]
# **Predict.** From SFT to GRPO, pass@1 grows. What about pass@16: does it grow by more (`"more"`), or by less, or even
# fall (`"less"`)?

# %% tags=["prediction"]
prediction = ...


# %% tags=["hide-input"]
def passes(model: nn.Module, n: int = 16) -> dict[str, float]:
    """Return pass@k over new days, for several k."""
    some = new_days[:50]
    answers = answers_in(*sample(model, [CHAT.format(french[day]) for day in some], n))
    right = parts.exact_reward(answers, accepted(some).repeat_interleave(n, dim=0)).view(len(some), n).sum(dim=1)
    return {f"pass@{k}": sum(parts.pass_at_k(n, int(c), k) for c in right) / len(some) for k in (1, 2, 4, 8, 16)}


# %% tags=["hide-input", "approximate"]
_ = torch.manual_seed(0)
runs = pd.concat({name: pd.DataFrame(map(passes, models)) for name, models in judged.items()})
gained = (runs.loc["GRPO"] - runs.loc["SFT"]).median()
compare(prediction, measured="more" if gained["pass@16"] / gained["pass@1"] > 1 else "less")
lines = {name: torch.tensor(runs.loc[name].to_numpy()) for name in judged}
ax = plots.lines((1, 2, 4, 8, 16), lines, "k", "pass@k")
runs.groupby(level=0, sort=False).mean().round(2)

# %% [markdown]
# With 16 tries, the model was right on nearly every date before any reward, so pass@16 had little room to grow. On this
# task GRPO has mostly made probable what was possible: it raises pass@1, and pass@16 less, if at all. Whether it does
# more for large models is disputed ([Yue et al., 2025](https://arxiv.org/abs/2504.13837)); in any case, report both.

# %% [markdown]
# ## Room to think
#
# A date is one step: there is nothing to think about. Here is a task of four steps. The table `cfaebd` sends a to c, b
# to f, c to a, and so on. Start at a letter and follow the table four times: where do you end? The answer may be the
# last letter alone, or the way there, one letter for each hop.


# %% tags=["hide-input"]
def puzzle(alphabet: str = "abcdef", n_hops: int = 4) -> tuple[str, str]:
    """Draw a question: a table and a letter to start from; return it with the letters on the way."""
    table, letter, way = random.sample(alphabet, len(alphabet)), random.choice(alphabet), ""
    question = f"?{''.join(table)} {letter}>"
    for _ in range(n_hops):
        letter = table[alphabet.index(letter)]
        way += letter
    return question, way


# %% id="a-puzzle"
random.seed(0)
question, way = puzzle()
print(f"question {question}   worked out {way}   at once {way[-1]}")

# %% [markdown]
# We fine-tune an untrained GPT on such questions: 70 % of the answers are worked out, the others given at once. Then
# GRPO runs 40 batches of 24 prompts with 8 samples. The judge reads **only the last letter**, so nothing rewards a long
# answer as such. Two controls change one thing each: a loss averaged within each answer, and a judge that gives rewards
# at random. (`authoring/train_room_to_think.py` made these runs, three of each kind.)
#
# **Predict.** After GRPO, what fraction of the answers is worked out: closest to 0.3, 0.7 or 1?

# %% tags=["prediction"]
prediction = ...

# %% id="room-to-think-runs" tags=["hide-input"]
stored_runs = pd.DataFrame(read_json(FOLDER / "room-to-think" / "runs.json")["runs"])
after = stored_runs[stored_runs["stage"] == "GRPO"]
compare(prediction, measured=after["worked out"].median(), choices=(0.3, 0.7, 1.0))
lengths_of_answers = {"GRPO": smooth(after["letters by batch"].tolist())}
ax = plots.lines(range(5, 41), lengths_of_answers, "batch", "letters in an answer")
stored_runs.drop(columns=["reward by batch", "letters by batch", "seed"]).groupby("stage", sort=False).mean().round(2)

# %% [markdown]
# Nobody asked for longer answers. If the judge reads them, they grow from 3 to nearly 4 letters, whichever way the loss
# is averaged, because worked-out answers pay: before GRPO they are right in 0.86 to 0.94 of the cases, answers given at
# once in 0.36 to 0.42. With random rewards, 0.37 to 0.87 of the answers are worked out after GRPO (the table has the
# means of three runs), and 0.24 to 0.62 are right.
#
# Each token gets one pass through two blocks. Worked out, a pass has to make one hop; at once, it has to make four.

# %% [markdown]
# A **majority vote** takes the most frequent of 16 answers. It needs no judge and is right in at least 0.96 of the
# cases before any reward. Spending computation on each answer like this is called **test-time compute**. pass@16 counts
# a puzzle as solved if one of 16 answers is right. It is 1.0 from the start: GRPO made probable what was possible.

# %% [markdown]
# ## A chat with a real model
#
# [SmolLM2](https://huggingface.co/HuggingFaceTB/SmolLM2-135M-Instruct) has 135 million parameters, a thousand times as
# many as yours, and went through pretraining, SFT and DPO. Ours is a copy in 4 bits (lesson 10). The first run of the
# next cell downloads 93 MB; without it, you see stored answers.

# %% id="chat-model" tags=["nbval-ignore-output"]
where = published_in_lesson("smollm2", "14_post_training")


# %% id="chat-template" tags=["published-model", "nbval-ignore-output"]
def chat_text(messages: list[tuple[str, str]]) -> str:
    """Return SmolLM2's chat template filled in: a turn for each message, and the start of the answer."""
    turns = [f"<|im_start|>{role}\n{content}<|im_end|>\n" for role, content in messages]
    return "".join(turns) + "<|im_start|>assistant\n"


def reply(messages: list[tuple[str, str]], temperature: float = 0.0, max_new_tokens: int = 40) -> str:
    return chat_model.generate([chat_text(messages)], max_new_tokens, temperature)[0]


chat_model = TextGenerator.load(where)
capital = [("user", "What is the capital of France?")]
print(chat_text(capital) + reply(capital))

# %% [markdown]
# The template marks the turns. What if you leave it out, or ignore the token `<|im_end|>`, which stops the answer?

# %% id="chat-without" tags=["published-model", "nbval-ignore-output"]
print("no template:  ", repr(chat_model.generate(["What is the capital of France?"], 40, 0.0)[0]))
chat_ids = torch.tensor([chat_model.tokenizer.encode(chat_text(capital)).ids])
with torch.no_grad():  # your loop of lesson 09 stops at no token
    endless = parts.generate(chat_model.model, chat_ids, 30, 2048, lambda logits: logits.argmax(dim=-1))
new_ids = endless[0, chat_ids.shape[1] :].tolist()
print("no stop:      ", repr(chat_model.tokenizer.decode(new_ids, skip_special_tokens=False)))

# %% [markdown]
# Without the template there is no assistant whose turn it is, and the model ends the text at once. If nothing stops it,
# it still writes `<|im_end|>`, but goes on: it invents a new chat and asks itself a question.
#
# A **system prompt** is a first turn that says how to behave. A higher temperature makes answers more varied, and
# finally nonsense.

# %% id="chat-system" tags=["published-model", "nbval-ignore-output"]
for system in ("You are a pirate. Talk like a pirate.", "You are a polite butler."):
    print(system, "→", reply([("system", system), ("user", "Who are you?")], max_new_tokens=25))
_ = torch.manual_seed(0)
for temperature in (0.0, 0.7, 1.5):
    three = [reply([("user", "Suggest a name for a cat.")], temperature, 12) for _ in range(3)]
    print(f"temperature {temperature}:", *map(repr, three))

# %% [markdown]
# A model has no memory but its context: every turn reads the whole chat again. When the chat no longer fits, the oldest
# turns are usually dropped.


# %% id="chat-context" tags=["hide-input", "published-model", "nbval-ignore-output"]
def newest(messages: list[tuple[str, str]], max_tokens: int) -> list[tuple[str, str]]:
    """Drop the oldest messages until the chat fits."""
    while len(chat_model.tokenizer.encode(chat_text(messages)).ids) > max_tokens:
        messages = messages[1:]
    return messages


chat = [("user", "My cat is called Tiger."), ("assistant", "What a nice name for a cat!")]
chat += [*capital, ("assistant", "The capital of France is Paris.")]
chat += [("user", "What is my cat called?")]
for max_tokens in (200, 50):
    kept = newest(chat, max_tokens)
    print(f"room for {max_tokens} tokens, {len(kept)} of {len(chat)} messages kept:", repr(reply(kept)))

# %% [markdown]
# The first turn is gone, so the model makes up a name and sounds just as sure: it **hallucinates**.
#
# ### A tool call
#
# The model calculates badly. Let it write the calculation instead; a program puts the result into the text. Two
# examples show the form.


# %% id="tool-call" tags=["hide-input", "published-model", "nbval-ignore-output"]
with_calls = [("system", "Write each calculation as <calc>a * b</calc>. The result appears after it.")]
with_calls += [("user", "What is 12 times 11?"), ("assistant", "<calc>12 * 11</calc> = 132.")]
with_calls += [("user", "How much is 305 plus 98?"), ("assistant", "<calc>305 + 98</calc> = 403.")]


def with_calculator(question: str) -> str:
    """Let the model write up to the end of its call, compute the call, and let the model continue."""
    call, end, _ = reply([*with_calls, ("user", question)]).partition("</calc>")
    parsed = re.fullmatch(r"<calc>(\d+) ([-+*]) (\d+)", call)
    if not (end and parsed):
        return call
    a, b = int(parsed[1]), int(parsed[3])
    result = {"+": a + b, "-": a - b, "*": a * b}[parsed[2]]
    called = f"{call}</calc> = {result}."
    return called + chat_model.generate([chat_text([*with_calls, ("user", question)]) + called], 20, 0.0)[0]


for asked in ("What is 417 times 23?", "What is 88 minus 19?", "What is the capital of France?"):
    unaided = reply([*with_calls, ("user", asked)], max_new_tokens=20)
    print(asked, "| alone:", unaided, "| with the calculator:", with_calculator(asked))

# %% [markdown]
# With the calculator, both results are right. But this small model answers the third question with a sum.
# Larger models are trained to decide *when* to call a tool.
#
# An **agent** repeats this in a loop: the model writes a call, a program runs it and appends the result as a turn of
# its own, and the model reads on, until it answers or a limit is reached. GRPO trains agents, too: a group is several
# whole runs of one task, a test at the end gives the reward, and the loss leaves out the tokens that the tools wrote.
# Such runs are long, errors add up over many calls, and one reward has to account for all of them.
#
# Now chat yourself:

# %% id="your-chat" tags=["published-model", "nbval-ignore-output"]
print(reply([("user", "Tell me a very short story about a robot.")], temperature=0.7, max_new_tokens=80))

# %% [markdown]
# ## Your experiment
#
# Ungraded, 20 minutes beyond those in the title. Test a claim of your own as this lesson tests its claims, or start
# with this one:
#
# **Claim.** With β = 0.3, the policy keeps both forms: the rarer one has a larger fraction of the right answers than
# with β = 0.
#
# **Prediction.** Before you run anything, write down in how many of three runs the claim will hold.
#
# **Verdict.** Say in one sentence what the runs show. A claim that fails is a result, too.

# %% id="experiment" tags=["experiment", "skip-execution"]
prediction = ...  # in how many of the three runs will the claim hold?
holds = []
for seed in range(3):
    held, _ = grpo(sft[seed], parts.exact_reward, seed, beta=0.3)
    holds.append(...)  # compare probabilities(held) with probabilities(by_grpo[seed]): True or False
print("predicted:", prediction, " measured:", holds)
# Verdict:

# %% [markdown]
# ## In short
#
# - A chat template makes one text of a chat. SFT counts only the tokens of the answers.
# - DPO compares two answers, under the model and under a frozen reference. Only their difference counts.
# - GRPO samples a group of answers, judges each, and makes those that beat their group more probable, within a clip; β
#   keeps it near the reference.
# - What is rewarded is learned, gaps in the judge included. Read samples, and keep a second judge.
# - Here pass@1 grew, pass@16 hardly; diversity fell.
# - With room to think, our policy came to work out every answer, since worked-out answers were right more often. With
#   random rewards it did not.

# %%
table = trace_shapes(pretrained, torch.zeros(48, 35, dtype=torch.long)).drop(columns="class")
top = table["module"].str.count(r"\.") < 3
table[top & ~table["module"].str.startswith("blocks.1.")].replace({"module": {"": "GPT"}}).reset_index(drop=True)

# %% [markdown]
# ## What you have built
#
# Your date, asked at every stage. The next cells make a page to keep, to print or to send: what your translator of
# lesson 08, your GPT of lesson 09 and your models of this lesson say, and which parts are your own.

# %% tags=["nbval-ignore-output"]
stages = {"pretrained": pretrained, "SFT": sft[0], "DPO": by_dpo[0], "GRPO": by_grpo[0], "her judge": worst}
for name, model in stages.items():
    print(name.rjust(10), end=":  ")
    show(model)


# %% tags=["hide-input"]
class Transformer(nn.Module):
    """Your Transformer of lesson 08: your encoder and your decoder, with one embedding."""

    def __init__(self, **sizes: int) -> None:
        super().__init__()
        self.encoder, self.decoder = parts.Encoder(*sizes.values()), parts.Decoder(*sizes.values())
        self.decoder.embedding = self.encoder.embedding

    def forward(self, source: Tensor, target: Tensor) -> Tensor:
        mask = parts.padding_mask(source, PAD_ID)
        memory = self.encoder(source, mask)
        return self.decoder(target, memory, parts.decoder_mask(target, PAD_ID), mask) @ self.encoder.embedding.weight.T


@torch.no_grad()
def in_french(sentence: str) -> str:
    source = torch.tensor([[*messages.tokenizer.encode(sentence).ids, EOS_ID]])
    ids = parts.greedy_decode(translator, source, BOS_ID, EOS_ID, 40)[0].tolist()
    return messages.tokenizer.decode(ids[: ids.index(EOS_ID)] if EOS_ID in ids else ids)


messages, plays = trained("messages-en-fr"), trained("gpt-plays")
translator, actor = messages.load_into(Transformer(**messages.sizes)), plays.load_into(parts.GPT(**plays.sizes))

# %%
your_name = ""
your_sentences = ["The battery is low.", "The door is open.", "The temperature is too high."]
first_line = "ROMEO: Who art thou, and what is thy business here?\n\n"
your_chat = [("user", "What is the capital of France?"), ("assistant", "The capital of France is Paris.")]
clinic_score = None  # the sum of the scores that lesson 12 showed you

# %% id="your-page" tags=["hide-input", "nbval-ignore-output"]
_ = torch.manual_seed(2)
line = torch.tensor([plays.tokenizer.encode(first_line).ids])
scene = parts.generate(actor, line, 120, 128, partial(parts.sample_next, temperature=0.7, top_p=0.9))[0]
page = FinalPage(
    your_name,
    {lesson.partition("_")[0]: row for lesson, row in whose_parts().items()},
    {name: most_frequent(model) for name, model in stages.items()},
    {sentence: in_french(sentence) for sentence in your_sentences},
    plays.tokenizer.decode(scene.tolist()),
    your_chat,
    predictions_in_record(),
    clinic_score,
)
page.save()

# %% [markdown]
# Now read what trains published models: in `grpo_trainer.py` of TRL, `coef_1` is your ratio, `coef_2` the clipped one,
# and `per_token_kl` your drift.
#
# What next? `docs/capstones.md` has four projects for a weekend, and a race.

# %% [markdown]
# ## New words
#
# The words of all lessons are in the [glossary](glossary.ipynb).
#
# - **chat template**: the rule that turns the messages of a chat into one text, with special tokens that mark who
#   speaks.
# - **supervised fine-tuning**: training a pretrained model on prompts with good answers; only the answers count.
# - **catastrophic forgetting**: losing, while something new is learned, what was learned before.
# - **DPO**: direct preference optimization, a loss that makes a chosen answer gain more than a rejected one.
# - **reference model**: a frozen copy from before this training, near which the model is held.
# - **likelihood displacement**: the fall of a chosen answer's own probability while it is preferred to another.
# - **RLHF**: reinforcement learning from human feedback: raising the reward that a model of people's choices gives.
# - **reward model**: a model that predicts, as a number, how much people would like an answer.
# - **RLVR**: reinforcement learning with verifiable rewards: a program judges the answers.
# - **policy**: in reinforcement learning, the model that acts; here, the one that generates the answers.
# - **GRPO**: group relative policy optimization: samples of one prompt are compared with their group, and what is
#   better than the group is made likelier.
# - **advantage**: by how much a sample was better than expected.
# - **clip**: in PPO and GRPO, the limit beyond which a change of probability gains nothing more.
# - **KL divergence**: how far one distribution is from another: the mean difference of log-probabilities, over
#   samples of the first.
# - **loss of diversity**: the concentration of a policy on a few of the right answers.
# - **reward hacking**: raising the reward through a gap in the judge, and not by what was meant.
# - **pass@k**: the probability that at least one of k samples is right.
# - **chain of thought**: what a model writes before its answer, and reads while it answers.
# - **test-time compute**: computation spent on an answer, by longer chains of thought or by more samples.
# - **agent**: a model in a loop that calls tools and reads their results until the task is done.

# %% [markdown]
# ## Interview questions
#
# Answer aloud first; the section named in each answer has the cell that shows it.
#
# <details><summary>Why does the loss of supervised fine-tuning leave the prompt out?</summary>
#
# The model should learn to answer prompts, not to invent them. It still reads the prompt. (<i>Supervised
# fine-tuning</i>)
# </details>
#
# <details><summary>What does a chat template do, and what happens if you use another model's?</summary>
#
# It makes one text of the messages, with special tokens for the roles and the end of a turn. In a form that it was
# not tuned on, a model may go on as its training text does, like ours before SFT. (<i>The chat form</i>)
# </details>
#
# <details><summary>With DPO, the loss falls, and the answers get worse. Why?</summary>
#
# The loss sees only the difference of two gains. It can fall while *both* answers become less likely and others more:
# likelihood displacement. Watch the log-probability of the chosen answer. (<i>Preferences</i>)
# </details>
#
# <details><summary>Which models does PPO keep in memory, and which does GRPO?</summary>
#
# PPO: policy, reference, reward model and value model. GRPO compares samples of one prompt with each other, so it needs
# no value model; if a program judges, no reward model either. (<i>Where rewards come from</i>)
# </details>
#
# <details><summary>In GRPO without β, all answers to a prompt are right. What is learned from it?</summary>
#
# Nothing: all advantages are 0. The same holds where all are wrong, so prompts should be neither too easy nor too hard.
# With β, the drift still pulls the model toward the reference. (<i>GRPO</i>)
# </details>

# %% [markdown]
# <details><summary>Why take the smaller of the clipped and the unclipped gain?</summary>
#
# Beyond the limit, going further in the right direction gains nothing. But a token that went the wrong way keeps its
# gradient, so it can come back; the clipped gain alone would leave it there. (<i>GRPO</i>)
# </details>
#
# <details><summary>How do you notice reward hacking?</summary>
#
# Not by the reward. Read samples, and evaluate with a second judge that the policy was not trained against. (<i>Reward
# hacking</i>)
# </details>
#
# <details><summary>How do you estimate pass@k from n samples?</summary>
#
# 1 − C(n − c, k) / C(n, k), with c right ones: the chance that k of the n, drawn without replacement, are not all
# wrong. 1 − (1 − c/n)^k is too low on average. (<i>★ Transfer</i>)
# </details>
#
# <details><summary>After reinforcement learning, pass@1 is higher. Has the model learned something new?</summary>
#
# Not necessarily: compare pass@k. If the old model was already right in one of k tries, what was possible has become
# probable, and diversity has fallen. (<i>★ Transfer</i>)
# </details>
#
# <details><summary>Why do chains of thought help, and why do they grow in reinforcement learning?</summary>
#
# Each token gets a fixed amount of computation. Written-out steps spread a long computation over many tokens, and later
# tokens can read the earlier ones. Our answers grew because longer ones were right, and so rewarded, more often: with
# random rewards they did not. In large models, a loss averaged within each answer may add growth that is not thinking.
# (<i>Room to think</i>)
# </details>
#
# <details><summary>Why does a chat model need a stop token and its own template?</summary>
#
# The text of a chat has no other mark of whose turn it is. Without the template, nothing says that an answer is due; if
# nothing stops at its token, the model goes on and writes the user's next turn, too. (<i>A chat with a real model</i>)
# </details>

# %% [markdown]
# ## What to read next
#
# - Ouyang et al. (2022), [arXiv:2203.02155](https://arxiv.org/abs/2203.02155): RLHF for assistants, in three stages.
# - Rafailov et al. (2023), [arXiv:2305.18290](https://arxiv.org/abs/2305.18290): DPO.
# - Shao et al. (2024), [arXiv:2402.03300](https://arxiv.org/abs/2402.03300): GRPO, in section 4.
# - Liu et al. (2025), [arXiv:2503.20783](https://arxiv.org/abs/2503.20783): what the divisions in GRPO's loss do.
# - `transformer_lab/training/fine_tuning.py`: the library's losses of SFT and DPO.

# %% [markdown]
# How far did you get, and how well did you predict?

# %% id="tally"
tally()
