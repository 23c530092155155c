"""Tests of the data: dates, corpora, tokenizers, stores and batches."""
