"""Mistakes in text: tokenizers, and what is shown while it is generated."""

from tests.mutations.mutation import Edit, Mutation

PIECES, STOPPED = "stream_text", "_stop_at"
HELD = "max((_n for _stop in _stops for _n in range(1, len(_stop)) if _), default=0)"

STREAMING = [
    Mutation(
        50,
        "half a character is shown",
        Edit(PIECES, "_longer and not _text.endswith(INCOMPLETE_CHARACTER)", "_longer"),
    ),
    Mutation(
        50,
        "tokens are decoded one by one",
        Edit(
            PIECES,
            "_tokens.append(_token)\n_text = decode(_tokens)",
            "_tokens.append(_token)\n_text += decode([_token])",
        ),
    ),
    Mutation(
        50,
        "the prompt is shown again",
        Edit(PIECES, "_shown = len(_text)\nfor _token in tokens: ...", "_shown = 0\nfor _token in tokens: ..."),
    ),
    Mutation(50, "what is held back at the end is lost", Edit(STOPPED, "if _held:\n    yield _held", "return")),
    Mutation(50, "a stop that straddles pieces is missed", Edit(STOPPED, "max(...)", "0 * max(...)")),
    Mutation(50, "the stop that is named first, not that is complete first", Edit(STOPPED, "min(_found)", "_found[0]")),
    Mutation(
        50,
        "the stop that begins first, not that ends first",
        Edit(STOPPED, "_, _start = min(_found)", "_start = min(start for _, start in _found)"),
    ),
    Mutation(50, "the shortest beginning of a stop is held back", Edit(STOPPED, "max(...)", "min(...)")),
]

TEXT_GENERATOR = [
    Mutation(
        50,
        "the token that ends a text is shown",
        Edit("TextGenerator", "lambda token: token not in self.eos_ids", "lambda token: True"),
    ),
    Mutation(
        50,
        "decoded without the prompt",
        Edit(
            "TextGenerator",
            "stream_text(_added, self.tokenizer.decode, _prompt)",
            "stream_text(_added, self.tokenizer.decode)",
        ),
    ),
    Mutation(50, "room for one token too few", Edit("TextGenerator", "_limit - n_prompt + 1", "_limit - n_prompt")),
]

TEXT_TOKENIZER = [
    Mutation(
        50,
        "a space before the first word",
        Edit(
            "load_text_tokenizer",
            "pre_tokenizers.ByteLevel(add_prefix_space=False)",
            "pre_tokenizers.ByteLevel(add_prefix_space=True)",
        ),
    ),
    Mutation(50, "special tokens are text", Edit("load_text_tokenizer", "_t.add_special_tokens(_)", "pass")),
    Mutation(50, "cut as it was for training", Edit("load_text_tokenizer", "_t.no_truncation()", "pass")),
]

TABLE = {
    "text/streaming": STREAMING,
    "text/text_generator": TEXT_GENERATOR,
    "pretrained/text_tokenizer": TEXT_TOKENIZER,
}
