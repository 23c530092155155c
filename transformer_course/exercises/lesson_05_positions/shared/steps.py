"""Steps that several encodings of positions take."""

import torch


def queries(n_query, n_key):
    """find the positions of the queries, which end where the keys end → the positions of the queries"""
    return torch.arange(n_key - n_query, n_key)


def keys(n_key):
    """count the positions of the keys from 0 → the positions of the keys"""
    return torch.arange(n_key)


def width(d_model):
    """take the width → the width"""
    return d_model


def column(positions):
    """write the positions one below the other → the positions, as a column"""
    return positions[:, None]


def cosines(angles):
    """take the cosines of the angles → the cosines of the angles"""
    return angles.cos()


def sines(angles):
    """take the sines of the angles → the sines of the angles"""
    return angles.sin()
