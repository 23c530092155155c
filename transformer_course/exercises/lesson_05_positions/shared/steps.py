"""Steps shared by several positional encodings."""

import torch


def queries(n_query, n_key):
    """number the queries, ending at the last key → the positions of the queries"""
    return torch.arange(n_key - n_query, n_key)


def keys(n_key):
    """number the keys from 0 → the positions of the keys"""
    return torch.arange(n_key)


def width(d_model):
    """read the width d_model → the width"""
    return d_model


def column(positions):
    """turn the positions into a column → the column of positions"""
    return positions[:, None]


def cosines(angles):
    """take the cosines of the angles → the cosines of the angles"""
    return angles.cos()


def sines(angles):
    """take the sines of the angles → the sines of the angles"""
    return angles.sin()
