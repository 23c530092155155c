"""Where an answer goes wrong: the search for the expression, where no mistake is named.

In reading order: ``fault_location`` finds the expression which, replaced by a right value, repairs the answer, among
the ``value_layouts`` in which code may hold right values; ``side_effect_source`` finds the one that first has another
dtype or changes an argument, and ``discarded_results`` the one whose result is not used. Uses ``checking``.
"""
