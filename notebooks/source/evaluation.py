# %% [markdown] id="title"
# # Evaluation · how good is a model, and how would we know?
#
# **The question.** A report says that model A scores 62 % on a benchmark and model B 58 %. What was measured, how far
# would the numbers move if you asked again in other words, and has one of the models seen the test?
#
# **Afterwards you can** score a multiple-choice benchmark by log-probabilities and by free answers, put an error bar on
# a score and on a difference, report repeated runs of an agent, and test a benchmark and its training data for leaks.
#
# Reading: 38 minutes. Exercises: 20 minutes (two core, one stretch ★). With all predictions, runs and questions: about
# 72 minutes.

# %% [markdown]
# ## Before you start
#
# This lesson comes after 14. Answer each question aloud, then open it.
#
# <details><summary>What is the log-probability of a text under a language model?</summary>
#
# The sum of the log-probabilities of its tokens, each given the tokens before it (lesson 08).
# </details>
#
# <details><summary>Why can't you compare losses per token between models with different tokenizers?</summary>
#
# Their tokens have different lengths. Bits per byte can be compared (lesson 09).
# </details>
#
# <details><summary>A program can check dates. Who checks an essay?</summary>
#
# People, or another model as a judge, which can be fooled (lesson 14).
# </details>

# %% id="imports"
import lzma
import math
import random
import re
import statistics
import sysconfig
from pathlib import Path

import pandas as pd
import torch
from jaxtyping import Bool, Float
from tokenizers import Tokenizer
from torch import Tensor, nn

from transformer_course import check, compare, hint, parts, plots, solution, tally
from transformer_course.published_models.in_lesson import published_in_lesson
from transformer_course.stored_models.stored_model import FOLDER
from transformer_lab import trace_shapes
from transformer_lab.data.docstrings import docstrings_of
from transformer_lab.pretrained.hub import read_json
from transformer_lab.pretrained.load import load_language_model

# %%
_ = torch.manual_seed(15)

# %% [markdown]
# ## A benchmark of 50 questions
#
# The course has a small test of its own: 50 questions in plain English with four options each.

# %%
benchmark = read_json(FOLDER / "multiple-choice" / "questions.json")
questions = benchmark["questions"]
right = torch.tensor([question["right"] for question in questions])
for question in questions[:3]:
    print(question["question"], "|", " / ".join(question["options"]), "| right:", "ABCD"[question["right"]])

# %% [markdown]
# How does a language model answer? We don't let it write and then search its text for an answer, since a small model
# may write anything. We append each option to the question and compare the log-probabilities of the options: how much
# would the model like to continue like this?
#
# We asked SmolLM2-135M-Instruct in 4 bits (lesson 10) and stored the log-probability of every token of every option,
# because 50 questions take a laptop up to a minute. Each row below is a question, an option and padding; only the
# tokens of the option count.
#
# **Exercise.** Return a score for each option: the sum of its log-probabilities or, if `per_token` is set, their mean.


# %% id="option_scores" tags=["exercise"]
def option_scores(
    log_p: Float[Tensor, "n_questions n_options n_tokens"],
    is_option: Bool[Tensor, "n_questions n_options n_tokens"],
    per_token: bool,
) -> Float[Tensor, "n_questions n_options"]:
    """Return how well the model likes each option, as a whole or per token."""
    raise NotImplementedError


# %% id="check-option_scores"
check(option_scores)

# %% [markdown]
# The next cell pads the stored numbers, calls your function, and returns 1 for each question that the model got right.


# %% id="stored-scores"
stored = read_json(FOLDER / "multiple-choice" / "scores.json")


def answered(log_p: list, per_token: bool = False) -> Tensor:
    """Return 1 for each question whose right option has the highest score, and 0 for the others."""
    longest = max(len(option) for options in log_p for option in options)
    padded = [[option + [0.0] * (longest - len(option)) for option in options] for options in log_p]
    lengths = torch.tensor([[len(option) for option in options] for options in log_p])
    is_option = torch.arange(longest) < lengths[..., None]
    return (parts.option_scores(torch.tensor(padded), is_option, per_token).argmax(dim=-1) == right).float()


runs = {(run["template"], run["n_examples"]): run["log_p"] for run in stored["scores"]}
plain = runs["Question, Answer", 0]

# %% [markdown]
# **Predict.** With four options, guessing scores 0.25. What does SmolLM2 score, if the prompt is `Question: …`, then
# `Answer:` (about 0.3, 0.6 or 0.9)? And per token, is its score higher (`"higher"`) or lower (`"lower"`)?

