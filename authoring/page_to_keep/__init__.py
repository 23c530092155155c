"""The page to keep: a summary of the course on one sheet of paper.

``counts`` counts the parameters and operations of three models, ``formulas`` lists the formulas and their lessons,
``drawings`` draws the Transformer and a modern block, and ``page`` lays out the page. ``collection`` builds the PDF and
the notebook that shows the page.
"""
