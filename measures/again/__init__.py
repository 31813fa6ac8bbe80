"""Every agreement and score figure of a release, computed again from its files and held against the printed ones.

``python -m measures.again FOLDER``: without data base, settings or Django. The rules are those by which the pages
compute; what comes in is the folder and nothing else.
"""
