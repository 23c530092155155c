# %% [markdown] id="title"
# # Tokenizers · what a model reads instead of text
#
# **The question.** How many times does the letter r occur in `strawberry`? Until about 2024, models that wrote good
# essays often got this wrong, and sums of long numbers too; and the same sentence costs more in one language than in
# another. The Transformer is not the first suspect. What is?
#
# **Afterwards you can** learn a vocabulary of byte pairs, encode and decode any text with it, compare vocabularies in
# bits per byte, and say what a tokenizer does to other scripts, to letters and to numbers.
#
# Reading: 29 minutes. Exercises: 45 minutes (four core, one stretch ★). With all predictions, runs and questions: about
# 87 minutes.

# %% [markdown]
# ## Before you start
#
# This lesson comes between 08 and 09. Three questions from lessons 00 to 08. Answer each one aloud, then open it.
#
# <details><summary>What does an embedding do with a token?</summary>
#
# It takes the row of a table that has the token's number. The rows are learned.
# </details>
#
# <details><summary>Which tokens did the date translator of lesson 08 read?</summary>
#
# The characters of its dates: one token each.
# </details>
#
# <details><summary>Attention compares every token with every other. What does a text twice as long cost?</summary>
#
# Four times as many scores, and twice as much of everything else.
# </details>

# %% id="imports"
import math
import random
import re
from collections import Counter
from datetime import date
from itertools import pairwise

import pandas as pd
import torch
from jaxtyping import Int
from tokenizers import Tokenizer
from torch import Tensor, nn

from transformer_course import check, compare, diagrams, hint, parts, plots, solution, tally
from transformer_course.stored_models.stored_model import FOLDER
from transformer_lab import trace_shapes
from transformer_lab.data.dates import LOCALES, write_date
from transformer_lab.data.docstrings import python_docstrings
from transformer_lab.data.tokenizers import bpe_tokenizer
from transformer_lab.pretrained.hub import read_json

# %%
_ = torch.manual_seed(8)

# %% [markdown]
# ## Characters or bytes
#
# A model reads numbers. The simplest tokenizer numbers the *characters* of its training text. We take one day of each
# month of 2021, as it is written in 33 languages and regions.
#
# **Predict.** How many different characters occur in these dates: about 50, 300 or 3,000?

# %% tags=["prediction"]
prediction = ...

# %%
days = [date(2021, month, 3) for month in range(1, 13)]
dates = {locale: [write_date(day, locale, "full") for day in days] for locale in LOCALES}
characters = Counter("".join(text for texts in dates.values() for text in texts))
compare(prediction, measured=len(characters), choices=(50, 300, 3_000))
print(len(characters), "characters, among them", *filter(str.isalpha, sorted(characters)[::24]))

# %% [markdown]
# A new character, such as 😀, has no number: it becomes `<unk>`, and is lost. Unicode has more than 150,000 characters,
# and a model would hardly ever see most of them.
#
# **UTF-8** writes every character as one to four **bytes**, numbers from 0 to 255. So 256 tokens are enough for any
# text; nothing is unknown.

# %%
rows = {}
for locale in ("en_US", "fr", "el", "ru", "hi", "th", "ja"):
    text = dates[locale][2]
    rows[locale] = {"text": text, "characters": len(text), "bytes": len(text.encode())}
pd.DataFrame.from_dict(rows, orient="index")

# %% [markdown]
# The price is length: a letter takes one byte in English, two in Greek or Russian, three in Hindi, Thai or Japanese.
# Even an English text is long in bytes, and the cost of attention grows with the square of the length. So we look for
# something between bytes and words: longer tokens for what is frequent.

# %% [markdown]
# ## Byte pairs
#
# Byte-pair encoding (BPE), which lesson 08 used ready-made, begins with the 256 bytes and makes one new token at a
# time. Which two tokens are neighbors most often? That pair becomes a token of its own, number 256; the next pair
# becomes number 257, and so on (Gage, 1994, for compression; [Sennrich et al., 2016](https://arxiv.org/abs/1508.07909),
# from characters, for translation; GPT-2, from bytes).
#
# **Exercise.** Count all pairs of neighboring tokens.


