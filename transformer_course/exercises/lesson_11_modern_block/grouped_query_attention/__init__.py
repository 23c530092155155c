"""The exercise ``grouped_query_attention``: its cases, its reference, its mistakes."""