# %% tags=["prediction"]
prediction, per_token = ..., ...

# %%
by_sum, by_mean = answered(plain), answered(plain, per_token=True)
compare(prediction, measured=by_sum.mean().item(), choices=(0.3, 0.6, 0.9))
compare(per_token, measured="higher" if by_mean.mean() > by_sum.mean() else "lower")
print(f"sum: {by_sum.mean():.2f}   per token: {by_mean.mean():.2f}")

# %% [markdown]
# Every token lowers the sum, so a sum favors short options; a mean doesn't. Neither is *the* score of the model: say
# which one you report. Below, we use the sum.
#
# The next cell downloads SmolLM2 once (93 MB; see lesson 11). Then it scores one question for real. Without the
# model, you see the stored outputs.

# %% id="smollm2-folder" tags=["published-model", "nbval-ignore-output"]
smollm_folder = published_in_lesson("smollm2", "evaluation")

# %% id="smollm2-question" tags=["published-model", "approximate"]
smollm = load_language_model(smollm_folder).requires_grad_(False)
smollm_tokenizer = Tokenizer.from_file(str(smollm_folder / "tokenizer.json"))


def smollm_log_p(prompt: str, option: str) -> float:
    """Return the log-probability of an option after a prompt."""
    ids, new = (smollm_tokenizer.encode(text).ids for text in (prompt, option))
    log_p = smollm(torch.tensor([ids + new]))[0, len(ids) - 1 : -1].log_softmax(dim=-1)
    return log_p.gather(1, torch.tensor(new)[:, None]).sum().item()


smollm_prompt = f"Question: {questions[0]['question']}\nAnswer:"
print(smollm_prompt)
for smollm_option, smollm_stored in zip(questions[0]["options"], plain[0], strict=True):
    print(f"{smollm_log_p(smollm_prompt, ' ' + smollm_option):6.1f}, stored {sum(smollm_stored):6.1f}: {smollm_option}")

# %% id="smollm2-shapes" tags=["published-model"]
trace_shapes(smollm.blocks[0], torch.zeros(1, 11, smollm.config.d_model)).drop(columns="class")

# %% [markdown]
# ## Does the test measure what it should?
#
# Before you trust a benchmark, try to pass it without the skill that it tests. Two controls are cheap. Always choose
# the longest option: if the author wrote right options with more care, that scores well. And show the options without
# the question.

# %%
lengths = torch.tensor([[len(option) for option in question["options"]] for question in questions])
controls = {
    "always the longest option": (lengths.argmax(dim=-1) == right).float(),
    "always the shortest option": (lengths.argmin(dim=-1) == right).float(),
    "SmolLM2 without the question": answered(runs["no question", 0]),
    "SmolLM2 with the question": by_sum,
}
pd.DataFrame({"score": {name: scores.mean().item() for name, scores in controls.items()}}).round(2)

# %% [markdown]
# Neither control does clearly better than guessing, so the options alone don't give the answers away.

# %% [markdown]
# ## The same questions, asked differently
#
# The same questions can be put in many ways. In the second template, the prompt lists the options, and the model has to
# name a letter, as in many benchmarks for large models. Three templates use the form on which this model was
# fine-tuned, its chat template (lesson 14). Each question also exists in other words. And with few-shot prompts, some
# questions with their answers come before the one that counts.

# %%
for name, template in stored["templates"].items():
    print(f"{name}: {template!r}")

# %% [markdown]
# **Predict.** Between the best and the worst way to ask, how far apart are the scores of the same model on the same
# questions: about 0.05, 0.15 or 0.45?

# %% tags=["prediction"]
prediction = ...

# %%
asked = {
    f"{name}, {n_examples} examples": answered(log_p)
    for (name, n_examples), log_p in runs.items()
    if name != "no question"
}
asked["Question, Answer, in other words"] = answered(stored["rephrased"])
by_template = {name: scores.mean().item() for name, scores in asked.items()}
compare(prediction, measured=max(by_template.values()) - min(by_template.values()), choices=(0.05, 0.15, 0.45))
pd.DataFrame({"score": by_template}).round(2)

# %% [markdown]
# The same model and the same questions: with five examples before each question, SmolLM2 scores 0.70. If it has to name
# a letter, it scores between 0.20 and 0.30, with or without its chat template: no better than guessing. (Larger models
# can name letters. This one couldn't in any form that we tried, whatever it knows.) A score without its prompt says
# little, so a report should quote the template.

