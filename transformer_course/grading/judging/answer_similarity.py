"""What an instructor may want to look at in the text of answers; it never changes a score.

Submissions that are nearly the same, and answers that are the course's solution; and by which names what was asked for
goes elsewhere.

How similar two submissions are is measured in runs of ``TOKENS_PER_RUN`` tokens: comments, layout, names of variables,
signatures and docstrings count for nothing, and neither does any run that the course's own solution has, which
everybody may have seen. What is left is compared over all exercises of a lesson together, and only if there is enough
of it: short answers to the same question are alike by themselves. It is a reason to read both, and no proof.
"""

import builtins
import io
import keyword
import tokenize
import zlib
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import combinations

from transformer_course.exercises import every_exercise, exercises_of
from transformer_course.grading.incoming.cell_text import check_of, definition_of

TOKENS_PER_RUN = 5
"""Number of tokens that are compared at once."""
MIN_TOKEN_RUNS = 60
"""Two submissions are compared if each has as many runs of its own, some 15 lines."""
MIN_SIMILARITY = 0.8
"""Fraction of all runs of two submissions that both have, from which on they are listed."""
MIN_BODY_WORDS = 50
MAX_SOURCE_LENGTH = 20_000
"""Number of characters of an answer that are read."""
LIBRARIES = {"torch", "nn", "F", "math", "np", "numpy"}

NAMES_IN_TORCH: Mapping[str, Collection[str]] = {
    "attention": ["scaled_dot_product_attention"],
    "masked_attention": ["scaled_dot_product_attention"],
    "blockwise_attention": ["scaled_dot_product_attention"],
    "MultiHeadAttention": ["MultiheadAttention", "multi_head_attention_forward"],
    "layer_norm": ["LayerNorm"],
    "rms_norm": ["RMSNorm"],
    "softmax_jacobian": ["jacobian", "jacrev", "jacfwd"],
    "EncoderLayer": ["TransformerEncoderLayer"],
    "PreNormEncoderLayer": ["TransformerEncoderLayer"],
    "Encoder": ["TransformerEncoder"],
    "DecoderLayer": ["TransformerDecoderLayer"],
    "Decoder": ["TransformerDecoder"],
    "smoothed_cross_entropy": ["cross_entropy", "CrossEntropyLoss"],
}
"""What torch calls that which an exercise asks for, if by another name."""


@dataclass(frozen=True)
class SimilarPair:
    """Two submissions of a lesson that are nearly the same.

    Args:
        lesson: The lesson.
        students: The two.
        similarity: Fraction of their runs that both have.
    """

    lesson: str
    students: tuple[str, str]
    similarity: float


def fingerprint(cells: Sequence[Mapping[str, str]], lesson: str) -> frozenset[int]:
    """Return the runs of tokens in a submission's answers, as numbers, without those of the course's solutions."""
    found: set[int] = set()
    for exercise in exercises_of(lesson):
        found |= runs(exercise.name, answer_text(cells, exercise.name)) - _runs_of_solution(exercise.name)
    return frozenset(found)


def similarity(one: Collection[int], other: Collection[int]) -> float:
    """Return the fraction of the runs of two submissions that both have; 0 if they are too short to say."""
    first, second = frozenset(one), frozenset(other)
    if min(len(first), len(second)) < MIN_TOKEN_RUNS:
        return 0.0
    return len(first & second) / len(first | second)


def similar_pairs(lesson: str, fingerprints: Mapping[str, frozenset[int]]) -> list[SimilarPair]:
    """Return the pairs of students whose submissions of a lesson are nearly the same, the most alike first."""
    long = {student: own for student, own in fingerprints.items() if len(own) >= MIN_TOKEN_RUNS}
    found = []
    for (one, first), (other, second) in combinations(long.items(), 2):
        # Sets of very different sizes need not be compared.
        if min(len(first), len(second)) >= MIN_SIMILARITY * max(len(first), len(second)):
            measured = similarity(first, second)
            if measured >= MIN_SIMILARITY:
                found.append(SimilarPair(lesson, (one, other), measured))
    return sorted(found, key=lambda pair: (-pair.similarity, pair.students))


