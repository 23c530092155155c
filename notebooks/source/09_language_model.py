# %% [markdown] id="title"
# # 09 · Decoder-only: a language model
#
# ```
# ROMEO: Who art thou, and what is thy business here?
#
# PISTOL: You have been a man that I captain the chance,
# I'll give you be a fool, and I'll be gone.
# ```
#
# The first line is ours; a stored model in *your* class wrote the rest.
#
# **The question.** Large models are first trained to do one thing, and this one does nothing else: predict the next
# token. Why is that enough? And how does a model copy a name that it has read once?
#
# **Afterwards you can** write and train a GPT, compare models in bits per byte, and find the head that copies.
#
# Reading: 40 minutes. Exercises: 55 minutes (five core; one stretch ★ takes 10 more). With all predictions, runs and
# questions: about 110 minutes.

# %% [markdown]
# ## Before you start
#
# Three questions from lessons 06 to 08. Answer each one aloud, then open it.
#
# <details><summary>Which two sublayers does a pre-norm encoder layer have, and what happens around each?</summary>
#
# Self-attention and a feed-forward network. Each reads a normalized copy of the residual stream and adds its output to
# the stream.
# </details>
#
# <details><summary>Why can a decoder be trained at all positions at once?</summary>
#
# The causal mask hides the future, so the output at each position depends only on the tokens up to that position. Each
# position is a training example.
# </details>
#
# <details><summary>What does greedy decoding do?</summary>
#
# It appends the most likely token, again and again.
# </details>

# %% id="imports"
import copy
import lzma
import math
import re
from collections.abc import Callable, Iterator, Sequence
from functools import partial

import pandas as pd
import torch
from jaxtyping import Float, Int
from tokenizers import Tokenizer
from torch import Tensor, nn

from transformer_course import check, compare, diagrams, hint, parts, plots, solution, tally, views
from transformer_course.stored_models.stored_model import FOLDER, trained
from transformer_lab import Transformer, TransformerConfig, record_attention, trace_shapes
from transformer_lab.data.docstrings import python_docstrings
from transformer_lab.data.tokenizers import BOS_ID, PAD_ID, bpe_tokenizer
from transformer_lab.pretrained.hub import read_json
from transformer_lab.training.muon import make_muon

# %%
_ = torch.manual_seed(9)


# %% [markdown]
# ## What disappears with the encoder
#
# A translator has two texts, a source and a target. A language model has one, and predicts each token from the tokens
# before it. So there is nothing to encode, and nothing for cross-attention to read.
#
# **Predict.** We remove the encoder and the cross-attention from the paper's base model. What fraction of its
# parameters disappears, not counting embeddings: 0.3, 0.45 or 0.6?

# %% id="what-goes-with-the-encoder-2" tags=["prediction"]
prediction = ...

# %% id="what-goes-with-the-encoder-3"
with torch.device("meta"):  # shapes without numbers
    base = Transformer(TransformerConfig.base(vocab_size=37_000))
n = pd.Series({name: p.numel() for name, p in base.named_parameters() if "embedding" not in name})
cross, both = (
    n[n.index.str.contains(names)].sum() / n.sum() for names in ("cross_attention", "encoder|cross_attention")
)

# %% id="what-goes-with-the-encoder-5"
compare(prediction, measured=both, choices=(0.3, 0.45, 0.6))
print(f"cross-attention {cross:.1%}, together with the encoder {both:.1%}")


# %% id="what-goes-with-the-encoder-6"
diagrams.language_model.stripped()


# %% [markdown]
# Pale gray marks what disappears from the paper's model: more than half of the parameters, not counting embeddings. A
# block of a **decoder-only** model has *one* attention instead of two: causal self-attention, followed by the
# feed-forward network. That is an encoder layer with a causal mask.
#
# As in GPT-2 ([Radford et al.,
# 2019](https://cdn.openai.com/better-language-models/language_models_are_unsupervised_multitask_learners.pdf)), the
# blocks are pre-norm (the picture above is still post-norm) and the positions are learned. There are `context_length`
# of them, the **context window**: the model cannot read a longer text. Everything else comes from earlier lessons:
# attention from 03, the mask from 04, the block from 06, and from 08 an output matrix that is the embedding's. (Our FFN
# keeps the ReLU; GPT-2's has a GELU.)


# %% tags=["hide-input"]
diagrams.language_model.gpt(["Return", "the", "name"], ["the", "name", "of"], n_layers=2)

# %% [markdown]
# At each position, the residual stream (thick) runs from the embedding up to the prediction of the next token. Only
# attention connects the positions (blue): each position attends to itself and to all earlier ones.
#
# **Exercise.** Write `forward` as drawn. Each block needs a causal mask; the embeddings are not scaled. A logit is the
# dot product of the normalized stream with a token's row of `embedding.weight`.


# %% id="GPT" tags=["exercise"]
class GPT(nn.Module):
    """Return the logits of the next token at every position."""

    def __init__(
        self, vocab_size: int, d_model: int = 64, n_heads: int = 4, n_layers: int = 2, context_length: int = 64
    ) -> None:
        super().__init__()
        self.embedding = nn.Embedding(vocab_size, d_model)
        self.positions = nn.Parameter(torch.zeros(context_length, d_model))
        blocks = (parts.PreNormEncoderLayer(d_model, n_heads, 4 * d_model) for _ in range(n_layers))
        self.blocks, self.norm = nn.ModuleList(blocks), nn.LayerNorm(d_model)

    def forward(self, tokens: Int[Tensor, "batch n"]) -> Float[Tensor, "batch n vocab_size"]:
        raise NotImplementedError


# %% id="check-GPT"
check(GPT)

# %% [markdown]
# As in GPT-2, weights are drawn with a standard deviation of 0.02. Each block adds to the residual stream twice, so the
# matrices whose output is added start smaller by a factor of √(2 · n_layers).


# %% id="what-goes-with-the-encoder-10" tags=["hide-input"]
def initialized(model: nn.Module) -> nn.Module:
    """Draw the parameters of a GPT as GPT-2's are drawn, and return it."""
    for name, parameter in model.named_parameters():
        if name.endswith(("w_o.weight", "w_2.weight")):
            nn.init.normal_(parameter, std=0.02 / math.sqrt(2 * len(model.blocks)))
        elif parameter.dim() == 2:
            nn.init.normal_(parameter, std=0.02)
        elif name.endswith("bias"):
            nn.init.zeros_(parameter)
    return model


# %% id="what-goes-with-the-encoder-11"
V = 512
gpt = initialized(parts.GPT(V))
used = ["GPT", "PreNormEncoderLayer", "MultiHeadAttention", "FeedForward", "causal_mask", "parameter_groups"]
print(f"{sum(p.numel() for p in gpt.parameters()):,} parameters")
pd.DataFrame({"whose": {name: parts.whose(name) for name in used}})


# %% [markdown]
# ## The text: Python's own documentation
#
# Every Python installation contains English text: the docstrings of its standard library. One module in ten is held out
# entirely. BPE (lesson 08) makes a vocabulary of 512 tokens. Each module starts with `<bos>`.

# %%
train_texts, held_out_texts = python_docstrings()
tokenizer = bpe_tokenizer(train_texts, vocab_size=V)


# %%
def encode(texts: list[str], tokenizer: Tokenizer = tokenizer) -> Tensor:
    return torch.tensor([token for text in texts for token in [BOS_ID, *tokenizer.encode(text).ids]])


# %% tags=["approximate"]
train_ids, held_out_ids = encode(train_texts), encode(held_out_texts)
n_bytes = sum(len(text.encode()) for text in held_out_texts)
print(f"{len(train_ids):,} tokens to train on, {len(held_out_ids):,} held out,", end=" ")
print(f"{n_bytes / len(held_out_ids):.1f} bytes each")

# %% id="a-held-out-text" tags=["nbval-ignore-output"]
print(held_out_texts[5][:200])