# %% id="count_pairs" tags=["exercise"]
def count_pairs(tokens: list[int], vocab_size: int) -> Int[Tensor, "vocab_size vocab_size"]:
    """Return how often each token is followed by each: a row for the first of a pair, a column for the second."""
    raise NotImplementedError


# %% id="check-count_pairs"
check(count_pairs)

# %% [markdown]
# The most frequent pair becomes one token, wherever it occurs. In `aaa`, with the pair `aa`, the first two letters
# are merged, and the third is left.
#
# **Exercise.** Go through the text from left to right. Return a new list; do not change the caller's.


# %% id="merge" tags=["exercise"]
def merge(tokens: list[int], pair: tuple[int, int], new_id: int) -> list[int]:
    """Return the tokens with new_id in place of each occurrence of the pair, from left to right."""
    raise NotImplementedError


# %% id="check-merge"
check(merge)

# %% [markdown]
# Together, the two functions learn a vocabulary. All that is kept is the **merges**, in their order: which pair became
# which token. (`divmod` turns an index into a row and a column.)


# %%
def learn(text: str, n_merges: int) -> list[tuple[int, int]]:
    """Return the pairs that BPE merges in a text, in their order."""
    tokens, merges = list(text.encode()), []
    for new_id in range(256, 256 + n_merges):
        best = parts.count_pairs(tokens, new_id).argmax().item()
        merges.append(divmod(best, new_id))
        tokens = parts.merge(tokens, merges[-1], new_id)
    return merges


# %% [markdown] id="caption-merges-of-a-word"
# Here, three merges are learned from a single word. (`ab`, `br` and `ra` all occur twice; of equally frequent pairs,
# that with the smaller numbers comes first.) The third merge joins two tokens that are merged themselves:

# %% id="merges-of-a-word"
diagrams.byte_pairs.merged("abracadabra", learn("abracadabra", 3))

# %% [markdown]
# We learn from the beginning of Python's docstrings, which come with Python: English, with some code.
#
# **Predict.** How many characters does the longest of the first 300 new tokens have: about 3, 10 or 40?

# %% tags=["prediction"]
prediction = ...

# %% tags=["approximate"]
train_texts, held_out_texts = python_docstrings()
sample = "\n\n".join(train_texts)[:30_000]
merges = learn(sample, 300)
pieces = [bytes([byte]) for byte in range(256)]
for first, second in merges:
    pieces.append(pieces[first] + pieces[second])
longest = max(pieces, key=len)
compare(prediction, measured=len(longest), choices=(3, 10, 40))

# %% id="first-pieces" tags=["nbval-ignore-output"]
print("the first 20:", *(repr(piece.decode()) for piece in pieces[256:276]))
print("the longest:", repr(longest.decode()))

# %% [markdown]
# For 50,000 tokens, our table would have 2.5 billion entries, almost all of them 0. Real tokenizers count only the
# pairs that occur, in a dict such as Python's `Counter`, and they count each different word only once.

# %% tags=["nbval-ignore-output"]
pairs_of_sample = Counter(pairwise(sample.encode()))
print(f"{len(pairs_of_sample)} of {256**2:,} pairs of bytes occur; the most frequent:")
print(*(f"{bytes(pair)!r}: {count}" for pair, count in pairs_of_sample.most_common(5)), sep="   ")

# %% [markdown]
# ## Encoding
#
# A new text is turned into bytes; then all merges are applied, in the order in which they were learned.
#
# **Exercise.** The bytes are the tokens 0 to 255, the first merge makes token 256. Your `merge` is in `parts`.


# %% id="encode" tags=["exercise"]
def encode(text: str, merges: list[tuple[int, int]]) -> list[int]:
    """Return the tokens of a text: its bytes, after all merges in the order in which they were learned."""
    raise NotImplementedError


# %% id="check-encode"
check(encode)

# %% [markdown]
# ### Bug hunt
#
# A colleague has written a faster tokenizer, which looks only for pairs that occur in the text. Whatever it encodes is
# decoded to exactly the same text. But a model that has been trained predicts its tokens worse than those of the old
# tokenizer. What is wrong? Decide *before* you run the check. Then put a corrected version, `mended`, into the cell
# after it.