# %% [markdown]
# ## What 50 questions can show
#
# The 50 questions are a sample of all the questions that we could have written. With other questions of the same kind,
# the score would be different. How different? If a model is right with probability $p$, the **standard error** of its
# score on $n$ questions is $\sqrt{p(1-p)/n}$.
#
# You can also find it without a formula. The **bootstrap** draws 50 of our 50 questions with replacement, so some come
# twice and some not at all, computes the score, and repeats that 10,000 times. The middle 95 % of these scores are a
# **confidence interval**.
#
# **Predict.** From its lower to its upper end, how wide is the 95 % interval of a score on 50 questions: about 0.06,
# 0.14 or 0.27?

# %% tags=["prediction"]
prediction = ...

# %%
draws = torch.randint(50, (10_000, 50))  # each row: 50 questions, drawn with replacement
resampled = by_sum[draws].mean(dim=-1)
low, high = resampled.quantile(torch.tensor([0.025, 0.975])).tolist()
compare(prediction, measured=high - low, choices=(0.06, 0.14, 0.27))
p = by_sum.mean().item()
print(f"score {p:.2f}, 95 % interval from {low:.2f} to {high:.2f}")
print(f"standard error: {(p * (1 - p) / 50) ** 0.5:.3f} by the formula, {resampled.std():.3f} by the bootstrap")

# %%
sizes = {n: 1.96 * 2 * (p * (1 - p) / n) ** 0.5 for n in (50, 200, 1_000, 5_000, 14_000)}
pd.DataFrame({"questions": [f"{n:,}" for n in sizes], "width of the interval": sizes.values()}).round(3)

# %% [markdown]
# An interval half as wide takes four times the questions. MMLU, a widely used benchmark, has 14,000. Our 50 can tell a
# model from guessing, but they cannot tell 0.58 from 0.62.

# %% [markdown]
# ## Several tries: pass@k
#
# Open questions are often scored by whether one of k sampled answers passes a test. **pass@k** (lesson 14) needs an
# estimator: you draw n samples, of which c are right. The obvious one, 1 − (1 − c/n)^k, is **biased**: on average, it
# is not the true value, however many questions you average over. `pass_at_k` of lesson 14 counts choices instead. For a
# model that is right with probability p, the true value is 1 − (1 − p)^k.

# %%
n, k, rows = 10, 5, {}
for p_right in (0.05, 0.2, 0.5):
    counts = torch.distributions.Binomial(n, torch.full((20_000,), p_right)).sample()
    rows[p_right] = {
        "true pass@5": 1 - (1 - p_right) ** k,
        "1 − (1 − c/n)^k": (1 - (1 - counts / n) ** k).mean().item(),
        "your pass_at_k": statistics.fmean(parts.pass_at_k(n, int(c), k) for c in counts),
    }
pd.DataFrame.from_dict(rows, orient="index").rename_axis("p").round(3)

# %% [markdown]
# <details><summary>What the table shows</summary>
#
# The obvious estimator is too low for each p in the table, and 20,000 questions don't help, since the error is the same
# on average for every one of them.
# </details>

# %% [markdown]
# ## Comparing two models on the same questions
#
# When two models answer the *same* questions, you can do better. Much of the error comes from the choice of questions:
# a hard sample lowers both scores. In the **paired comparison**, you subtract the scores question by question first.
# The standard error of the mean difference is the standard deviation of the differences, divided by $\sqrt{n}$.
#
# **Exercise.** Return the mean difference and its standard error. (Use the standard deviation that divides by n − 1.)


# %% id="paired_error_bar" tags=["exercise"]
def paired_error_bar(
    first: Float[Tensor, " n_questions"], second: Float[Tensor, " n_questions"]
) -> tuple[Float[Tensor, ""], Float[Tensor, ""]]:
    """Return by how much the first model is better on average, and the standard error of that number."""
    raise NotImplementedError


# %% id="check-paired_error_bar"
check(paired_error_bar)

# %% [markdown]
# ### Bug hunt
#
# A colleague compares two models with this function. "The results come from several machines in any order, so I sort
# them first. The means are the same!" His differences are right. What is wrong with his errors? Decide *before* you run
# the check. Then put a corrected version, `mended`, into the cell after it.


# %% tags=["bug-hunt"]
def error_bar_of_a_colleague(first, second):
    first, second = first.sort().values, second.sort().values
    differences = first - second
    return differences.mean(), differences.std() / len(first) ** 0.5