# %% [markdown]
# ## The loss
#
# The logits at position t predict the token at t + 1. So the logits at the last position have no target, and the first
# token is never predicted.
#
# **Exercise.** Compute the mean of −log p over all next tokens that are not padding.


# %% id="next_token_loss" tags=["exercise"]
def next_token_loss(
    logits: Float[Tensor, "batch n vocab_size"], tokens: Int[Tensor, "batch n"], pad_id: int
) -> Float[Tensor, ""]:
    """Return the mean loss of the tokens that follow; the model was given `tokens`."""
    raise NotImplementedError


# %% id="check-next_token_loss"
check(next_token_loss)

# %% [markdown]
# ### Bug hunt
#
# A colleague's model writes well, but its texts never end, although every text that it was trained on ends with `<eos>`
# and none is padded. Which line is wrong? Decide *before* you run the check. Then write a corrected version, `mended`,
# in the cell after it.


# %% tags=["bug-hunt"]
def loss_of_a_colleague(logits, tokens, pad_id):
    log_p = logits[:, :-2].log_softmax(dim=-1)
    targets = tokens[:, 1:-1]
    log_p = log_p.gather(-1, targets[..., None])[..., 0]
    real = targets != pad_id
    return -(log_p * real).sum() / real.sum()


# %% id="mend-loss"
mended = loss_of_a_colleague

# %% id="check-mend-loss"
check(mended, "next_token_loss", save=False)

# %% [markdown]
# <details><summary>How to find such a bug without a check</summary>
#
# Count the predictions: a text of n tokens has n − 1 of them, but here there are n − 2. Or ask which logits the loss
# depends on, as the cell below does with gradients. The last target is cut off, and the last target is `<eos>`. If the
# batch were padded, only its longest text would lose it. The value of the loss looks normal.
# </details>

# %%
four_tokens = torch.tensor([[1, 2, 3, 4]])
for name, loss in {"the colleague's": loss_of_a_colleague, "yours or the library's": parts.next_token_loss}.items():
    logits = torch.zeros(1, 4, 6, requires_grad=True)
    loss(logits, four_tokens, 0).backward()
    print(f"{name}: targets that count:", [t + 1 for t in range(4) if logits.grad[0, t].any()], "of 1, 2, 3")

# %% [markdown]
# ## Perplexity and bits per byte
#
# The exponential of the mean loss is the **perplexity**: a model with a perplexity of 8 is as uncertain as if it chose
# among 8 equally likely tokens. But a token is something else for each tokenizer.
#
# So divide by the number of bytes, which does not depend on the tokenizer. The loss of a whole text in bits, divided by
# its number of bytes, is called **bits per byte**.
#
# **Exercise.** `loss` is the mean over the tokens, in nats (natural logarithms). A bit is log 2 nats.


# %% id="bits_per_byte" tags=["exercise"]
def bits_per_byte(loss: float, n_tokens: int, n_bytes: int) -> float:
    """Return how many bits a model needs for each byte of a text of n_tokens tokens."""
    raise NotImplementedError


# %% id="check-bits_per_byte"
check(bits_per_byte)

# %% [markdown]
# ## Baselines first
#
# Three models need nothing but counting: *uniform* (all tokens are equally likely), **unigram** (the frequency of each
# token) and **bigram** (its frequency after the token before it, mixed with a little of the unigram for rare pairs). We
# count in the training text and measure on held-out text.


# %%
def count_losses(train: Tensor, held_out: Tensor, vocab_size: int) -> dict[str, float]:
    """Return the held-out losses of three models that count."""
    unigram = (torch.bincount(train, minlength=vocab_size) + 0.1).double()
    unigram /= unigram.sum()
    pairs = torch.bincount(train[:-1] * vocab_size + train[1:], minlength=vocab_size**2).view(vocab_size, vocab_size)
    bigram = pairs + 50 * unigram
    bigram /= bigram.sum(dim=1, keepdim=True)
    last, following = held_out[:-1], held_out[1:]
    p = {"uniform": torch.tensor(1 / vocab_size), "unigram": unigram[following], "bigram": bigram[last, following]}
    return {name: -probability.log().mean().item() for name, probability in p.items()}


# %% [markdown]
# **Predict.** We count two bigram models of the same text, one over single bytes and one over our 512 tokens. Which one
# has the lower perplexity, and which one needs fewer bits per byte: the model of `"bytes"` or of `"tokens"`?

# %% tags=["prediction"]
lower_perplexity, fewer_bits = ..., ...

# %% tags=["hide-input", "approximate"]
byte_ids = [torch.tensor([*"\n".join(texts).encode()]) for texts in (train_texts, held_out_texts)]
baselines, of_bytes = count_losses(train_ids, held_out_ids, V), count_losses(*byte_ids, 256)
rows = [(f"{name}, bytes", loss, loss / math.log(2)) for name, loss in of_bytes.items()]
for name, loss in baselines.items():
    rows.append((f"{name}, tokens", loss, parts.bits_per_byte(loss, len(held_out_ids), n_bytes)))
table = pd.DataFrame(rows, columns=["model", "loss", "bits per byte"]).set_index("model")
table.insert(1, "perplexity", table["loss"].map(math.exp))
two = table.loc[["bigram, bytes", "bigram, tokens"]]
compare(lower_perplexity, measured=two["perplexity"].idxmin().split()[-1])
compare(fewer_bits, measured=two["bits per byte"].idxmin().split()[-1])
table.astype({"perplexity": int}).round(1)


# %% [markdown]
# A byte is easier to predict than a token of about two bytes, so you cannot compare the perplexities, only the bits.
# The vocabulary already contains common strings: even uniform tokens need far fewer bits than uniform bytes. And two
# tokens reach further back than two bytes.

# %% [markdown]
# ## Training
#
# One training loop serves all models of this lesson. The learning rate warms up over the first tenth of the steps, then
# falls to 0.


# %%
def train(
    model: nn.Module, optimizers: Sequence[torch.optim.Optimizer], n_steps: int, loss_of: Callable[[], Tensor]
) -> Iterator[int]:
    """Take steps, and yield the number of each; the optimizers bring their highest learning rates along."""
    groups = [group for optimizer in optimizers for group in optimizer.param_groups]
    highest = [group["lr"] for group in groups]
    for step in range(1, n_steps + 1):
        loss = loss_of()
        model.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        for group, rate in zip(groups, highest):
            group["lr"] = rate * min(1, 10 * step / n_steps) * (1 - (step - 1) / n_steps)
        for optimizer in optimizers:
            optimizer.step()
        yield step


# %% [markdown]
# Muon, which lesson 13 explains, trains the matrices of the blocks. Its authors report that it needs fewer steps than
# AdamW.


# %%
def optimizers_of(gpt: nn.Module) -> Sequence[torch.optim.Optimizer]:
    """Return Muon for the matrices of the blocks, and AdamW for the rest."""
    return make_muon(gpt, lr=0.03, adamw_lr=6e-3, weight_decay=0.01)


# %%
def windows(ids: Tensor, starts: Tensor, n: int = 64) -> Tensor:
    return ids[starts[:, None] + torch.arange(n)]


# %%
def loss_on(model: nn.Module, ids: Tensor) -> Tensor:
    """Return the loss on 16 windows, drawn at random."""
    batch = windows(ids, torch.randint(len(ids) - 64, (16,)))
    return parts.next_token_loss(model(batch), batch, PAD_ID)


# %%
@torch.no_grad()
def held_out_loss(model: nn.Module, ids: Tensor, n: int = 64, n_windows: int = 100) -> float:
    batch = windows(ids, torch.linspace(0, len(ids) - n, n_windows).long(), n)
    return parts.next_token_loss(model(batch), batch, PAD_ID).item()


# %% [markdown]
# **Predict.** How many of the three baselines (over tokens) does our GPT beat on held-out text after 100 steps, and how
# many after 400?

# %% tags=["prediction"]
after_100, after_400 = ..., ...

