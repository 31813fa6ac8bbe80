"""Figures of agreement, scores and ratings of a release, computed again from its files and held against the printed.

``python -m measures.again FOLDER``: without data base, settings or Django. The rules are those by which the pages
compute; what comes in is the folder and nothing else.
"""