# %% tags=["bug-hunt"]
def encode_of_a_colleague(text, merges):
    new_ids = {tuple(pair): new_id for new_id, pair in enumerate(merges, start=256)}
    tokens = list(text.encode("utf-8"))
    while pairs := [pair for pair in pairwise(tokens) if pair in new_ids]:
        pair = min(pairs)
        tokens = parts.merge(tokens, pair, new_ids[pair])
    return tokens


# %% id="mend-encode"
mended = encode_of_a_colleague

# %% id="check-mend-encode"
check(mended, "encode", save=False)

# %% [markdown]
# <details><summary>How to find such a bug without a check</summary>
#
# Decoding proves little: many sequences of tokens are decoded to the same text. The model has seen one of them, that
# of the learned order. Compare with the training text: encoded again, it must give the tokens that learning left. The
# pair to merge is the one that was learned *first*, `min(pairs, key=new_ids.get)`. `min(pairs)` takes the pair with the
# smallest ids.
# </details>

# %%
merges_of_bc = [(98, 99), (97, 98)]  # b c, then a b
for name, function in {"the colleague's": encode_of_a_colleague, "yours or the library's": parts.encode}.items():
    print(f"{name}:", function("abc bc bc", merges_of_bc))

# %% [markdown]
# ## Decoding
#
# A merged token stands for the bytes of its two tokens, one after the other. But a model may generate any tokens, even
# half a character: bytes that are not valid UTF-8, and are shown as �.
#
# **Exercise.** Python's `bytes.decode` has an argument for that.


# %% id="decode" tags=["exercise"]
def decode(tokens: list[int], merges: list[tuple[int, int]]) -> str:
    """Return the text of tokens; bytes that are no whole character become �."""
    raise NotImplementedError


# %% id="check-decode"
check(decode)

# %%
for text in ("Return the largest value.", "strawberry", dates["th"][2]):
    tokens = parts.encode(text, merges)
    assert parts.decode(tokens, merges) == text
    print(f"{len(text)} characters, {len(text.encode())} bytes, {len(tokens)} tokens")

# %% tags=["nbval-ignore-output"]
for text in ("Return the largest value.", "strawberry"):
    print(*(repr(parts.decode([token], merges)) for token in parts.encode(text, merges)))

# %% [markdown]
# The model reads the numbers of these pieces, not their letters. To count the r in `strawberry`, it must have learned
# from its text how each piece is spelled.

# %% [markdown]
# ## Cut before the merges
#
# The merges do not know what a word is: `the ` is one token with the space after it. So a word's tokens depend on what
# follows. GPT-2 and its successors cut the text first, before each space and at punctuation, and no token crosses a
# cut: **pre-tokenization**. So does `bpe_tokenizer`, here with as many merges:

# %% tags=["nbval-ignore-output"]
with_cuts = bpe_tokenizer([sample], 300 + 256 + 4)  # merges, bytes and special tokens
print("the cuts (Ġ is a space):", *(piece for piece, _ in with_cuts.pre_tokenizer.pre_tokenize_str("It's the value.")))
for text in ("the value is", "the value."):
    print("without cuts:", *(repr(parts.decode([token], merges)) for token in parts.encode(text, merges)))
    print("with cuts:   ", *(repr(with_cuts.decode([token])) for token in with_cuts.encode(text).ids))

# %% [markdown]
# Without cuts, a model has to learn twice what a value is.
#
# `<eos>` is a **special token**: a number that no merge makes. The characters `<eos>` in a text must not become it, or
# a user could speak as the assistant (lesson 14).

# %% tags=["nbval-ignore-output"]
print("the special token:", with_cuts.token_to_id("<eos>"), "  its characters:", with_cuts.encode("<eos>").ids)

# %% [markdown]
# ## How large should a vocabulary be?
#
# `bpe_tokenizer` is compiled, so now it learns from all docstrings. The larger the vocabulary, the shorter the texts,
# so losses per token cannot be compared. **Bits per byte** can: the loss of a text in bits (with log₂), divided by the
# number of its bytes. The model is a **bigram**: how often does a token follow the one before it?