# %% tags=["approximate"]
_ = torch.manual_seed(0)
curve, monitor = {0: held_out_loss(gpt, held_out_ids)}, views.TrainingView(400)
steps = train(gpt, optimizers_of(gpt), 400, lambda: monitor.loss(loss_on(gpt, train_ids)))
for step in monitor.watch(steps):
    if step % 50 == 0:
        curve[step] = held_out_loss(gpt, held_out_ids)
        monitor.score({"held-out loss": curve[step]})
curve[400] = held_out_loss(gpt, held_out_ids, n_windows=1_000)
ax = plots.lines(list(curve), {"GPT": list(curve.values())}, "step", "held-out loss (nats per token)")
bits = parts.bits_per_byte(curve[400], len(held_out_ids), n_bytes)
print(f"at the end: loss {curve[400]:.2f}, perplexity {math.exp(curve[400]):.0f}, bits per byte {bits:.2f}")
for name, loss in baselines.items():
    _ = ax.axhline(loss, color=plots.INK, linestyle=":"), ax.text(425, loss, name, va="center")
_ = ax.set_ylim(3.3, 6.7)

# %% tags=["approximate"]
beaten = {step: sum(curve[step] < loss for loss in baselines.values()) for step in (100, 400)}
compare(after_100, measured=beaten[100])
compare(after_400, measured=beaten[400])

# %% tags=["approximate"]
print(f"at the start: loss {curve[0]:.1f}, and log 512 is {math.log(512):.1f}")

# %% [markdown]
# The bigram is hard to beat: it has counted the whole text, and in 400 steps our GPT reads about the same number of
# tokens. After 100 steps the GPT is behind. After 400 steps with this optimizer and rate, in the end it is ahead:
# unlike a bigram, it can use more than the last token. At the start, its loss is that of the uniform model, as it
# should be.

# %% [markdown]
# ### The logit lens
#
# Every block only *adds* to the residual stream. So you can read the stream early, by applying the last norm and the
# output matrix after each block: the **logit lens** ([nostalgebraist,
# 2020](https://www.lesswrong.com/posts/AcKRB8wDpdaN6v6ru/interpreting-gpt-the-logit-lens)).

# %% tags=["approximate"]
with torch.no_grad():
    batch = windows(held_out_ids, torch.arange(0, 64 * 200, 64))
    streams = [gpt.embedding(batch) + gpt.positions]
    for block in gpt.blocks:
        streams.append(block(streams[-1], parts.causal_mask(64)))
    read = [gpt.norm(x) @ gpt.embedding.weight.T for x in streams]
lens = [parts.next_token_loss(logits, batch, PAD_ID).item() for logits in read]
print("loss after 0, 1 and 2 blocks:", *(f"{loss:.1f}" for loss in lens))
again = (read[0].argmax(dim=-1) == batch).float().mean().item()
print(f"before the first block, the likeliest token is the one just read at {again:.0%} of the positions")

# %% [markdown]
# Before the first block, the stream holds little more than the token just read. The output matrix is the embedding's,
# so the lens predicts that token again, and its loss is worse than uniform. By the lens, most of the fall is in block
# 0.
#
# The map shows all modules at once. Type the beginning of a sentence and step through it: what does each module return,
# and which tokens may follow?

# %% tags=["hide-input"]
views.ModelMap(
    gpt, lambda text: [encode([text])[None]], lambda i: tokenizer.decode([i]) or "bos", ["Return the name of the"]
)

# %% [markdown]
# ## Sampling
#
# Greedy decoding takes the most likely token. **Sampling** draws a token with the model's probabilities instead. Three
# modifications are common, in this order. Divide the logits by a **temperature** (lesson 01). **Top-k**: keep the k
# most likely tokens. **Top-p** or **nucleus sampling** ([Holtzman et al., 2020](https://arxiv.org/abs/1904.09751)):
# keep the smallest set, starting with the most likely token, whose probabilities add up to at least p. The
# probabilities that remain are rescaled to sum to 1.
#
# **Exercise.** Implement all three, then draw. If `top_k` is larger than the vocabulary, keep all tokens.


# %% id="sample_next" tags=["exercise"]
def sample_next(
    logits: Float[Tensor, "batch vocab_size"],
    temperature: float = 1.0,
    top_k: int | None = None,
    top_p: float | None = None,
    generator: torch.Generator | None = None,
) -> Int[Tensor, " batch"]:
    """Draw the next token of each row; None leaves top-k or top-p out. Pass the generator on to torch.multinomial."""
    raise NotImplementedError


# %% id="check-sample_next"
check(sample_next)

# %% [markdown]
# **Predict.** Four tokens have the probabilities 0.5, 0.25, 0.15 and 0.1. How many of them can be drawn with top_p =
# 0.6, and how many with top_p = 0.45?

# %% tags=["prediction"]
with_06, with_045 = ..., ...

# %% tags=["approximate"]
logits = torch.tensor([0.5, 0.25, 0.15, 0.1]).log().expand(20_000, 4)
options = [{}, {"temperature": 0.5}, {"temperature": 2.0}, {"top_k": 3}, {"top_p": 0.6}, {"top_p": 0.45}]
drawn = {}
for option in options:
    tokens = parts.sample_next(logits, **option, generator=torch.Generator().manual_seed(0))
    name = ", ".join(f"{key} = {value}" for key, value in option.items()) or "as it is"
    drawn[name] = (torch.bincount(tokens, minlength=4) / len(tokens)).tolist()
compare(with_06, measured=sum(frequency > 0 for frequency in drawn["top_p = 0.6"]))
compare(with_045, measured=sum(frequency > 0 for frequency in drawn["top_p = 0.45"]))
pd.DataFrame(drawn, index=[f"token {i}" for i in range(4)]).T.round(2)


# %% [markdown]
# Top-k keeps k tokens whether the model is certain or not. Top-p keeps few tokens when the model is certain and many
# when it is not.

# %% [markdown]
# ## Generating
#
# The text that a model continues is called a **prompt**. The loop is the same as in lesson 08, without a source. If a
# text is longer than the context window, the model sees only its end.
#
# **Exercise.** `sample` takes logits (batch, vocab_size) and returns ids (batch). Do not change the caller's `tokens`.


# %% id="generate" tags=["exercise"]
def generate(
    model: nn.Module,
    tokens: Int[Tensor, "batch n"],
    max_new_tokens: int,
    context_length: int,
    sample: Callable[[Tensor], Tensor],
) -> Int[Tensor, "batch n_all"]:
    """Return the prompts, each followed by max_new_tokens new tokens; the model sees context_length tokens at most."""
    raise NotImplementedError


# %% id="check-generate"
check(generate)

# %% tags=["nbval-ignore-output"]
prompt = torch.tensor([[BOS_ID, *tokenizer.encode("Return the name of the").ids]])
samplers = {
    "top_p = 0.9": partial(parts.sample_next, top_p=0.9),
    "as it is": parts.sample_next,
    "temperature = 2": partial(parts.sample_next, temperature=2.0),
}
for name, sample in samplers.items():
    with torch.no_grad():
        text = tokenizer.decode(parts.generate(gpt, prompt, 40, 64, sample)[0].tolist())
    print(f"{name}: {' '.join(text.split())}\n")

# %% [markdown]
# These texts look like documentation, but many of their words do not exist.
#
# ---
#
# **Half-way.** A good place to stop for today.

# %% [markdown]
# ### The same class, trained for longer
#
# The course stores a larger GPT, 4 blocks of width 128, trained on more of Python's documentation, but on nothing that
# we hold out. Parameters are numbers with names, so they fit into *your* class. The **model card** ([Mitchell et al.,
# 2018](https://arxiv.org/abs/1810.03993)) says how the model was trained, and on what.

# %%
stored = trained("gpt-docstrings")
large = stored.load_into(parts.GPT(**stored.sizes))
facts = ["command", "data", "steps", "tokens_per_step", "cpu_minutes", "held_out_bits_per_byte"]
print("\n".join(f"{fact}: {stored.card[fact]}" for fact in facts))

