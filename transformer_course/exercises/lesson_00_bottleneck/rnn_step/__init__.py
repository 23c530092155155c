"""The exercise ``rnn_step``: its cases, its reference, its mistakes."""
