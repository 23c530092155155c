"""Corpora, tokenizers and batches.

In reading order: ``corpus`` reads parallel text, ``dates`` generates it, ``documents`` reads plain text, ``docstrings``
finds English on every machine, ``tokenizers`` splits text into tokens, ``batches`` forms batches, ``token_store`` keeps
tokens in a file, ``prepare`` goes from text files to tokens. Uses no other package.
"""