# %% [markdown]
# **Predict.** The stored model has a vocabulary of 2,048 tokens, yours has 512. On the same held-out text, is its
# perplexity `"lower"` or `"higher"` than yours? And does it need `"fewer"` or `"more"` bits per byte?

# %% tags=["prediction"]
its_perplexity, its_bits = ..., ...

# %% tags=["hide-input", "approximate"]
large_ids = encode(held_out_texts, stored.tokenizer)
of_large = held_out_loss(large, large_ids, n=128, n_windows=110)
rows = {"bigram": (baselines["bigram"], len(held_out_ids)), "yours": (curve[400], len(held_out_ids))}
rows["stored"] = (of_large, len(large_ids))
table = pd.DataFrame({"loss": {name: loss for name, (loss, _) in rows.items()}})
table["perplexity"] = table["loss"].map(math.exp)
table["bits per byte"] = [parts.bits_per_byte(loss, n_tokens, n_bytes) for loss, n_tokens in rows.values()]
fractions = table.loc["stored"] / table.loc["yours"]
compare(its_perplexity, measured="higher" if fractions["perplexity"] > 1 else "lower")
compare(its_bits, measured="more" if fractions["bits per byte"] > 1 else "fewer")
squeezed = 8 * len(lzma.compress("\n".join(held_out_texts).encode())) / n_bytes
print(f"the compressor lzma, which was trained on nothing: {squeezed:.2f} bits per byte")
table.round({"perplexity": 0}).astype({"perplexity": int}).round(2)

# %% [markdown]
# Its tokens have 1.5 times as many bytes, so each one is harder to predict: a *higher* perplexity, and yet far fewer
# bits per byte. A compressor, which mostly copies, beats *your* GPT (137,000 parameters, 400 steps), but not the stored
# one. ([With arithmetic coding](https://arxiv.org/abs/2309.10668), a model compresses a text to its bits per byte.)
# What does the stored model write?


# %%
@torch.no_grad()
def continued(model: nn.Module, tokenizer: Tokenizer, text: str, n_tokens: int) -> str:
    """Return a text with n_tokens more, drawn with a temperature of 0.7 and top-p 0.9."""
    ids = torch.tensor([tokenizer.encode(text).ids])
    sample = partial(parts.sample_next, temperature=0.7, top_p=0.9)
    return tokenizer.decode(parts.generate(model, ids, n_tokens, 128, sample)[0].tolist())


# %%
_ = torch.manual_seed(0)
print(" ".join(continued(large, stored.tokenizer, "Raise ValueError if", 50).split()))

# %% [markdown]
# Change the settings of the sampler: these are the probabilities of the first new token.

# %% tags=["hide-input", "approximate"]
likely = torch.tensor([stored.tokenizer.encode("Raise ValueError if").ids])
pieces = [stored.tokenizer.decode([i]) for i in range(stored.tokenizer.get_vocab_size())]
views.SamplingDial(large(likely)[0, -1], pieces, top_p=0.9)


# %% tags=["hide-input"]
def words_that_exist(texts: list[str]) -> float:
    """Return the fraction of words that occur in the documentation that was trained on, be they copied or not."""
    words = [word for text in texts for word in re.findall(r"[a-z]+", text.lower())]
    return sum(word in known for word in words) / len(words)


# %% tags=["hide-input", "approximate"]
known = {word for text in train_texts for word in re.findall(r"[a-z]+", text.lower())}
texts = {"held-out text": held_out_texts}
for name, model, reader, n in (("yours", gpt, tokenizer, 64), ("stored", large, stored.tokenizer, 128)):
    prompts = encode(["Return the"], reader).repeat(8, 1)
    with torch.no_grad():
        generated = parts.generate(model, prompts, 60, n, samplers["top_p = 0.9"])
    texts[name] = [reader.decode(row) for row in generated[:, prompts.shape[1] :].tolist()]  # without the prompt
exist = {name: words_that_exist(some) for name, some in texts.items()}
pd.Series(exist, name="words that exist").round(2).to_frame()

# %% [markdown]
# Its words occur in the training text about as often as the words of real text do. That measures spelling: its
# sentences sound like documentation and seldom mean anything.

# %% [markdown]
# ### Greedy or sampled text
#
# **Predict.** The stored GPT continues four prompts by 200 greedy tokens each. What fraction of all runs of 8 tokens
# has occurred before in the same text: about 0.05, 0.5 or 0.95?

# %% id="greedy-text-repeats-itself-2" tags=["prediction"]
prediction = ...


# %% id="greedy-text-repeats-itself-3" tags=["hide-input"]
def repetition(texts: Tensor, n: int = 8) -> float:
    """Return the fraction of runs of n tokens that occurred before in the same text."""
    runs = [[tuple(run) for run in text.unfold(0, n, 1).tolist()] for text in texts]
    return 1 - sum(len(set(text)) for text in runs) / sum(len(text) for text in runs)


# %% id="greedy-text-repeats-itself-4" tags=["hide-input", "approximate"]
starts = torch.linspace(0, len(large_ids) - 210, 4).long()
prompts = windows(large_ids, starts, 10)
samplers = {"greedy": lambda logits: logits.argmax(dim=-1), "top_p = 0.9": samplers["top_p = 0.9"]}
with torch.no_grad():
    generated = {name: parts.generate(large, prompts, 200, 128, sample)[:, 10:] for name, sample in samplers.items()}
generated["held-out text"] = windows(large_ids, starts + 10, 200)
repeated = {name: repetition(texts) for name, texts in generated.items()}
compare(prediction, measured=repeated["greedy"], choices=(0.05, 0.5, 0.95))
pd.Series(repeated, name="repeated").round(2).to_frame()

# %% id="greedy-text" tags=["hide-input", "nbval-ignore-output"]
print("greedy:", " ".join(stored.tokenizer.decode(generated["greedy"][0, -60:].tolist()).split()))

# %% [markdown]
# This model's greedy text repeats itself far more often than real text, and its sampled text hardly ever, like the
# larger models of Holtzman et al.

# %% [markdown]
# ## How a model copies: induction heads
#
# A name that occurred once is likely to occur again, and so is whatever followed it. We study this with random tokens
# that repeat. The period differs from text to text, so looking back a fixed distance does not help.


# %%
def repeats(n_texts: int, least: int = 4, largest: int = 12) -> Tensor:
    """Return texts of 32 tokens: up to 12 different ones, drawn from 32, then the same again and again."""
    period = torch.randint(least, largest + 1, (n_texts, 1))
    return torch.rand(n_texts, 32).argsort(dim=1).gather(1, torch.arange(32) % period)


# %%
class AttentionOnly(nn.Module):
    """Your attention with residuals, without feed-forward networks."""

    def __init__(self, n_layers: int, d_model: int = 32) -> None:
        super().__init__()
        self.embedding, self.positions = nn.Embedding(32, d_model), nn.Parameter(0.02 * torch.randn(32, d_model))
        self.attentions = nn.ModuleList(parts.MultiHeadAttention(d_model, n_heads=2) for _ in range(n_layers))
        self.norms = nn.ModuleList(nn.LayerNorm(d_model) for _ in range(n_layers + 1))
        self.output = nn.Linear(d_model, 32)

    def forward(self, tokens: Tensor, hidden: Tensor | None = None) -> Tensor:
        """Return the logits; ``hidden`` is True where layer 0 may not attend, for ablations."""
        x, mask = self.embedding(tokens) + self.positions, parts.causal_mask(32)
        for i, attention in enumerate(self.attentions):
            y = self.norms[i](x)
            x = x + attention(y, y, y, mask if i or hidden is None else mask & ~hidden)
        return self.output(self.norms[-1](x))


# %% [markdown]
# **Predict.** One model has one layer of attention, the other has two. What fraction of the repeated tokens does each
# of them predict correctly: 0.2, 0.6 or 1.0?

# %% tags=["prediction"]
one_layer, two_layers = ..., ...


