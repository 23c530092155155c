"""Steps that encoder layers take wherever their norms stand."""


def attended(self, queries, keys, values, mask):
    """attend, with the mask

    the output of the attention
    """
    return self.self_attention(queries, keys, values, mask)


def first_norm(self):
    """choose `norm_1`

    the first norm: `norm_1`
    """
    return self.norm_1


def second_norm(self):
    """choose `norm_2`

    the second norm: `norm_2`
    """
    return self.norm_2
