"""The page to keep: the whole course on one sheet of paper.

``counts`` counts parameters and operations of three models of the library; ``formulas`` holds the formulas, each with
its lesson; ``drawings`` are the model and the block of today; ``page`` puts all of it on one page, with the terms of
the glossary; ``collection`` makes the notebook that shows it, and the file that is printed.
"""