# %%
def loss_on_repeats(model: nn.Module) -> Tensor:
    texts = repeats(32)
    return parts.next_token_loss(model(texts), texts, pad_id=-1)


# %%
_ = torch.manual_seed(9)
texts = repeats(200, least=8, largest=8)  # to judge by: the period is 8 in all of them


# %%
@torch.no_grad()
def right(model: nn.Module, hidden: Tensor | None = None) -> Tensor:
    """Return what fraction of the texts has each of the positions 1 to 31 predicted correctly."""
    return (model(texts, hidden)[:, :-1].argmax(dim=-1) == texts[:, 1:]).float().mean(dim=0)


# %%
copiers, rise = {1: [], 2: []}, {"one layer": [], "two layers": []}
for (n_layers, models), curves in zip(copiers.items(), rise.values()):
    for seed in range(3):
        _ = torch.manual_seed(seed)
        models.append(model := AttentionOnly(n_layers))
        adamw = torch.optim.AdamW(parts.parameter_groups(model, 0.01), lr=0.01, betas=(0.9, 0.98), fused=True)
        steps = train(model, [adamw], 300, partial(loss_on_repeats, model))
        curves.append([right(model)[8:].mean().item() for step in steps if step % 10 == 0])


# %% tags=["approximate"]
by_position = {n_layers: torch.stack([right(model) for model in models]) for n_layers, models in copiers.items()}
copied = {n_layers: runs[:, 8:].mean(dim=1) for n_layers, runs in by_position.items()}  # of each seed
compare(one_layer, measured=copied[1].median().item(), choices=(0.2, 0.6, 1.0))
compare(two_layers, measured=copied[2].median().item(), choices=(0.2, 0.6, 1.0))
for n_layers, fractions in copied.items():
    print(f"copied with {n_layers} layer{'s' * (n_layers > 1)}, by seed:", *(f"{x:.2f}" for x in fractions.tolist()))
lines = {"one layer": by_position[1], "two layers": by_position[2]}
ax = plots.lines(range(1, 32), lines, "position that is predicted (the second period begins at 8)", "fraction right")


# %% [markdown]
# From position 9 on, two layers of this size copy; one does not. (The token at position 8 can only be guessed.)

# %% tags=["approximate"]
curves = {name: torch.tensor(runs) for name, runs in rise.items()}  # (3, 30) each
ax = plots.lines(range(10, 301, 10), curves, "step", "fraction copied right")

# %% [markdown]
# For some 70 steps, two layers are hardly better than one. Then, within 150 more, they copy nearly all.
#
# How do they do it?
#
# **Predict.** In the second period, each token also occurred 8 positions earlier. How many positions back does layer 1
# attend most?

# %% tags=["prediction"]
prediction = ...

# %% tags=["hide-input", "approximate"]
maps = []
for model in copiers[2]:
    with torch.no_grad(), record_attention(model) as recorded:
        model(texts)
    maps.append(torch.stack([recorded[f"attentions.{i}"].mean(dim=(0, 1))[:16, :16] for i in range(2)]))
layer_0, layer_1 = torch.stack(maps, dim=1)  # each (seed, query, key), the mean of all texts and heads
by_distance = [layer_1.diagonal(-n, dim1=1, dim2=2)[:, 9 - n :].mean().item() for n in range(9)]
compare(prediction, measured=by_distance.index(max(by_distance)))
for ax, name in zip(plots.heads(maps[0]), ("layer 0", "layer 1")):
    _ = ax.set_title(name)
print(f"layer 0, first period, weight on the position before: {layer_0[:, range(4, 8), range(3, 7)].mean():.1f}")
print(f"layer 1, second period, weight 7 positions back: {by_distance[7]:.1f}")


# %% [markdown]
# Seven back, not eight: to the token that *followed* the last time. A head that attends to that token and copies it is
# called an **induction head** ([Olsson et al., 2022](https://arxiv.org/abs/2209.11895)). But how does the head find it?
#
# **Predict.** In layer 0, we either hide the previous position from every query, or silence one of the two heads. Which
# costs more of the copying: `"position"` or `"head"`?

# %% tags=["prediction"]
prediction = ...


# %% tags=["hide-input"]
def back(n: int) -> Tensor:
    """Return a mask that is True where a key is n positions before its query."""
    return torch.ones(32, 32).tril(-n).triu(-n).bool()


# %%
def without_head(model: nn.Module, attention: str, head: int) -> nn.Module:
    """Return a copy in which one head, of the attention of that name, adds nothing."""
    silent = copy.deepcopy(model)
    mixed = silent.get_submodule(attention)
    mixed.w_o.weight.data.unflatten(1, (mixed.n_heads, -1))[:, head] = 0
    return silent


# %% tags=["approximate"]
rows = {"nothing": [right(model) for model in copiers[2]]}
rows |= {f"{n} back": [right(model, back(n)) for model in copiers[2]] for n in (1, 2, 4, 7)}
rows |= {f"head {i}": [right(without_head(model, "attentions.0", i)) for model in copiers[2]] for i in range(2)}
ablated = pd.DataFrame({name: [run[8:].mean().item() for run in runs] for name, runs in rows.items()}).T
means = ablated.mean(axis=1)
compare(prediction, measured="position" if means["1 back"] < means[["head 0", "head 1"]].min() else "head")
ablated.columns = [f"seed {seed}" for seed in range(3)]
ablated.round(2)

# %%
diagrams.language_model.induction()


# %% [markdown]
# In layer 0, a **previous-token head** stores at each position which token came before it. In layer 1, the induction
# head searches for the position that stores the current token (dashed) and copies the token at that position. A layer
# cannot look up what it is writing in the same step.
#
# Both heads of our layer 0 share the job: silencing one costs less than hiding the previous position from both. So
# ablating a single head may miss what a layer does.
#
# <details><summary>Could no single layer do this task?</summary>
#
# There is a shortcut: in our texts each token occurs once in a period, so the next token is always the one that was
# seen longest ago. That takes no search. So our result holds for layers of this size and 300 steps; a wider layer might
# find the shortcut.
# </details>
#
# <details><summary>Why does one layer do better than chance, 1 in 32?</summary>
#
# It sees which eight tokens occur in its text. On average it is right one time in eight, as if it named one of them at
# random.
# </details>

# %% [markdown]
# ## ★ Transfer: the induction score of a head
#
# To search all heads of a model, we need a number. Let the model read random tokens, and then the same tokens again. A
# head's *induction score* is the mean weight that the queries of the second period give to the token that followed the
# current token in the first.
#
# **Exercise ★.** The tokens repeat with a period: positions i and i − period hold the same token. Leave out the queries
# of the first period, whose tokens are new.


# %% id="induction_score" tags=["exercise"]
def induction_score(weights: Float[Tensor, "batch n_heads n n"], period: int) -> Float[Tensor, " n_heads"]:
    """Return how much each head attends, on average, to the token that followed the current one a period ago."""
    raise NotImplementedError


# %% id="check-induction_score"
check(induction_score)

# %% [markdown]
# ## Induction heads in a model of language
#
# Our copiers have read nothing but repeats; the stored GPT has read documentation. We give it a passage of 16 tokens
# from held-out modules, and then the same passage again. The gain from repeating is how much lower the loss is the
# second time.
#
# **Predict.** How many of the model's 4 × 4 heads have an induction score above 0.2 (equal weights would give 0.04): 0,
# 1 or 8? If we silence the best head, what fraction of the gain is lost: 0.05, 0.5 or 1?

# %% tags=["prediction"]
on_language, without_best = ..., ...


# %% tags=["hide-input"]
@torch.no_grad()
def scores_of(model: nn.Module, texts: Tensor, period: int) -> Tensor:
    """Return the induction scores of all heads, (layer, head), over the first two periods of the texts."""
    n = 2 * period  # later, several periods share the weight
    with record_attention(model) as recorded:
        model(texts)
    return torch.stack([parts.induction_score(weights[..., :n, :n], period) for weights in recorded.values()])