def names_asked_for(name: str) -> list[str]:
    """Return what an exercise asks for is called, in the library and in torch."""
    return [name, *NAMES_IN_TORCH.get(name, ())]


def is_the_solution(source: str, name: str) -> bool:
    """Return whether an answer is the course's solution word for word, and long enough to be so by no chance."""
    given, solution = _body(source[:MAX_SOURCE_LENGTH]), _body_of_solution(every_exercise()[name].solution)
    return len(solution) >= MIN_BODY_WORDS and given == solution


def _body(source: str) -> list[str]:
    """Return the words of code, without imports, signatures and docstrings, which everybody is given."""
    lines = [[token.string for token in line] for line in _logical_lines(source)]
    given = ("import", "from", "def", "class", "@", '"')
    return [word for line in lines for word in line if not line[0].startswith(given)]


_body_of_solution = cache(_body)


def answer_text(cells: Sequence[Mapping[str, str]], name: str) -> str:
    """Return the cell that defines an answer, as far as its text shows; empty if there is none.

    It is the last one above the last check of the exercise that is more than a stub, or else the last one anywhere.
    """
    defines, checks = definition_of(name), check_of(name)
    defining = [i for i, cell in enumerate(cells) if defines.search(cell["source"])]
    last_check = max((i for i, cell in enumerate(cells) if checks.search(cell["source"])), default=-1)
    sources = [cells[i]["source"][:MAX_SOURCE_LENGTH] for i in sorted(defining, key=lambda i: (i <= last_check, i))]
    return next((source for source in reversed(sources) if not _is_stub(source)), sources[-1] if sources else "")


def _is_stub(source: str) -> bool:
    return _body(source) in ([], ["raise", "NotImplementedError"], ["..."], ["pass"])


def runs(exercise: str, source: str) -> frozenset[int]:
    """Return the runs of tokens in an answer, as numbers."""
    tokens = list(_normalized(source))
    windows = (" ".join([exercise, *tokens[i : i + TOKENS_PER_RUN]]) for i in range(len(tokens) - TOKENS_PER_RUN + 1))
    return frozenset(zlib.crc32(window.encode("utf-8", "replace")) for window in windows)


@cache
def _runs_of_solution(name: str) -> frozenset[int]:
    return runs(name, every_exercise()[name].solution)


def _normalized(source: str) -> Iterator[str]:
    """Yield the tokens of code, with one name for all variables, and without what says nothing about its author."""
    for line in _logical_lines(source):
        words = [token.string for token in line]
        if words[0] in ("import", "from", "@") or words[:2] == ["raise", "NotImplementedError"]:
            continue
        if all(token.type == tokenize.STRING for token in line):
            continue  # a docstring
        if words[0] in ("def", "class", "async"):
            line = line[_end_of_signature(words) :]
        for before, token in zip([None, *line], line, strict=False):
            is_attribute = before is not None and before.string == "."
            if token.type == tokenize.NAME and not is_attribute and not _is_common(token.string):
                yield "name"
            else:
                yield "string" if token.type == tokenize.STRING else token.string


def _logical_lines(source: str) -> Iterator[list[tokenize.TokenInfo]]:
    line: list[tokenize.TokenInfo] = []
    for token in _tokens(source):
        if token.type == tokenize.NEWLINE and line:
            yield line
            line = []
        elif token.type in (tokenize.NAME, tokenize.NUMBER, tokenize.STRING, tokenize.OP):
            line.append(token)
    if line:
        yield line


def _tokens(source: str) -> Iterator[tokenize.TokenInfo]:
    """Yield the tokens of code up to where it is no Python any more."""
    try:
        yield from tokenize.generate_tokens(io.StringIO(source).readline)
    except (tokenize.TokenError, SyntaxError, ValueError):
        return


def _end_of_signature(words: Sequence[str]) -> int:
    depth = 0
    for place, word in enumerate(words):
        depth += (word in ("(", "[", "{")) - (word in (")", "]", "}"))
        if word == ":" and depth == 0:
            return place + 1
    return len(words)


def _is_common(name: str) -> bool:
    return keyword.iskeyword(name) or name in LIBRARIES or hasattr(builtins, name)