# %% id="mend-paired_error_bar"
mended = error_bar_of_a_colleague

# %% id="check-mend-paired_error_bar"
check(mended, "paired_error_bar", save=False)

# %% [markdown]
# <details><summary>How to find such a bug without a check</summary>
#
# After sorting, row 7 of one model no longer belongs to row 7 of the other. Try two models that guess. Sorting lines up
# their zeros and ones, so almost all differences are 0, and any difference of the means seems significant. Sort by the
# *name* of the question, so that both models keep the same order.
# </details>

# %%
first, second = (torch.rand(2, 1_000) < 0.6).float()  # two models that are right at random
for name, function in {"the colleague's": error_bar_of_a_colleague, "paired": parts.paired_error_bar}.items():
    difference, error = function(first, second)
    print(f"{name}: {difference:+.3f} ± {error:.3f}")

# %% [markdown]
# ### The gain from five examples
#
# Now compare other ways to ask with the first one, on the same 50 questions.
#
# **Predict.** Next to the paired error, how large is the error that you get if you treat the two scores as independent
# (the square root of the sum of the squared errors): smaller (`"smaller"`), or larger (`"larger"`)?

# %% tags=["prediction"]
prediction = ...

# %%
rows, base = {}, by_sum
for name, scores in {"per token": by_mean, **asked}.items():
    if name != "Question, Answer, 0 examples":
        difference, error = parts.paired_error_bar(scores, base)
        separate = ((scores.var() + base.var()) / 50) ** 0.5
        rows[name] = {"difference": difference, "paired error": error, "as if independent": separate}
table = pd.DataFrame.from_dict(rows, orient="index").astype(float)
larger = (table["as if independent"] > table["paired error"]).sum()
compare(prediction, measured="larger" if larger > len(table) / 2 else "smaller")
table.round(3)

# %% [markdown]
# With five examples in the prompt, the model gains 0.12. If the scores were independent, the error would be 0.096, and
# the gain could be luck. The paired error is 0.046, so the gain is 2.6 times its error. Naming letters is almost
# unrelated to continuing the text, so there the pairing gains nothing. (Be careful with many comparisons: by chance
# alone, one difference in 20 is about twice as large as its error.)

# %% [markdown]
# ## Training on the test
#
# Benchmarks are on the internet, and so is the text that models are trained on. If a test gets into the training data,
# that is **contamination**. What does it do to a score?
#
# We took two small models of this course, one trained on docstrings, the other on plays, and trained each on 25 of the
# 50 questions with their right answers (three seeds and one, and each half in turn). The test has the leaked questions,
# the same in other words, only their options, and those that did not leak.
#
# **Predict.** After 20 epochs, what do the models score on the leaked questions? On the same questions in other words?
# And on the others (0.25, 0.5, 0.75 or 1 each)?

# %% tags=["prediction"]
as_leaked, in_other_words, not_leaked = ..., ..., ...

# %%
leaked_runs = read_json(FOLDER / "multiple-choice" / "leaked.json")["runs"]


def leaked_scores(model: str, epochs: int) -> dict[str, float]:
    """Return mean scores over halves and seeds: on the leaked questions, asked in three ways, and on the others."""
    chosen = [run for run in leaked_runs if (run["model"], run["epochs"]) == (model, epochs)]
    ways = ("as leaked", "in other words", "no question")
    scores = {way: [statistics.fmean(run[way][run["leaked half"] :: 2]) for run in chosen] for way in ways}
    scores["not leaked"] = [statistics.fmean(run["as leaked"][1 - run["leaked half"] :: 2]) for run in chosen]
    return {name: statistics.fmean(found) for name, found in scores.items()}


rows = {
    (model, epochs): leaked_scores(model, epochs) for model in ("gpt-docstrings", "gpt-plays") for epochs in (0, 5, 20)
}
end = rows["gpt-docstrings", 20]
compare(as_leaked, measured=end["as leaked"], choices=(0.25, 0.5, 0.75, 1))
compare(in_other_words, measured=end["in other words"], choices=(0.25, 0.5, 0.75, 1))
compare(not_leaked, measured=end["not leaked"], choices=(0.25, 0.5, 0.75, 1))
pd.DataFrame.from_dict(rows, orient="index").rename_axis(["model", "epochs"]).round(2)