# %% tags=["hide-input"]
@torch.no_grad()
def second_reading(model: nn.Module, once: Tensor) -> tuple[float, float]:
    """Return the loss on passages of 16 tokens after other passages, and after themselves."""
    after = (torch.cat([first, once], dim=1) for first in (once.roll(1, dims=0), once))
    other, itself = (parts.next_token_loss(model(texts)[:, 16:], once, PAD_ID).item() for texts in after)
    return other, itself


# %% tags=["hide-input", "approximate"]
of_one, of_two = (torch.stack([scores_of(model, texts, 8) for model in copiers[n]]) for n in (1, 2))
print(
    f"copiers: one layer {of_one.max():.2f} at most, of two layers the first {of_two[:, 0].max():.2f} at most,", end=" "
)
print(f"the second {of_two[:, 1].max(dim=1).values.min():.2f} at least (best head of each seed)")
passages = windows(large_ids, torch.linspace(0, len(large_ids) - 16, 100).long(), 16)
random_tokens = torch.randint(260, 2048, (100, 16))  # tokens of more than one byte
of_language, of_random = (scores_of(large, once.repeat(1, 2), 16) for once in (passages, random_tokens))
names = [(block, head) for block in range(4) for head in range(4)]
without = {name: without_head(large, f"blocks.{name[0]}.self_attention", name[1]) for name in names}
silenced = {name: second_reading(model, passages) for name, model in without.items()}
other, itself = second_reading(large, passages)
gains = torch.tensor([after_other - after_itself for after_other, after_itself in silenced.values()])
lost = 1 - gains / (other - itself)
best = names[of_language.argmax()]
compare(on_language, measured=(of_language > 0.2).sum().item())
compare(without_best, measured=lost.view(4, 4)[best].item(), choices=(0.05, 0.5, 1))

# %% tags=["hide-input", "approximate"]
maps = torch.stack([of_language, of_random, lost.view(4, 4).clamp(min=0)])
axes = plots.heads(maps, "0123", "0123", xlabel="head", ylabel="block")
axes[0].figure.axes[-1].remove()  # the color bar: each cell has its number
axes[0].figure.set_size_inches(9, 3.2)
for ax, of, values in zip(axes, ("score, documentation", "score, random tokens", "gain lost without it"), maps):
    _ = ax.set_title(of)
    for block, head in names:
        color = "white" if values[block, head] < 0.43 else "black"
        _ = ax.text(head, block, f"{values[block, head]:.2f}", ha="center", va="center", color=color)
silent = f"without head {best[1]} of block {best[0]}"
rows = {("documentation", "all heads"): (other, itself), ("documentation", silent): silenced[best]}
rows |= {("random tokens", "all heads"): second_reading(large, random_tokens)}
rows |= {("random tokens", silent): second_reading(without[best], random_tokens)}
table = pd.DataFrame(rows, index=["loss after another passage", "after the same"]).T
table["gain"] = table.iloc[:, 0] - table.iloc[:, 1]
table.round(2)

# %% [markdown]
# One head of the last block acts as an induction head. Without it, about half of the gain from repeating is lost, while
# the loss after *another* passage stays as it was; no other head matters nearly as much.
#
# <details><summary>And on random tokens?</summary>
#
# There the gain is smaller, and again about half of it is lost without this head (though the loss after another passage
# rises as well); its score there is less than half as high. In the models of Olsson et al. with at least two layers,
# such heads form within a short period early in training.
# </details>
#
# Is there a previous-token head? We measure each head's weight on the position before, then hide that position
# from all heads of blocks 0 to 2.


# %% id="previous-token-heads-2" tags=["hide-input", "approximate"]
@torch.no_grad()
def score_without(n_back: int, texts: Tensor) -> float:
    """Return the best head's induction score if no earlier block may attend n_back positions back."""
    x = large.embedding(texts) + large.positions[:32]
    with record_attention(large) as recorded:
        for i, block in enumerate(large.blocks):
            x = block(x, parts.causal_mask(32) & ~(back(n_back) & torch.tensor(n_back > 0 and i < best[0])))
    return parts.induction_score(list(recorded.values())[best[0]], 16)[best[1]].item()


with torch.no_grad(), record_attention(large) as recorded:
    large(passages.repeat(1, 2))
one_back = torch.stack([w.diagonal(-1, dim1=-2, dim2=-1)[..., 3:].mean(dim=(0, 2)) for w in recorded.values()])
for block in range(4):
    print(f"block {block}, weight on the position before:", *(f"{weight:.2f}" for weight in one_back[block]))
read_twice = {"documentation": passages.repeat(1, 2), "random tokens": random_tokens.repeat(1, 2)}
hidden = {f"{n} back" if n else "nothing": n for n in range(4)}
rows = {name: {of: score_without(n, texts) for of, texts in read_twice.items()} for name, n in hidden.items()}
score_table = pd.DataFrame(rows).T.rename_axis("hidden in blocks 0 to 2", axis=0)
score_table.round(2)

# %% [markdown]
# No head gives it more than a third of its weight. But once it is hidden, the induction head no longer finds its token:
# its score falls from 0.27 to 0.06, near the 0.04 of equal weights. So here, too, several heads share the job.

# %% [markdown]
# ## A name that was read once
#
# Back to the opening question. We invent 64 names, such as `paint_path`, that the training text does not contain. The
# stored model reads `Return the value of paint_path. If paint_`: how probable is `path`?
#
# **Predict.** What is the median of this probability over the 64 names: 0.001, 0.01 or 0.1? And without the induction
# head?

# %% tags=["prediction"]
with_head, without_it = ..., ...


# %% tags=["hide-input"]
@torch.no_grad()
def of_last_token(model: nn.Module, name: str, read_before: str) -> float:
    """Return the probability of a name's last token, after a sentence with `read_before`."""
    *ids, last = stored.tokenizer.encode(f"Return the value of {read_before}. If {name}").ids
    return model(torch.tensor([ids]))[0, -1].softmax(dim=-1)[last].item()


# %% tags=["hide-input", "approximate"]
verbs, nouns = "paint fold melt tickle borrow rinse whisper knit", "path error queue text host list color version"
invented = [f"{verb}_{noun}" for verb in verbs.split() for noun in nouns.split()]
others = [model for name, model in without.items() if name[0] == best[0] and name != best]
p = pd.DataFrame(index=invented)
p["read once"] = [of_last_token(large, name, name) for name in invented]
p[silent] = [of_last_token(without[best], name, name) for name in invented]
p[f"without another of block {best[0]}"] = [
    sum(of_last_token(model, name, name) for model in others) / 3 for name in invented
]
p["not read"] = [of_last_token(large, name, "it") for name in invented]
reads = {
    "another verb": invented[8:] + invented[:8],
    "only the noun": [f"self.{some.split('_')[1]}" for some in invented],
}
for what, first in reads.items():
    p[f"{what} read"] = [of_last_token(large, *both) for both in zip(invented, first)]
medians = p.median()
compare(with_head, measured=medians.iloc[0], choices=(0.001, 0.01, 0.1))
compare(without_it, measured=medians.iloc[1], choices=(0.001, 0.01, 0.1))
print(f"less probable {silent}: {(p.iloc[:, 1] < p.iloc[:, 0]).sum()} of {len(p)} names")
factors = p[["read once"]].to_numpy() / p
for name, factor in factors.iloc[:, 1:].median().items():
    print(f"{name}: {factor:.2g} times less probable (median)")
spread = p.quantile([0.1, 0.5, 0.9]).set_axis(["a tenth is below", "median of the 64", "a tenth is above"])
pd.concat([p.iloc[::9], spread]).map("{:.2%}".format)

# %% [markdown]
# Having been read once, a name is nearly sixty times as probable as after a sentence without it (median of the ratios).
# Without the induction head, *every* name is less probable, at the median five times less; without another head of its
# block (the mean of three), hardly less.
#
# <details><summary>Has the model learned the name?</summary>
#
# No, mostly the noun: after `paint_`, `path` is as probable if `fold_path` was read, and half as probable if
# `self.path` was. So most of this factor comes from the noun alone.
# </details>
#
# Here is the model from the beginning of the lesson, the same class, trained on 35 plays. Write a first line of your
# own.

