"""Steps of attention behind a mask, and where the heads come together."""


def scores(scaled, hidden, fill):
    """fill it in where something is hidden → the masked scores"""
    return scaled if hidden is None else scaled.masked_fill(hidden, fill)


def probabilities(scores):
    """take the softmax of the scores over the keys → the softmax of the masked scores"""
    return scores.softmax(dim=-1)


def merged(mixture):
    """put the heads side by side → what all the heads found, side by side"""
    return mixture.transpose(1, 2).flatten(2)


def output(self, merged):
    """mix what the heads found with `w_o` → the output"""
    return self.w_o(merged)
