"""Data: the embedded task, corpora from files, tokenizers, and batches of similar length."""
