"""Compare the texts of answers for the instructor, without changing any points.

This module finds nearly identical submissions and copies of the course's solutions, and lists the library functions
that do the same as the function to implement.

Similarity is the fraction of runs of ``TOKENS_PER_RUN`` tokens that two submissions share. Comments, layout, variable
names, signatures and docstrings are ignored, and so are runs that occur in the course's own solutions. The remaining
runs of all exercises in a lesson are compared, but only if there are enough of them, because short answers to the same
question look alike. Similarity is a reason to read both submissions, not a proof.
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
"""Number of tokens in a run."""
MIN_TOKEN_RUNS = 60
"""Minimum number of original runs (about 15 lines) that a submission must contain to be compared."""
MIN_SIMILARITY = 0.8
"""Minimum fraction of shared runs for two submissions to be listed."""
MIN_BODY_WORDS = 50
MAX_SOURCE_LENGTH = 20_000
"""Answers are truncated to this number of characters."""
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
"""Torch's names for the functions to implement, where they differ from the names of the exercises."""


@dataclass(frozen=True)
class SimilarPair:
    """Two nearly identical submissions for a lesson.

    Args:
        lesson: The lesson.
        students: The two students.
        similarity: The fraction of shared runs.
    """

    lesson: str
    students: tuple[str, str]
    similarity: float


def fingerprint(cells: Sequence[Mapping[str, str]], lesson: str) -> frozenset[int]:
    """Return the hashes of the token runs in a submission's answers, except runs from the course's solutions."""
    found: set[int] = set()
    for exercise in exercises_of(lesson):
        found |= runs(exercise.name, answer_text(cells, exercise.name)) - _runs_of_solution(exercise.name)
    return frozenset(found)


def similarity(first: Collection[int], second: Collection[int]) -> float:
    """Return the fraction of runs that two submissions share, or 0 if they are too short to compare."""
    a, b = frozenset(first), frozenset(second)
    if min(len(a), len(b)) < MIN_TOKEN_RUNS:
        return 0.0
    return len(a & b) / len(a | b)


def similar_pairs(lesson: str, fingerprints: Mapping[str, frozenset[int]]) -> list[SimilarPair]:
    """Return the pairs of students with nearly identical submissions for a lesson, most similar first."""
    long = {student: own for student, own in fingerprints.items() if len(own) >= MIN_TOKEN_RUNS}
    found = []
    for (first_student, first), (second_student, second) in combinations(long.items(), 2):
        # Sets of very different sizes cannot be similar.
        if min(len(first), len(second)) >= MIN_SIMILARITY * max(len(first), len(second)):
            fraction = similarity(first, second)
            if fraction >= MIN_SIMILARITY:
                found.append(SimilarPair(lesson, (first_student, second_student), fraction))
    return sorted(found, key=lambda pair: (-pair.similarity, pair.students))


def names_to_implement(name: str) -> list[str]:
    """Return the names of the function to implement in the library and in torch."""
    return [name, *NAMES_IN_TORCH.get(name, ())]


def is_course_solution(source: str, name: str) -> bool:
    """Return whether an answer is a verbatim copy of the course's solution that is too long to be a coincidence."""
    given, solution = _body(source[:MAX_SOURCE_LENGTH]), _body_of_solution(every_exercise()[name].solution)
    return len(solution) >= MIN_BODY_WORDS and given == solution


def _body(source: str) -> list[str]:
    """Return the words of code without imports, signatures and docstrings, which all students receive."""
    lines = [[token.string for token in line] for line in _logical_lines(source)]
    given = ("import", "from", "def", "class", "@", '"')
    return [word for line in lines for word in line if not line[0].startswith(given)]


_body_of_solution = cache(_body)


def answer_text(cells: Sequence[Mapping[str, str]], name: str) -> str:
    """Return the source of the cell that seems to define an answer, or an empty string.

    Prefer the last definition above the exercise's last check that is more than a stub. If there is none, use the last
    definition below the check.
    """
    defines, checks = definition_of(name), check_of(name)
    defining = [i for i, cell in enumerate(cells) if defines.search(cell["source"])]
    last_check = max((i for i, cell in enumerate(cells) if checks.search(cell["source"])), default=-1)
    sources = [cells[i]["source"][:MAX_SOURCE_LENGTH] for i in sorted(defining, key=lambda i: (i <= last_check, i))]
    return next((source for source in reversed(sources) if not _is_stub(source)), sources[-1] if sources else "")


def _is_stub(source: str) -> bool:
    return _body(source) in ([], ["raise", "NotImplementedError"], ["..."], ["pass"])


def runs(exercise: str, source: str) -> frozenset[int]:
    """Return the hashes of the token runs in an answer."""
    tokens = list(_normalized(source))
    windows = (" ".join([exercise, *tokens[i : i + TOKENS_PER_RUN]]) for i in range(len(tokens) - TOKENS_PER_RUN + 1))
    return frozenset(zlib.crc32(window.encode("utf-8", "replace")) for window in windows)


@cache
def _runs_of_solution(name: str) -> frozenset[int]:
    return runs(name, every_exercise()[name].solution)


def _normalized(source: str) -> Iterator[str]:
    """Yield the tokens that are specific to the author, with all variables renamed to ``name``."""
    for line in _logical_lines(source):
        words = [token.string for token in line]
        if words[0] in ("import", "from", "@") or words[:2] == ["raise", "NotImplementedError"]:
            continue
        if all(token.type == tokenize.STRING for token in line):
            continue  # skip docstrings
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
    """Yield the tokens of code up to the first syntax error."""
    try:
        yield from tokenize.generate_tokens(io.StringIO(source).readline)
    except (tokenize.TokenError, SyntaxError, ValueError):
        return


def _end_of_signature(words: Sequence[str]) -> int:
    depth = 0
    for position, word in enumerate(words):
        depth += (word in ("(", "[", "{")) - (word in (")", "]", "}"))
        if word == ":" and depth == 0:
            return position + 1
    return len(words)


def _is_common(name: str) -> bool:
    return keyword.iskeyword(name) or name in LIBRARIES or hasattr(builtins, name)
