"""The steps of attention, shared so that each mistake is defined only once."""


def turned(keys):
    """transpose the keys → the transposed keys: their last two dimensions are swapped"""
    return keys.mT


def products(queries, turned):
    """multiply every query by every key → the products of queries and keys"""
    return queries @ turned


def width(queries):
    """read d_k from the queries

    d_k, the width of the queries

    d_k
    """
    return queries.shape[-1]


def divisor(width):
    """take the square root of d_k

    the square root of d_k

    √d_k
    """
    return width**0.5


def scores(products, divisor):
    """divide the products by √d_k → the scores: the products divided by √d_k"""
    return products / divisor


def weights(scores):
    """take the softmax of the scores over the keys → the weights: the softmax of the scores over the keys"""
    return scores.softmax(dim=-1)


def mixture(weights, values):
    """average the values with the weights → the weighted average of the values"""
    return weights @ values


def scaled(products, divisor):
    """divide the products by √d_k → the scaled products: the products divided by √d_k"""
    return products / divisor


def visible(mask):
    """read the mask → the allowed positions: True where a query may attend to a key"""
    return mask


def fill():
    """choose the score of hidden keys → the score of hidden keys: −∞, which gives weight 0"""
    return float("-inf")


SCALED = (turned, products, width, divisor, scaled)  # for answers that apply a mask next
ATTENTION = (turned, products, width, divisor, scores, weights, mixture)
