"""The possible diagnoses, and the report shown when a case is closed."""

from dataclasses import dataclass

DIAGNOSES: dict[str, str] = {
    "A": "healthy: nothing is wrong",
    "B": "the norm overwrites the residual stream: x = norm(x), then x = x + sublayer(x)",
    "C": "a sublayer normalizes only its queries, not its keys and values",
    "D": "one norm is used before two sublayers, and another is never used",
    "E": "masked scores become 0 instead of −∞, or every score of 0 counts as masked",
    "F": "with a cache, the causal mask is aligned with the first key instead of the last",
    "G": "with a cache, the positions of new tokens start at 0 again",
    "H": "keys are rotated at the wrong time: the cache stores them unrotated",
    "I": "the mean losses of the micro-batches are averaged, whatever their numbers of tokens",
    "J": "the decoder or the encoder reads the tokens that the model should predict",
    "K": "padding on the left is counted in the positions",
    "L": "dropout is active while the model answers",
    "M": "the tied embeddings are initialized twice, the second time with the wrong standard deviation",
    "N": "weight decay is applied to norms and biases as well",
    "O": "the encoder gets no positional encodings",
    "P": "the model attends to padding in the source",
    "Q": "the scores are divided by d_k instead of √d_k",
    "R": "the learning rate is too high",
    "S": "the residual connections are missing",
    "T": "padding in the targets is included in the loss",
}
"""The possible diagnoses. The list is the same for every patient and includes diagnoses that fit no patient."""


@dataclass(frozen=True)
class Report:
    """The report that the learner reads when a case is closed.

    Args:
        diagnosis: The letter of the diagnosis.
        bug: Description of the bug.
        repair: How to fix the bug.
        address: Reference to a public report of the bug.
        test: A test that would have caught the bug.
    """

    diagnosis: str
    bug: str
    repair: str
    address: str
    test: str