# %% [markdown]
# After 20 epochs, the models know the leaked questions by heart and still guess on the others. But look at the second
# column: asking in other words did *not* uncover the leak, and even without any question the models choose most of the
# right options. They have mostly learned which *options* are right. So if you rephrase a benchmark to test for leaks,
# write new options as well; better, compare with new questions of the same kind, as the last column does.

# %% [markdown]
# ## A model as the judge
#
# Chats have no list of options, so a second model often judges them: "Which answer is better, A or B?" Published judges
# tend to prefer long answers ([Zheng et al., 2023](https://arxiv.org/abs/2306.05685)). We tested SmolLM2 as a judge on
# 16 questions: a short right answer against a long one, which is the same answer, or a wrong one, followed by a
# sentence that adds nothing. Each pair was shown in both orders.
#
# **Predict.** Averaged over the two orders, does SmolLM2 prefer the long answer (`"long"`), the short one (`"short"`),
# or whatever is answer A (`"first"`), that is, does the order matter more than the length?

# %% tags=["prediction"]
prediction = ...

# %%
print(stored["padding"])
judge = {kind: torch.tensor(pairs) for kind, pairs in stored["judge"].items()}
rows = {}
for kind, gains in judge.items():  # (n_questions, 2): log p(long) − log p(short), with the long answer as A, as B
    by_order = {"long answer is A": gains[:, 0].mean().item(), "long answer is B": gains[:, 1].mean().item()}
    rows[kind] = by_order | {"both orders": gains.mean().item()}
order, length = (gains[:, 0] - gains[:, 1]).mean() / 2, gains.mean()
compare(prediction, measured="first" if order > length.abs() else "long" if length > 0 else "short")
pd.DataFrame.from_dict(rows, orient="index").round(2)

# %% [markdown]
# The numbers are log p(long) − log p(short). This judge prefers answer A in every pair, whichever it is, by more than
# 1 nat: a **position bias**. Once the orders are averaged, the padding doesn't help, and a wrong long answer does as
# well as a right one. So with this prompt, this model (in 4 bits) can't judge at all. Before you trust a judge, swap
# the answers, pad one, and give it pairs for which you know the better answer.

# %% [markdown]
# ## ★ Transfer: leaks and duplicates in training data
#
# Where does pretraining text come from? In most published recipes, from four steps. **Crawl** the web. **Filter**: keep
# one language, and drop boilerplate and pages that a small classifier rates as poor. **Deduplicate**: the same page
# occurs under many addresses, and a license text on millions of pages. **Mix**: choose how much code, mathematics and
# web text the model sees. A last step searches the text for the questions of known benchmarks.
#
# The last two searches use the same tool. An **n-gram** is n words in a row. If many n-grams of a text occur in
# another, one was copied.
#
# **Exercise.** Which fraction of a text's n-grams occurs in another text?


# %% id="ngram_overlap" tags=["exercise"]
def ngram_overlap(words: list[str], others: list[str], n: int) -> float:
    """Return the fraction of the n-grams of a text that also occur in another text; 0 if it has none."""
    raise NotImplementedError


# %% id="check-ngram_overlap"
check(ngram_overlap)

# %% [markdown]
# First, the leak. We look for the questions in a training text that contains half of them, as they are and in other
# words.
#
# **Predict.** GPT-3's authors searched for 13-grams; our questions are shorter, so we take n = 5. Of the 25 leaked
# questions, how many have more than half of their 5-grams in the text (about 0, 12 or 25)? And of the same questions in
# other words?

# %% tags=["prediction"]
found_as_leaked, found_in_other_words = ..., ...


# %%
def words_of(text: str) -> list[str]:
    return re.findall(r"\w+", text.lower())


training_text = words_of(" ".join(f"{q['question']} {q['options'][q['right']]}" for q in questions[::2]))
found = {
    name: sum(parts.ngram_overlap(words_of(q[key]), training_text, 5) > 0.5 for q in some)
    for name, key, some in (
        ("as leaked", "question", questions[::2]),
        ("in other words", "rephrased", questions[::2]),
        ("not leaked", "question", questions[1::2]),
    )
}
compare(found_as_leaked, measured=found["as leaked"], choices=(0, 12, 25))
compare(found_in_other_words, measured=found["in other words"], choices=(0, 12, 25))
print(*(f"{name}: {count} of 25 questions" for name, count in found.items()), sep="\n")

