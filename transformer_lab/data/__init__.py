"""Corpora, tokenizers and batches.

In reading order: ``corpus`` reads parallel text, ``dates`` generates pairs of dates, ``documents`` reads plain text,
``docstrings`` extracts text from Python's library, ``tokenizers`` splits text into tokens, ``batches`` forms batches,
``token_store`` stores tokens in a file, and ``prepare`` converts text files into tokens. Uses no other package.
"""