# %% [markdown]
# **Predict.** From bytes to 4,096 tokens: do the bits per byte of the bigram model fall (`"down"`) or rise (`"up"`)?
# And with 4,096, how many bytes does a token have on average: about 3, 6 or 12?

# %% tags=["prediction"]
direction, bytes_each = ..., ...


# %%
def bigram_bits(train: list[int], held_out: list[int], vocab_size: int) -> float:
    """Return the bits that a bigram model needs for the held-out tokens; rare pairs get some of the unigram."""
    train, held_out = torch.tensor(train), torch.tensor(held_out)
    unigram = torch.bincount(train, minlength=vocab_size) + 0.1
    unigram = unigram / unigram.sum()
    pairs, n_pairs = (train[:-1] * vocab_size + train[1:]).unique(return_counts=True)
    wanted = held_out[:-1] * vocab_size + held_out[1:]
    place = torch.searchsorted(pairs, wanted).clamp(max=len(pairs) - 1)
    n_wanted = n_pairs[place] * (pairs[place] == wanted)
    before = torch.bincount(train[:-1], minlength=vocab_size)[held_out[:-1]]
    p = (n_wanted + 50 * unigram[held_out[1:]]) / (before + 50)
    return -p.log2().sum().item()


# %% tags=["approximate"]
n_bytes = sum(len(text.encode()) for text in held_out_texts)
rows = {}
for vocab_size in (260, 512, 1024, 2048, 4096, 8192):
    tokenizer = bpe_tokenizer(train_texts, vocab_size)
    train, held_out = (tokenizer.encode("\n\n".join(some)).ids for some in (train_texts, held_out_texts))
    bits = bigram_bits(train, held_out, vocab_size) / n_bytes
    rows[vocab_size] = {"bytes per token": n_bytes / len(held_out), "bits per byte": bits}
sizes = pd.DataFrame.from_dict(rows, orient="index")
sizes["embedding, width 512"] = [f"{512 * vocab_size:,}" for vocab_size in sizes.index]
compare(direction, measured="down" if sizes["bits per byte"][4096] < sizes["bits per byte"][260] else "up")
compare(bytes_each, measured=sizes["bytes per token"][4096], choices=(3, 6, 12))
sizes.round(2)

# %% tags=["approximate"]
x = [math.log2(vocab_size) for vocab_size in sizes.index]
ax = plots.lines(x, {"bigram": list(sizes["bits per byte"])}, "vocabulary size, log₂", "bits per byte")

# %% [markdown]
# And the colleague of the bug hunt? A bigram counts text of the learned order, then reads either.

# %% tags=["approximate"]
counted, some = parts.encode(sample, merges), "\n\n".join(held_out_texts)[:3_000]
for name, function in {"the learned order": parts.encode, "the colleague's": encode_of_a_colleague}.items():
    bits = bigram_bits(counted, function(some, merges), 256 + len(merges)) / len(some.encode())
    print(f"{name}: {bits:.2f} bits per byte")

# %% [markdown]
# A token of several bytes lets a bigram see further back, so the bits fall; a Transformer looks back anyway, and its
# curve may differ. Each doubling of the vocabulary, and of the embedding, gains less; the last loses, probably because
# most pairs are then rare.
#
# <details><summary>How large are the vocabularies of large models?</summary>
#
# With more text and larger models the best size grows: by one estimate to at least 216,000 for Llama 2 70B, which has
# 32,000 ([Tao et al., 2024](https://arxiv.org/abs/2407.13623)).
# </details>
#
# <details><summary>What becomes of tokens that the model never sees?</summary>
#
# A token that is frequent in the text of the merges may be missing from that of the model. Its row is never trained,
# and the model stumbles over it, as over ` SolidGoldMagikarp` in GPT-2's vocabulary ([Land and Bartolo,
# 2024](https://arxiv.org/abs/2405.05417)).
# </details>

# %%
model = nn.Sequential(nn.Embedding(4096, 64), nn.Linear(64, 4096, bias=False))  # a bigram model, in two layers
trace_shapes(model, torch.zeros(1, 11, dtype=torch.long)).drop(columns="class")

