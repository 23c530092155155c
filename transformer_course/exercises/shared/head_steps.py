"""Attention steps that apply a mask and merge the heads."""


def scores(scaled, hidden, fill):
    """fill the hidden scores with −∞ → the masked scores"""
    return scaled if hidden is None else scaled.masked_fill(hidden, fill)


def probabilities(scores):
    """take the softmax of the scores over the keys → the softmax of the masked scores"""
    return scores.softmax(dim=-1)


def merged(mixture):
    """merge the heads → the merged heads: side by side, (batch, n, d_model)"""
    return mixture.transpose(1, 2).flatten(2)


def output(self, merged):
    """apply `w_o` to the merged heads → the output"""
    return self.w_o(merged)