# %% [markdown]
# The search finds 22 questions; the other three have fewer than five words. In other words, it finds none. So a clean
# search is no proof: in the runs above, a leak raised the score on rephrased questions all the same.
#
# Now the duplicates. The docstrings of Python, one of the course's training texts, are written by people who copy from
# one another. `python_docstrings`, which lesson 09 trains on, drops exact copies and holds out whole modules. Is that
# worth the trouble? We split them carelessly instead: one docstring, one text, a tenth of them held out at random.

# %% tags=["approximate"]
modules = sorted(Path(sysconfig.get_path("stdlib")).glob("*.py"))
everything = [text for path in modules for text in docstrings_of(path.read_bytes())]
distinct = list(dict.fromkeys(everything))


def without_near_copies(texts: list[str], n: int = 5, limit: float = 0.5) -> list[str]:
    """Return the texts without those of which most n-grams have occurred in an earlier text."""
    known, kept = set(), []
    for text in texts:
        words = words_of(text)
        ngrams = [tuple(words[i : i + n]) for i in range(len(words) - n + 1)]
        if sum(ngram in known for ngram in ngrams) <= limit * len(ngrams):
            kept.append(text)
        known.update(ngrams)
    return kept


kept = without_near_copies(distinct)
sizes = {"all": everything, "without exact copies": distinct, "without near copies": kept}
rows = {name: {"texts": len(texts), "kilobytes": sum(map(len, texts)) / 1_000} for name, texts in sizes.items()}
pd.DataFrame.from_dict(rows, orient="index").round(0).astype(int)

# %% [markdown]
# As the model we take a compressor, which lesson 09 used as a baseline: the bytes that it adds for a held-out text,
# after it has read the training texts.
#
# **Predict.** With a random split of *all* docstrings, how many bits per byte do held-out texts take that have an exact
# copy in the training texts, compared with the others: about as many (`"same"`), or less than half (`"half"`)?

# %% tags=["prediction"]
prediction = ...


# %% tags=["approximate"]
def compressed_bits(train: list[str], held_out: list[str]) -> float:
    """Return the bits per byte that held-out texts add to the compressed training texts."""
    seen, new = ("\n\n".join(texts).encode() for texts in (train, held_out))
    return 8 * (len(lzma.compress(seen + new)) - len(lzma.compress(seen))) / len(new)


