"""The page to keep: a summary of the course on one sheet of paper.

``counts`` counts parameters and operations of three models of the library; ``formulas`` has the formulas, each with its
lesson; ``drawings`` draws the Transformer and the block of today; ``page`` lays out the page; ``collection`` builds the
notebook that shows it, and the PDF.
"""