# %%
of_plays = trained("gpt-plays")
actor = of_plays.load_into(parts.GPT(**of_plays.sizes))
loss, bits = (of_plays.card[f"held_out_{name}"] for name in ("loss", "bits_per_byte"))
print(
    f"{of_plays.card['cpu_minutes']} minutes; held out: loss {loss}, perplexity {math.exp(loss):.0f}, bits {bits:.2f}"
)

# %% id="a-scene"
_ = torch.manual_seed(2)
print(continued(actor, of_plays.tokenizer, "ROMEO: Who art thou, and what is thy business here?\n\n", 120))

# %% [markdown]
# A model that continues text is not yet a model that answers: lesson 14 continues from here.

# %% [markdown]
# ## Why decoder-only?
#
# Why did decoder-only models replace encoder-decoders? You will hear six arguments:
#
# | argument | verdict |
# |---|---|
# | It needs fewer parameters at the same width. | True (measured above), but you could spend them on a wider model. |
# | Every token is a training example. | True: 63 of 64 tokens, against 15 % in BERT and T5. |
# | What was read stays valid as the text grows. | True, tested below. The KV cache (lesson 10) relies on it. |
# | Causal weights have full rank, two-way weights do not. | False for heads of usual width, tested below. |
# | A prompt can state the task. | Shown by [Brown et al.](https://arxiv.org/abs/2005.14165); tested below. |
# | It is best without fine-tuning. | Measured by [Wang et al., 2022](https://arxiv.org/abs/2204.05832) at 5 billion. |
#
# <details><summary>And after fine-tuning?</summary>
#
# In the experiments of Wang et al., encoder-decoders were ahead after fine-tuning on many tasks, with twice the
# parameters at the same compute.
# </details>
#
# The rank argument goes like this: a triangular matrix with a positive diagonal is invertible, so causal weights have
# full rank, while two-way weights supposedly inherit the low rank of the scores. These are numerical ranks (singular
# values above a millionth of the largest), for 64 and for 1,024 positions:


# %% id="rank-of-weights" tags=["hide-input", "approximate"]
def ranks(d_k: int, n: int, n_tables: int, causal: bool) -> str:
    """Return the lowest and the highest rank of tables of weights, of random queries and keys at n positions."""
    q, k = torch.randn(2, n_tables, n, d_k, dtype=torch.float64)
    scores = q @ k.mT / d_k**0.5
    if causal:
        scores = scores.masked_fill(~parts.causal_mask(n), -math.inf)
    found = torch.linalg.matrix_rank(scores.softmax(dim=-1), rtol=1e-6)
    return f"{found.min()} to {found.max()}"


_ = torch.manual_seed(9)
rank_table = {
    (f"{n:,} positions", name): {d_k: ranks(d_k, n, n_tables, name == "causal") for d_k in (1, 2, 4, 8, 64)}
    for n, n_tables in ((64, 50), (1_024, 2))
    for name in ("two-way", "causal")
}
pd.DataFrame(rank_table).rename_axis("d_k")

# %% [markdown]
# For a head of width 8, the *scores* have rank 8 at most, but softmax is not linear: the two-way weights have at least
# the rank of the causal ones. At width 4, that holds for 64 positions but not for 1,024.
#
# Now change the last token of a text. How much do the earlier outputs of the stored GPT change, with its causal mask
# and with a two-way mask?


# %% id="earlier-outputs" tags=["hide-input", "approximate"]
@torch.no_grad()
def outputs(text: Tensor, mask: Tensor) -> Tensor:
    x = large.embedding(text) + large.positions[: text.shape[1]]
    for block in large.blocks:
        x = block(x, mask)
    return large.norm(x)


text = torch.tensor([stored.tokenizer.encode("Return the name of the file, or None if it has no name.").ids])
changed = torch.cat([text[:, :-1], text[:, -1:] + 1], dim=1)
n = text.shape[1]
for name, mask in {"causal": parts.causal_mask(n), "two-way": torch.ones(n, n).bool()}.items():
    difference = (outputs(changed, mask) - outputs(text, mask))[:, :-1].abs().max().item()
    print(f"{name}: the earlier outputs change by up to {difference:.2f}")

# %% [markdown]
# With a causal mask they do not change at all, so what was computed can be kept. With a two-way mask, each new token
# changes everything before it.

# %% [markdown]
# Can a prompt state the task? We draw four secret rules; each gives ten different answers to ten questions. A text
# contains five questions and their answers by one of the rules. No question occurs twice, so there is nothing to copy.

# %% id="rules" tags=["hide-input"]
rules, new_rules = torch.rand(2, 4, 10, generator=torch.Generator().manual_seed(0)).argsort(dim=2)  # [rule, question]


def texts_by(rules: Tensor, n_texts: int) -> Tensor:
    """Return texts of five questions (0 to 9), each followed by its answer (10 to 19), by one rule per text."""
    rule, questions = torch.randint(len(rules), (n_texts, 1)), torch.rand(n_texts, 10).argsort(dim=1)[:, :5]
    return torch.stack([questions, 10 + rules[rule, questions]], dim=2).flatten(start_dim=1)


_ = torch.manual_seed(9)
print(", ".join(f"{question} → {answer}" for question, answer in texts_by(rules, 1).view(5, 2).tolist()))

# %% [markdown]
# **Predict.** After 500 training steps on these texts, what fraction of a GPT's answers is right *before* it sees an
# example, and *after* four examples: 0.1, 0.5 or 1.0?

# %% tags=["prediction"]
before, after = ..., ...


# %% id="learn-rules" tags=["hide-input"]
def learn_rules(n_blocks: int, learning_rate: float, n_steps: int = 500) -> nn.Module:
    """Train a GPT on the answers in texts by the four rules, as ``authoring/train_few_shot_runs.py`` does."""
    model = initialized(parts.GPT(20, n_layers=n_blocks, context_length=10))

    def loss_on_answers() -> Tensor:
        texts = texts_by(rules, 64)
        return nn.functional.cross_entropy(model(texts)[:, ::2].flatten(end_dim=1), texts[:, 1::2].flatten())

    adamw = torch.optim.AdamW(model.parameters(), lr=learning_rate, fused=True)
    for _ in train(model, [adamw], n_steps, loss_on_answers):
        pass
    return model


# %% id="few-shot" tags=["hide-input"]
few_shot = read_json(FOLDER / "few-shot-runs" / "right.json")
rows = {"best possible": few_shot["best"]}
for n, rate, tested in [
    (1, 0.002, "right"),
    (1, 0.006, "right"),
    (2, 0.002, "right"),
    (2, 0.006, "right"),
    (2, 0.006, "new"),
]:
    of_seeds = [run[tested] for run in few_shot["runs"] if (run["n_blocks"], run["rate"]) == (n, rate)]
    name = f"{n} block{'s' * (n > 1)}, rate {rate}{', four new rules' * (tested == 'new')}"
    rows[name] = torch.tensor(of_seeds).median(dim=0).values.tolist()
compare(before, measured=rows["2 blocks, rate 0.006"][0], choices=(0.1, 0.5, 1.0))
compare(after, measured=rows["2 blocks, rate 0.006"][4], choices=(0.1, 0.5, 1.0))
pd.DataFrame(rows).T.rename_axis(columns="examples:").round(2)

