"""The report of a closed case, and the list of diagnoses to choose from."""

from dataclasses import dataclass

DIAGNOSES: dict[str, str] = {
    "A": "healthy: nothing is wrong",
    "B": "the residual stream is normalized, and not a copy of it: x = norm(x), then x = x + sublayer(x)",
    "C": "a sublayer normalizes only its queries; keys and values are not normalized",
    "D": "one norm stands before two sublayers, and another before none",
    "E": "masked scores become 0 instead of −∞, or every score of 0 counts as masked",
    "F": "with a cache, the causal mask is aligned with the first key instead of the last",
    "G": "with a cache, the positions of new tokens are counted from 0 again",
    "H": "keys are rotated at the wrong time: the cache keeps them as they were before",
    "I": "each micro-batch's mean loss is averaged, however many tokens it has",
    "J": "the decoder, or the encoder, is given what is to be predicted",
    "K": "padding on the left counts as positions",
    "L": "dropout is on while the model answers",
    "M": "the tied embeddings are drawn a second time, with the wrong spread",
    "N": "weight decay pulls norms and biases, too",
    "O": "the encoder is told nothing about positions",
    "P": "padding of the source is attended to",
    "Q": "the scores are divided by d_k, not by its root",
    "R": "the learning rate is too high",
    "S": "the residual connections are missing",
    "T": "padding in the targets counts in the loss",
}
"""What may be wrong with a patient, the same list for all; some is wrong with none."""


@dataclass(frozen=True)
class Report:
    """What is written down when a case is closed.

    Args:
        diagnosis: The letter of the diagnosis.
        bug: What the code does.
        repair: What it has to do instead.
        address: Where this bug was found in public.
        test: The test that would have caught it.
    """

    diagnosis: str
    bug: str
    repair: str
    address: str
    test: str
