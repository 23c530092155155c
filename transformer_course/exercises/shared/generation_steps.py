"""Steps for loops that generate one token after another."""


def shown():
    """pass the model all tokens generated so far → the target passed to the model: all tokens so far"""
    return lambda target: target


def logits(model, source):
    """call the model on the source and the target → the logits of every position, (batch, n, vocab_size)"""
    return lambda shown: model(source, shown)


def next_logits():
    """take the logits of the last position → the logits of the next token, (batch, vocab_size)"""
    return lambda logits: logits[:, -1]


def output(written):
    """remove bos from the target → the generated tokens"""
    return written[:, 1:]