def split(texts: list[str], seed: int) -> tuple[list[str], list[str]]:
    texts = random.Random(seed).sample(texts, len(texts))
    return texts[len(texts) // 10 :], texts[: len(texts) // 10]


rows = []
for seed in range(3):
    train, held_out = split(everything, seed)
    copied = [text for text in held_out if text in set(train)]
    others = [text for text in held_out if text not in set(train)]
    bits = {"with a copy": compressed_bits(train, copied), "without a copy": compressed_bits(train, others)}
    rows.append({"held out": len(held_out), "with a copy in training": len(copied)} | bits)
table = pd.DataFrame(rows).rename_axis("seed")
compare(prediction, measured="half" if (table["with a copy"] < table["without a copy"] / 2).all() else "same")
table.round(2)

# %% [markdown]
# <details><summary>What the table shows</summary>
#
# A text with a copy takes 0.4 bits per byte, and the others about 1.8: the compressor only has to point at the copy.
# About one held-out text in 13 is such a copy, so this split reports a lower loss than new text would have. And exact
# copies are not all: almost 300 more texts share most of their 5-grams with an earlier one. Without both kinds, the
# text is almost a tenth shorter, and a run of the same length sees more that is new.
# </details>

# %% [markdown]
# ## Free answers
#
# Back to the 50 questions. In a chat, nobody lists the options: the model writes, and a program grades what it wrote.
# We let SmolLM2 write up to 40 tokens, always taking the likeliest one. Our program accepts an answer that has all
# words of the right option (without words such as `the` and `is`) and not all words of another option. We also read the
# answers ourselves.
#
# **Predict.** By log-probabilities, five examples gave 0.70, and the question in the chat template 0.58. What do the
# free answers score in the chat template: about 0.1, 0.3 or 0.6?

# %% tags=["prediction"]
prediction = ...


# %%
FILLERS = {"a", "an", "the", "to", "in", "of", "is", "it", "its", "by"}


def content(text: str) -> set[str]:
    """Return the words of a text, without those that say little."""
    return {*re.findall(r"\w+", text.lower())} - FILLERS


def graded(answer: str, question: dict) -> bool:
    """Return whether an answer has all words of the right option, and not all of another."""
    named = [content(option) <= content(answer) for option in question["options"]]
    return named[question["right"]] and sum(named) == 1


# %% id="free-answers-4"
by_reader = read_json(FOLDER / "multiple-choice" / "free-by-hand.json")  # what we accepted when we read the answers
rows = {}
for run in stored["free"]:
    name = f"{run['template']}, {run['n_examples']} examples"
    by_program = torch.tensor([*map(graded, run["answers"], questions)]).float()
    read = torch.tensor(by_reader[name]).float()
    rows[name] = {"log-probabilities": asked[name], "free, by the program": by_program, "free, read by us": read}
    rows[name]["program and readers agree"] = (by_program == read).float()
table = pd.DataFrame({name: {way: scores.mean().item() for way, scores in row.items()} for name, row in rows.items()}).T
in_chat, with_examples = table["free, by the program"]
compare(prediction, measured=in_chat, choices=(0.1, 0.3, 0.6))
last = stored["free"][-1]["answers"]  # those after five examples
for i in (7, 3, 23):
    accepted = graded(last[i], questions[i])
    print(f"{questions[i]['question']} {last[i]!r}, program: {accepted:d}, readers: {by_reader[name][i]}")
table.round(2)

# %% [markdown]
# Choosing among four options is easier than finding an answer: on the same questions, free answers score less. How much
# less depends on the grader. Ours rejects `8` and `temperature`, which we accept, and takes `ice cream` for `ice`. In
# the chat template its errors cancel: it gives nearly our score, but disagrees with us on 11 of the 50 answers. So read
# a sample, and report how often readers and program agree. (After five examples the model answers in a word or two, and
# we accept more answers than in its own chat template.)

# %% [markdown]
# ## Agents: every run must succeed
#
# A benchmark for **agents** (lesson 14) gives a task, tools and a test at the end: a bug in a repository
# ([SWE-bench](https://arxiv.org/abs/2310.06770)), a customer with a wish ([τ-bench](https://arxiv.org/abs/2406.12045)).
# The same agent may solve the same task today and not tomorrow, so run each task several times. pass@k asks whether
# *one* of k runs succeeds. If you rely on the agent, you want *all* k to succeed: **pass^k**, estimated by C(c, k) /
# C(n, k). Two agents with the same mean:

# %% id="agents-2"
steady, shaky = torch.cat([torch.ones(35), torch.zeros(15)]), torch.full((50,), 0.7)  # p of success on each of 50 tasks
rows, n, k = {}, 8, 4
drawn = torch.rand(50, n, generator=torch.Generator().manual_seed(0))
for name, p_task in {"always or never": steady, "7 times in 10": shaky}.items():
    counts = (drawn < p_task[:, None]).sum(dim=1)
    rows[name] = {
        "mean": (counts / n).mean().item(),
        "pass@4": statistics.fmean(parts.pass_at_k(n, int(c), k) for c in counts),
        "pass^4": statistics.fmean(math.comb(int(c), k) / math.comb(n, k) for c in counts),
        "error over 50 tasks": ((counts / n).std() / 50**0.5).item(),
    }
pd.DataFrame.from_dict(rows, orient="index").round(2)

# %% [markdown]
# Eight runs of one task are not eight questions: put the error bar on the means of the tasks. Report the cost, too
# (tokens, calls, minutes), since an agent that may try longer often scores higher ([Kapoor et al.,
# 2024](https://arxiv.org/abs/2407.01502)). And run in a **sandbox** that starts each run from the same state, hides the
# solution and the test, and has no network, or the agent may find the answer instead of working it out.

# %% [markdown]
# ## Your experiment
#
# Ungraded, about 10 minutes. Test a claim of your own, or begin with this one:
#
# **Claim.** 25 questions are enough to see that SmolLM2 answers better when its options are continued as text than when
# it names a letter: the difference is more than two paired errors.
#
# **Prediction.** Before you run anything, write down in how many of three runs the claim will hold.
#
# **Verdict.** Say in one sentence what the runs show. A claim that fails is a result, too.

# %% id="experiment" tags=["experiment", "skip-execution"]
prediction = ...  # in how many of the three runs will the claim hold?
holds = []
for seed in range(3):
    drawn = torch.randperm(50, generator=torch.Generator().manual_seed(seed))[:25]
    text, letter = (asked[f"{name}, 0 examples"][drawn] for name in ("Question, Answer", "letters"))
    difference, error = parts.paired_error_bar(text, letter)
    holds.append(...)  # True or False, from the difference and its error
print("predicted:", prediction, " measured:", holds)
# Verdict:

# %% [markdown]
# ## In short
#
# - Multiple choice is scored by log-probabilities: append each option, and compare. Sums and means can choose
#   different options.
# - A score belongs to a model *and* a prompt. Report the template, the examples and the normalization.
# - On 50 questions, a score of 0.6 has a 95 % interval more than 0.25 wide. Compare models question by question, with a
#   paired error.
# - Our leaks raised the scores on what leaked, even in other words. Keep questions that no model has seen.
# - Deduplicate before you split, or the held-out texts are in the training data.

# %% [markdown]
# ## New words
#
# The words of all lessons are in the [glossary](glossary.ipynb).
#
# - **standard error**: how much a mean would vary if the questions were drawn again; it shrinks with the root of n.
# - **bootstrap**: estimating an error by drawing from the sample itself, with replacement.
# - **confidence interval**: a range from a sample, made so that 95 % of such ranges contain the true value.
# - **paired comparison**: comparing two models by their differences on each question.
# - **contamination**: questions of a test in the training data.
# - **position bias**: a judge's preference for an answer because of its place in the prompt.
# - **n-gram**: n words or tokens in a row.
# - **pass^k**: the probability that all of k runs succeed.
# - **sandbox**: a closed environment in which a program or an agent runs, always from the same state.

# %% [markdown]
# ## Interview questions
#
# Answer aloud first; the section named in each answer has the cell that shows it.
#
# <details><summary>How does a base model take a multiple-choice test?</summary>
#
# Append each option to the question, add up the log-probabilities of the option's tokens, and take the highest score.
# Say whether you divide by the length, since that can change the result. (<i>A benchmark of 50 questions</i>)
# </details>
#
# <details><summary>A new prompt raises a score from 0.58 to 0.64 on 50 questions. Is the prompt better?</summary>
#
# You can't tell. The standard error of each score is 0.07. Compare the two question by question, or take more
# questions. (<i>What 50 questions can show</i>, <i>Comparing two models on the same questions</i>)
# </details>
#
# <details><summary>Why is a paired comparison usually sharper?</summary>
#
# Both models find the same questions hard, so their scores are correlated, and what they share cancels in the
# differences. If their answers are unrelated, it gains nothing. (<i>Comparing two models on the same questions</i>)
# </details>
#
# <details><summary>How would you test whether a benchmark was in the training data?</summary>
#
# With the data: search for n-grams of the questions, which misses rephrased copies. Without it: compare the score with
# that on new questions of the same kind; rephrasing alone may not uncover a leak. (<i>Training on the test</i>,
# <i>★ Transfer</i>)
# </details>
#
# <details><summary>Two reports give one model different scores on one benchmark. Name three harmless reasons.</summary>
#
# Another template, other examples in the prompt, another normalization of the scores. (<i>The same questions, asked
# differently</i>)
# </details>
#
# <details><summary>Why deduplicate training data?</summary>
#
# Copies cost computation, are memorized, and put held-out texts into the training data, so that the held-out loss looks
# too good. (<i>★ Transfer</i>)
# </details>
#
# <details><summary>Why not estimate pass@k by 1 − (1 − c/n)^k?</summary>
#
# It draws with replacement from n samples, and is too low on average, with however many questions. (<i>Several
# tries</i>)
# </details>

# %% [markdown]
# ## What to read next
#
# - Miller (2024), [arXiv:2411.00640](https://arxiv.org/abs/2411.00640): error bars for evaluations of language models.
# - Biderman et al. (2024), [arXiv:2405.14782](https://arxiv.org/abs/2405.14782): lessons from a widely used
#   evaluation harness.
# - Sclar et al. (2023), [arXiv:2310.11324](https://arxiv.org/abs/2310.11324): how much a score depends on the format of
#   the prompt.
# - Zheng et al. (2023), [arXiv:2306.05685](https://arxiv.org/abs/2306.05685): models as judges, and their biases of
#   position and length.
# - Lee et al. (2021), [arXiv:2107.06499](https://arxiv.org/abs/2107.06499): deduplicating training data makes language
#   models better.
# - Penedo et al. (2024), [arXiv:2406.17557](https://arxiv.org/abs/2406.17557): FineWeb, a crawl filtered step by step,
#   with the effect of each.
# - `authoring/score_questions.py`: how the stored scores were computed.

# %% [markdown]
# How far did you get, and how well did you predict?

# %% id="tally"
tally()
