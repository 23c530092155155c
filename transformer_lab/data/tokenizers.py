"""From text to token ids and back: characters for small tasks, byte-level BPE for corpora.

Both are instances of ``tokenizers.Tokenizer``, and are saved in its format, ``tokenizer.json``.
"""

import re
from collections.abc import Iterable
from pathlib import Path

from tokenizers import Regex, Tokenizer, decoders, models, pre_tokenizers, trainers

PAD, BOS, EOS, UNKNOWN = "<pad>", "<bos>", "<eos>", "<unk>"
SPECIAL_TOKENS = [PAD, BOS, EOS, UNKNOWN]
PAD_ID, BOS_ID, EOS_ID, UNKNOWN_ID = range(4)

MAX_CHARACTERS_PER_TOKEN = 50
"""A text with more characters than this for each token that a model takes is too long, without being tokenized: to
tokenize megabytes takes long."""
MAX_WORD_LENGTH = 500
"""Number of characters without a space that a vocabulary is learned from at most; scripts without spaces need many."""
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
    """Learn byte-level BPE: the most frequent strings become tokens, and any text can be encoded.

    Sennrich et al. (2016), arXiv:1508.07909, on bytes as in GPT-2. Of a text without a space over more than
    ``MAX_WORD_LENGTH`` characters (an address, a hash, a row of dashes), that piece is not learned from: the time grows
    with the square of its length, and its repetitions would fill the vocabulary.

    Args:
        texts: The texts to learn from; they are read once, one by one.
        vocab_size: Vocabulary size, with the 256 bytes and the special tokens.

    Raises:
        ValueError: ``vocab_size`` is too small for the bytes and the special tokens.
    """
    least = 256 + len(SPECIAL_TOKENS)
    if vocab_size < least:
        raise ValueError(f"byte-level BPE needs a vocabulary of at least {least} tokens; got vocab_size={vocab_size}")
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
    """Load a tokenizer of this library from a file.

    Raises:
        ValueError: The file is missing or damaged, or its tokenizer has other special tokens.
    """
    try:
        tokenizer = Tokenizer.from_file(str(path))
    except Exception as error:  # the library raises no narrower one
        raise ValueError(f"{path} holds no tokenizer: {' '.join(str(error).split())}") from error
    if not is_own(tokenizer):
        ids = [tokenizer.token_to_id(token) for token in SPECIAL_TOKENS]
        raise ValueError(f"{path} should begin with the tokens {', '.join(SPECIAL_TOKENS)}; they have the ids {ids}")
    return _plain(tokenizer)


def is_own(tokenizer: Tokenizer) -> bool:
    """Return whether a tokenizer begins with the special tokens of this library, as those that it makes do."""
    return [tokenizer.token_to_id(token) for token in SPECIAL_TOKENS] == list(range(len(SPECIAL_TOKENS)))


def _plain(tokenizer: Tokenizer) -> Tokenizer:
    """Make the tokenizer encode special tokens in a text as plain characters: a text must not end or mask itself."""
    tokenizer.encode_special_tokens = True  # this setting is not saved with the tokenizer
    return tokenizer