# %% [markdown]
# Without an example, the best guess is the most common answer among the four rules. One example rules out most of the
# rules, and after two examples a model with two blocks is right 95 times in 100. Its parameters do not change: it
# infers the rule from the prompt. An induction head cannot do this, because the question has not appeared before. But
# the model only selects among its training rules. For a new rule (last row) the examples only exclude their own
# answers, so it can only guess.
#
# <details><summary>What is all this called, and how reliable are the numbers?</summary>
#
# A prompt that only describes a task is called **zero-shot**; a prompt with a few solved examples is called
# **few-shot**. Inferring a task from the prompt, without changing any parameter, is called **in-context learning**.
# [Olsson et al.](https://arxiv.org/abs/2209.11895) use the term more broadly, for the lower loss on later tokens, and
# argue that induction heads cause much of it.
#
# Each row except the first shows the median of three stored runs. At learning rate 0.02, the fraction after four
# examples is 0.89 with one block and 0.86 with two. In the last row, guessing at random among the six unused answers
# would give 0.17 after four examples.
# </details>

# %% [markdown]
# ## Your experiment
#
# Ungraded, about 15 minutes. Test a claim of your own as this lesson tests its claims, or start with this one:
#
# **Claim.** Depth pays at once: after the same 300 steps, a GPT with four blocks needs at least 0.05 bits per byte less
# than a GPT with two.
#
# **Prediction.** Before you run anything, write down in how many of three runs the claim will hold.
#
# **Verdict.** Say in one sentence what the runs show. A claim that fails is a result, too.

# %% id="experiment" tags=["experiment", "skip-execution"]
prediction = ...  # in how many of the three runs will the claim hold?
holds = []
for seed in range(3):
    losses = {}
    for n_layers in (2, 4):
        torch.manual_seed(seed)
        model = initialized(parts.GPT(V, n_layers=n_layers))
        for _ in train(model, optimizers_of(model), 300, partial(loss_on, model, train_ids)):
            pass
        losses[n_layers] = held_out_loss(model, held_out_ids)
    holds.append(...)  # compare parts.bits_per_byte(losses[4], len(held_out_ids), n_bytes) with that of losses[2]
print("predicted:", prediction, " measured:", holds)
# Verdict:

# %% [markdown]
# ## In short
#
# - Without an encoder, each block keeps one causal self-attention and one feed-forward network.
# - Compute the baselines first. You can compare perplexities only under the same tokenizer, but bits per byte under
#   any.
# - Stored parameters fit into any class with the same names and shapes.
# - Our model's greedy text repeated itself. Top-p keeps more tokens when the model is less certain.
# - Our copiers need two layers: one stores the previous token, the next searches for it. Our language model learned
#   the same; several of its heads share the first job.
# - Why is prediction enough? To predict the end of `3 + 4 =`, adding helps; in a translation, translating. Whatever
#   helps the prediction lowers the loss. We saw it for copying.

# %%
table = trace_shapes(gpt, torch.zeros(16, 64, dtype=torch.long)).drop(columns="class")
top = table["module"].str.count(r"\.") < 3
table[top & ~table["module"].str.startswith("blocks.1.")].replace({"module": {"": "GPT"}}).reset_index(drop=True)

# %% [markdown]
# ## New words
#
# The words of all lessons are in the [glossary](glossary.ipynb).
#
# - **context window**: the largest number of tokens that a language model can read at once.
# - **perplexity**: the exponential of the mean loss: the number of equally likely tokens among which a model seems to
#   choose.
# - **bits per byte**: the loss of a text in bits, divided by its number of bytes; comparable between tokenizers on
#   the same text.
# - **unigram**: a single token, or a model that uses only the frequency of each token.
# - **bigram**: two tokens in a row, or a model that predicts each token from the one before it.
# - **model card**: the description published with a model: how it was trained, on what, and how well it does.
# - **logit lens**: reading a prediction from the residual stream after any layer, with the last norm and output matrix.
# - **top-k**: sampling from the k most likely tokens only.
# - **nucleus sampling**: sampling from the smallest set of tokens whose probabilities add up to at least p; also called
#   top-p.
# - **prompt**: the text that a language model is given to continue.
# - **induction head**: an attention head that attends to the token that followed the current one the last time.
# - **previous-token head**: an attention head that attends to the position before.
# - **in-context learning**: predicting better because of what came earlier in the text, without further training: for
#   instance, by continuing the pattern of examples in the prompt.
# - **few-shot**: with a few examples of the task in the prompt.
# - **zero-shot**: without examples in the prompt.

# %% [markdown]
# ## Interview questions
#
# Answer aloud first; the section named in each answer has the cell that shows it.
#
# <details><summary>Why are large language models decoder-only?</summary>
#
# Every token is a training example; the task can be stated in the prompt, so one model serves all tasks; and what has
# been read stays valid as the text grows, so it can be cached. At the same width there are fewer parameters, but you
# could spend them elsewhere. The argument that causal weights have full rank and two-way weights do not is wrong: with
# heads of width 4 and 64 positions, both have rank 61 to 64. Encoder-decoders are not worse at everything: fine-tuned
# on many tasks, they were ahead in Wang et al. (2022). (<i>Why decoder-only?</i>)
# </details>
#
# <details><summary>What does a decoder-only block have, and what does it lack?</summary>
#
# It has one causal self-attention and one feed-forward network. It lacks cross-attention, because there is no memory to
# read. In the paper's base model, encoder and cross-attention have more than half of all parameters outside the
# embeddings. (<i>What disappears with the encoder</i>)
# </details>
#
# <details><summary>What is the perplexity of a model that gives all of 512 tokens the same probability?</summary>
#
# 512, whatever the text. Its loss is log 512 = 6.2, which is also the first loss of a well-initialized model.
# (<i>Baselines first</i>, <i>Training</i>)
# </details>
#
# <details><summary>Two models have different tokenizers. How do you compare them?</summary>
#
# In bits per byte on the same text. Perplexities are per token, and a tokenizer with longer tokens has harder ones to
# predict. The bigram over bytes has the lower perplexity, yet needs more bits than the bigram over tokens.
# (<i>Baselines first</i>, <i>The same class, trained for longer</i>)
# </details>
#
# <details><summary>A language model's loss falls to nearly 0 within 100 steps. What do you suspect?</summary>
#
# That the targets leak: the shift by one is missing, or the causal mask. Baselines tell you which loss is credible.
# (<i>Baselines first</i>)
# </details>
#
# <details><summary>Top-k or top-p: what is the difference?</summary>
#
# Top-k keeps a fixed number of tokens. Top-p keeps more of them when the model is less certain. (<i>Sampling</i>)
# </details>
#
# <details><summary>Why does greedy decoding produce loops?</summary>
#
# A phrase that has been repeated is likely to be repeated again, and greedy decoding always takes the most likely
# token. In our greedy texts, far more runs of 8 tokens had occurred before than in held-out text. (<i>Greedy or sampled
# text</i>)
# </details>

# %% [markdown]
# <details><summary>What is an induction head, and why does it need two layers?</summary>
#
# A head that attends to the token that followed the current token the last time. To find it, each position must already
# store which token came before it; that is the work of a previous-token head in an earlier layer. Our two-layer model
# copied, and the one-layer model of the same size did not. (<i>How a model copies</i>)
# </details>
#
# <details><summary>You silence one head, and nothing happens. Does the head do nothing?</summary>
#
# Not necessarily: heads may share a job. Hiding the previous position from all heads of the layer made copying
# impossible; silencing either head did not. (<i>How a model copies</i>)
# </details>
#
# <details><summary>How do you find the induction heads of a model?</summary>
#
# Let the model read a passage twice, and take each head's mean weight on the token that followed the current token the
# first time. Then silence the head: the loss on the second reading must rise, and hardly any other loss. Compare with
# other heads instead of setting a threshold. (<i>★ Transfer</i>)
# </details>

# %% [markdown]
# ## What to read next
#
# - Radford et al. (2019), *Language Models are Unsupervised Multitask Learners*: GPT-2.
# - Olsson et al. (2022), [arXiv:2209.11895](https://arxiv.org/abs/2209.11895): induction heads.
# - `transformer_lab/models/language_model.py`: the library's language model, from GPT-2 to Llama in small steps.

# %% [markdown]
# How far did you get, and how well did you predict?

# %% id="tally"
tally()
