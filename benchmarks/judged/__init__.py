"""Precision of the wording rule: its first findings in M3's published labels, judged twice.

The rank of every finding was frozen by a commit before it was judged. The first 50 were judged twice, independently and
in two random orders, without rank and weight, from sentence, tuple, label and cue. The judge was a language model in
two separate sessions, not people. The figures show how often a curator may agree, and are no gold standard. Judgements
are stored by published id, without text. ``python -m benchmarks.judged`` prints the figures.
"""
