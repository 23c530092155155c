"""Tokenizers: characters for small tasks, and byte-level BPE for corpora.

Both are instances of ``tokenizers.Tokenizer`` and are saved in its format, ``tokenizer.json``.
"""

import re
from collections.abc import Iterable
from pathlib import Path

from tokenizers import Regex, Tokenizer, decoders, models, pre_tokenizers, trainers

PAD, BOS, EOS, UNKNOWN = "<pad>", "<bos>", "<eos>", "<unk>"
SPECIAL_TOKENS = [PAD, BOS, EOS, UNKNOWN]
PAD_ID, BOS_ID, EOS_ID, UNKNOWN_ID = range(4)

MAX_CHARACTERS_PER_TOKEN = 50
"""Maximum length of a text, in characters per token of the model's maximum length. Longer texts are rejected without
being tokenized, because tokenizing megabytes is slow."""
MAX_WORD_LENGTH = 500
"""Maximum number of characters without a space in training text; scripts without spaces need long pieces."""
OVERLONG_WORD = re.compile(rf"\S{{{MAX_WORD_LENGTH + 1},}}")


def character_tokenizer(texts: Iterable[str]) -> Tokenizer:
    """Return a tokenizer with a token for every character that occurs in the texts.

    >>> tokenizer = character_tokenizer(["abc"])
    >>> tokenizer.encode("cab!").ids, tokenizer.decode([6, 4])
    ([6, 4, 5, 3], 'ca')
    """
    characters = sorted({character for text in texts for character in text})
    vocabulary = {token: index for index, token in enumerate([*SPECIAL_TOKENS, *characters])}
    tokenizer = Tokenizer(models.WordLevel(vocabulary, unk_token=UNKNOWN))
    tokenizer.pre_tokenizer = pre_tokenizers.Split(Regex(r"[\s\S]"), "isolated")
    tokenizer.decoder = decoders.Fuse()
    tokenizer.add_special_tokens(SPECIAL_TOKENS)
    return _plain(tokenizer)


def bpe_tokenizer(texts: Iterable[str], vocab_size: int) -> Tokenizer:
    """Learn a byte-level BPE tokenizer: the most frequent strings become tokens, and every text can be encoded.

    Sennrich et al. (2016), arXiv:1508.07909, on bytes as in GPT-2. Pieces of more than ``MAX_WORD_LENGTH`` characters
    without a space (a URL, a hash, a row of dashes) are ignored, because learning takes time proportional to the square
    of their length, and repeated pieces would fill the vocabulary.

    Args:
        texts: The texts to learn from, which are read once, one at a time.
        vocab_size: Vocabulary size, including the 256 bytes and the special tokens.

    Raises:
        ValueError: ``vocab_size`` is too small for the bytes and the special tokens.
    """
    min_size = 256 + len(SPECIAL_TOKENS)
    if vocab_size < min_size:
        raise ValueError(
            f"byte-level BPE requires a vocabulary of at least {min_size} tokens; got vocab_size={vocab_size}"
        )
    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    trainer = trainers.BpeTrainer(
        vocab_size=vocab_size, special_tokens=SPECIAL_TOKENS, initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
        show_progress=False,
    )  # fmt: skip
    tokenizer.train_from_iterator((OVERLONG_WORD.sub(" ", text) for text in texts), trainer)
    return _plain(tokenizer)


def load_tokenizer(path: Path) -> Tokenizer:
    """Load a tokenizer that this library saved.

    Raises:
        ValueError: The file is missing or corrupted, or its tokenizer has different special tokens.
    """
    try:
        tokenizer = Tokenizer.from_file(str(path))
    except Exception as error:  # the library raises plain Exception
        raise ValueError(f"{path} does not contain a tokenizer: {' '.join(str(error).split())}") from error
    if not is_own(tokenizer):
        ids = [tokenizer.token_to_id(token) for token in SPECIAL_TOKENS]
        raise ValueError(f"the first tokens of {path} must be {', '.join(SPECIAL_TOKENS)}; got the ids {ids}")
    return _plain(tokenizer)


def is_own(tokenizer: Tokenizer) -> bool:
    """Return whether a tokenizer's vocabulary begins with this library's special tokens."""
    return [tokenizer.token_to_id(token) for token in SPECIAL_TOKENS] == list(range(len(SPECIAL_TOKENS)))


def _plain(tokenizer: Tokenizer) -> Tokenizer:
    """Make the tokenizer encode special tokens as plain characters, so that a text cannot end or mask itself."""
    tokenizer.encode_special_tokens = True  # this setting is not saved with the tokenizer
    return tokenizer