# %% [markdown]
# ## Who pays for the merges
#
# **Predict.** Merges of English docstrings, 4,096 tokens. How many times as many tokens does a date in Thai have as
# the same date in English: about 1, 2 or 5?

# %% tags=["prediction"]
prediction = ...

# %% tags=["approximate"]
tokenizer = bpe_tokenizer(train_texts, 4096)
n_tokens = pd.Series(
    {locale: sum(len(tokenizer.encode(text).ids) for text in texts) for locale, texts in dates.items()}
)
ratio = n_tokens / n_tokens["en_US"]
compare(prediction, measured=ratio["th"], choices=(1, 2, 5))
n_bytes = pd.Series({locale: sum(len(text.encode()) for text in texts) for locale, texts in dates.items()})
table = pd.DataFrame({"bytes, relative to English": n_bytes / n_bytes["en_US"], "tokens, relative to English": ratio})
table.loc[["fr", "tr", "el", "ru", "hi", "th", "ja"]].round(1)

# %% [markdown]
# A Thai date has 1.3 times as many characters as an English one, and UTF-8 makes 2.3 bytes of each: together, three
# times as many bytes. The merges, which shorten English and hardly touch Thai, do the rest. That costs time, context
# and, if a service charges by the token, money.
#
# <details><summary>How large is the difference with published tokenizers?</summary>
#
# Translations of a text differ in length by up to 15 times ([Petrov et al., 2023](https://arxiv.org/abs/2305.15425)).
# </details>
#
# The remedy is to learn from all these languages. We add dates of other years.
#
# **Predict.** The vocabulary keeps its 4,096 tokens. How many times as many tokens has a held-out *English* text now:
# about 1, 1.06 or 1.2?

# %% tags=["prediction"]
prediction = ...


# %% tags=["approximate"]
def length(tokenizer: Tokenizer, texts: list[str]) -> int:
    return sum(len(tokenizer.encode(text).ids) for text in texts)


others = [date(year, month, day) for year in (2019, 2020) for month in range(1, 13) for day in range(4, 29, 3)]
shared = bpe_tokenizer(train_texts + [write_date(day, locale, "full") for locale in LOCALES for day in others], 4096)
compare(prediction, measured=length(shared, held_out_texts) / length(tokenizer, held_out_texts), choices=(1, 1.06, 1.2))
for name, each in (("merges of English", tokenizer), ("merges of all", shared)):
    print(f"{name}: a date in Thai has {length(each, dates['th']) / length(each, dates['en_US']):.1f} times as many")

# %% [markdown]
# What Thai gains, English pays.

# %% [markdown]
# And the strawberry? With 4,096 tokens:

# %% tags=["nbval-ignore-output"]
for text in ("strawberry", " strawberry", "Strawberry", "STRAWBERRY"):
    print(*(repr(tokenizer.decode([token])) for token in tokenizer.encode(text).ids))

# %% [markdown]
# The model sees four different rows of numbers, and none says how many r it holds.

# %% [markdown]
# ### Six published tokenizers
#
# We counted the tokens of "Every child has the right to go to school." in three
# languages, of three lines of Python, and of the sum `1234567 + 89 = 1234656`.
#
# **Predict.** In GPT-2's tokenizer (2019), how many times as many tokens does the Thai sentence have as the English
# one: about 1, 3 or 6? And in GPT-4o's (2024)?

# %% tags=["prediction"]
gpt_2, gpt_4o = ..., ...

# %%
counted = read_json(FOLDER / "tokenizer-counts" / "counts.json")
tokens_of = {row["model"]: row["tokens"] for row in counted["tokenizers"]}
compare(gpt_2, measured=tokens_of["GPT-2"]["Thai"] / tokens_of["GPT-2"]["English"], choices=(1, 3, 6))
compare(gpt_4o, measured=tokens_of["GPT-4o"]["Thai"] / tokens_of["GPT-4o"]["English"], choices=(1, 3, 6))
sizes_of = {row["model"]: {"vocabulary": f"{row['vocab_size']:,}"} for row in counted["tokenizers"]}
pd.DataFrame.from_dict({model: sizes_of[model] | tokens_of[model] for model in tokens_of}, orient="index")

