"""How often the wording rule is right: its first findings in M3's published labels, judged twice.

The rank of every finding was frozen by a commit before anybody judged. The first 50 were judged twice, independently
and in two random orders, rank and weight unseen, from sentence, tuple, label and cue: by a language model in two
separate sessions, not by people. The figures say how often a curator may nod, and are no gold. Kept by the published
id, without text. ``python -m benchmarks.judged`` prints them.
"""
