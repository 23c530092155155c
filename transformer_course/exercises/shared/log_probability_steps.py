"""Steps from logits to the log-probabilities of tokens."""


def log_probabilities(logits, vocabulary_axis):
    """take the log-softmax over the vocabulary

    the log-probabilities of all tokens at each position
    """
    return logits.log_softmax(vocabulary_axis)


def vocabulary_axis():
    """name the axis of the vocabulary

    the axis of the vocabulary: the last
    """
    return -1