# %% [markdown]
# All six need ten tokens for the English sentence. In Hindi, Llama 3 and DeepSeek-V3 need about twice as many, and
# Qwen3 more than three times as many; GPT-4o and Gemma 3, which have the largest vocabularies, need nine. (This is one
# sentence, so the ratios are rough.)
#
# <details><summary>And the code?</summary>
#
# GPT-2 needs a third more tokens for it than most others, because it spends one on each space of an indentation.
# </details>

# %% [markdown]
# ## What merges do to numbers
#
# Where does it cut `2000`, `2001` and `1234567`?

# %% tags=["nbval-ignore-output"]
for number in ("2", "20", "200", "2000", "2001", "2021", "12345", "123456", "1234567"):
    print(number.rjust(8), "→", *(tokenizer.decode([token]) for token in tokenizer.encode(number).ids))

# %% [markdown]
# Numbers that the text repeats are one token; others are cut somewhere. Published tokenizers cut before the merges:

# %%
for row in counted["tokenizers"]:
    print(row["model"].rjust(11), "→", "|".join(piece.strip() for piece in row["the sum"] if piece.strip()))

# %% [markdown]
# GPT-2 still lets the merges decide. Qwen3 and Gemma 3 make every digit a token. The other three cut numbers into
# groups of at most three digits, from the left.

# %% [markdown]
# ## ★ Transfer: digits from the right
#
# Counted from the left, 1234567 is `123 456 7`, and its thousands are spread over two tokens. We group from the right:
# 1 234 567. GPT-3.5 and GPT-4 add better if numbers are cut like that ([Singh and Strouse,
# 2024](https://arxiv.org/abs/2402.14903)). The cuts are made *before* the merges.
#
# **Exercise.** A number is a run of the digits 0 to 9. Joined together, the pieces are the text again.


# %% id="group_digits" tags=["exercise"]
def group_digits(text: str) -> list[str]:
    """Return the text in pieces: each number in groups of three digits from the right, and what is between them."""
    raise NotImplementedError


# %% id="check-group_digits"
check(group_digits)

# %%
for text in ("1234567 + 89", "in 2021: 12345 lines"):
    print(parts.group_digits(text))

# %% [markdown]
# Now put your parts together: group the digits, then encode each piece. The merges were learned from English alone.


# %%
def yours(text: str) -> list[int]:
    return [token for piece in parts.group_digits(text) for token in parts.encode(piece, merges)]


whole = [parts.decode(yours(text), merges) == text for texts in dates.values() for text in texts[::4]]
print(f"{sum(whole)} of {len(whole)} dates, in {len(dates)} languages and regions, come back unchanged")

# %% [markdown]
# A tokenizer of your own: it reads any text that there is, and gives it back unchanged.

# %% [markdown]
# ## Back to the opening question
#
# ### Letters
#
# SmolLM2 (135 million parameters, here in 4 bits; you meet it in lesson 10) reads eight of the ten words below as a
# single token. We asked it to spell each word and to count one of its letters, always after three examples. Then we
# asked again with the letters apart, as in `c a t`: now each letter is a token, and to spell the word, the model only
# has to repeat it. (`authoring/spell_words.py` stored the answers.)
#
# **Predict.** Of the ten words, how many does it spell right (0, 5 or 10)? How many does it repeat right?

# %% tags=["prediction"]
spelled, repeated = ..., ...

# %% id="letters-of-ten-words"
asked = read_json(FOLDER / "spelled-words" / "answers.json")["words"]
n_right = {task: sum(row[task]["answer"] == row[task]["right"] for row in asked) for task in ("spell", "copy")}
compare(spelled, measured=n_right["spell"], choices=(0, 5, 10))
compare(repeated, measured=n_right["copy"], choices=(0, 5, 10))
rows = {}
for row in asked:
    counts = {"letter": row["count"]["question"].split()[6], "times": row["count"]["right"]}
    counts |= {"model's count": row["count"]["answer"], "letters apart": row["count, letters apart"]["answer"]}
    rows["|".join(row["tokens"])] = counts | {"spelled": row["spell"]["answer"][:15], "repeated": row["copy"]["answer"]}
