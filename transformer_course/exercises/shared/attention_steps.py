"""The steps of attention, of which each exercise takes those it needs: so a mistake is the same one everywhere."""


def turned(keys):
    """swap the last two axes of the keys → the keys as columns"""
    return keys.mT


def products(queries, turned):
    """multiply every query by every key → the products of queries and keys"""
    return queries @ turned


def width(queries):
    """read d_k, the width of the queries → d_k, the width of the queries"""
    return queries.shape[-1]


def divisor(width):
    """take its root → the root of d_k"""
    return width**0.5


def scores(products, divisor):
    """divide the products by the root → the scores: the products divided by √d_k"""
    return products / divisor


def weights(scores):
    """take the softmax of the scores over the keys → the weights: the softmax of the scores over the keys"""
    return scores.softmax(dim=-1)


def mixture(weights, values):
    """average the values with the weights → the weighted average of the values"""
    return weights @ values


def scaled(products, divisor):
    """divide the products by the root → the products divided by √d_k"""
    return products / divisor


def visible(mask):
    """read in the mask where looking is allowed → the places where looking is allowed"""
    return mask


def fill():
    """choose the score that has a weight of 0 → the score of what is hidden"""
    return float("-inf")


SCALED = (turned, products, width, divisor, scaled)  # where a mask comes next
ATTENTION = (turned, products, width, divisor, scores, weights, mixture)