pd.DataFrame.from_dict(rows, orient="index").rename_axis("tokens")

# %% [markdown]
# It begins nine of the ten words with the right letter and spells none of them. If it reads the letters, it repeats six
# words without an error. So for this model, tokens do hide letters. But they are only the first suspect: with all
# letters in view, it still counts 1 every time.

# %% [markdown]
# ### Sums
#
# We trained small GPTs (you write this model in lesson 09) to add two numbers. They differ only in how digits are
# grouped: `123` is `12 3` in pairs from the left, `1 23` in pairs from the right, and `1 2 3` in single digits. Each
# grouping has three seeds, at the best of three learning rates. (`authoring/train_adders.py`)
#
# **Predict.** After 1,000 steps on numbers of two or three digits, how many new sums are right, to the last digit: 0.1,
# 0.4 or 0.7 with pairs from the left? And with pairs from the right?

# %% tags=["prediction"]
from_left, from_right = ..., ...

# %% id="adders"
adders = pd.DataFrame(read_json(FOLDER / "adder-runs" / "right.json")["runs"])
adders["numbers of"] = adders["n_digits"].map("{0[0]} to {0[1]} digits".format)
by_rate = adders.groupby(["numbers of", "grouping", "rate"])
adders = by_rate.filter(lambda runs: len(runs) == 3)  # the best rate of each
few_digits = adders[adders["numbers of"] == "2 to 3 digits"].groupby("grouping")["right"].median()
compare(from_left, measured=few_digits["from the left"], choices=(0.1, 0.4, 0.7))
compare(from_right, measured=few_digits["from the right"], choices=(0.1, 0.4, 0.7))
by_grouping = adders.groupby(["numbers of", "grouping"])[["right", "aligned", "not aligned"]]
by_grouping.agg(lambda runs: f"{runs.min():.2f} to {runs.max():.2f}")

# %% [markdown]
# Pairs from the left are far behind in both settings (the models for up to four digits trained for 1,500 steps). The
# last columns show why. A sum is *aligned* if both numbers and their sum all have an even number of digits, or all an
# odd number: only then are pairs from the left cut at the same places in all three. Other sums they hardly ever get
# right. Pairs from the right and single digits are cut at the same places in every number. Of these two, single digits
# did better with up to three digits, and pairs from the right with up to four.

# %% [markdown]
# ## Your experiment
#
# Ungraded, about 15 minutes. Test a claim of your own, or begin with this one:
#
# **Claim.** Merges need little text: with 2,048 tokens learned from a tenth of the docstrings, held-out text has at
# most a tenth more tokens than with those learned from all.
#
# **Prediction.** Before you run anything, write down in how many of three runs the claim will hold.
#
# **Verdict.** Say in one sentence what the runs show. A claim that fails is a result, too.

# %% id="experiment" tags=["experiment", "skip-execution"]
prediction = ...  # in how many of the three runs will the claim hold?
holds = []
for seed in range(3):
    tenth = random.Random(seed).sample(train_texts, len(train_texts) // 10)
    tokenizers = [bpe_tokenizer(texts, 2048) for texts in (train_texts, tenth)]
    lengths = [sum(len(each.encode(text).ids) for text in held_out_texts) for each in tokenizers]
    holds.append(...)  # True or False, from the two numbers in `lengths`
print("predicted:", prediction, " measured:", holds)
# Verdict:

# %% [markdown]
# ## In short
#
# - With 256 tokens, bytes can encode any text; BPE merges the most frequent pairs into longer tokens.
# - Merges are applied in the order in which they were learned: many sequences decode to the same text, and a model
#   knows one.
# - A larger vocabulary makes texts shorter, and the embedding larger. Bits per byte compare tokenizers.
# - What was rare when the merges were learned costs more tokens: other scripts, for example, and most numbers.
# - SmolLM2 couldn't spell words that it reads as one token; most of them it could repeat from separate letters.
# - Our adders failed where digits were grouped from the left, because the cuts depend on the length of the number.

# %% [markdown]
# ## New words
#
# The words of all lessons are in the [glossary](glossary.ipynb).
#
# - **UTF-8**: the usual encoding of characters as bytes, one to four for each.
# - **merges**: the pairs that were merged, in their order; with the bytes they are the whole tokenizer.
# - **special token**: a number that stands for no text, such as the end of one, and that no merge makes.
# - **pre-tokenization**: cutting a text, at spaces for example, before the merges, so that no token crosses a cut.

# %% [markdown]
# ## Interview questions
#
# Answer aloud first; the section named in each answer has the cell that shows it.
#
# <details><summary>Why do language models read neither characters nor words?</summary>
#
# There are too many words, and new ones are unknown; characters make texts long, and the cost of attention grows with
# the square of the length. Byte pairs lie between: frequent text gets long tokens, and nothing is unknown.
# (<i>Characters or bytes</i>, <i>Byte pairs</i>)
# </details>
#
# <details><summary>How is a BPE vocabulary learned?</summary>
#
# Count the pairs of neighboring tokens, merge the most frequent one into a new token everywhere, and repeat until
# the vocabulary is large enough. (<i>Byte pairs</i>)
# </details>
#
# <details><summary>Two tokenizers have the same merges in another order. Are they the same?</summary>
#
# No. Where two pairs compete for a token, the one that was learned first gets it, and the numbers name other tokens. A
# model knows the tokens of one order only. (<i>Encoding</i>, <i>Bug hunt</i>)
# </details>
#
# <details><summary>Why may a model continue worse after a prompt that ends with a space?</summary>
#
# With cuts, a space belongs to the token of the word after it. A space on its own, followed by a word without one, is a
# sequence that the model has hardly seen. (<i>Cut before the merges</i>)
# </details>
#
# <details><summary>A model streams its answer token by token, and now and then a � flickers up. Why?</summary>
#
# A character of several bytes may be split between two tokens, and the first token alone is not a whole character. Wait
# for the rest before you show it. (<i>Decoding</i>)
# </details>
#
# <details><summary>What are the arguments for and against a larger vocabulary?</summary>
#
# For it: shorter texts and, for a bigram, fewer bits per byte, though each doubling gains less. Against it: a larger
# embedding and output matrix, and rare tokens that are hardly trained. (<i>How large should a vocabulary be?</i>)
# </details>
#
# <details><summary>Why may the same sentence cost more in one language than in another?</summary>
#
# The text from which the merges were learned held little of the dearer language, so its words are cut into short
# pieces, down to bytes. (<i>Who pays for the merges</i>)
# </details>
#
# <details><summary>Why is arithmetic harder with merged digits?</summary>
#
# A digit's place in its token depends on how the number happens to be cut. Single digits, or groups from the right, are
# cut at the same places in every number. Our adders got at most 0.26 of the sums right with pairs from the left, and at
# least 0.67 with the others. (<i>What merges do to numbers</i>, <i>Sums</i>)
# </details>

# %% [markdown]
# ## What to read next
#
# - Sennrich et al. (2016), [arXiv:1508.07909](https://arxiv.org/abs/1508.07909): BPE for translation.
# - Karpathy's [minbpe](https://github.com/karpathy/minbpe): the same functions, and the rule by which GPT-4 cuts
#   text.
# - Hugging Face's course, [chapter 6](https://huggingface.co/learn/llm-course/chapter6): BERT (WordPiece) and T5
#   (Unigram) choose their tokens by other rules.
# - Liu et al. (2025), [arXiv:2503.13423](https://arxiv.org/abs/2503.13423): SuperBPE lifts the cuts at spaces late in
#   learning, and needs up to a third fewer tokens.
# - Pagnoni et al. (2024), [arXiv:2412.09871](https://arxiv.org/abs/2412.09871): a model that reads bytes in patches,
#   without a tokenizer.
# - `transformer_lab/data/tokenizers.py`: the library's tokenizers.

# %% [markdown]
# How far did you get, and how well did you predict?

# %% id="tally"
tally()
