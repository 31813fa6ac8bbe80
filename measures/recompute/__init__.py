"""Recompute the figures of a release from its files, and compare them with the printed ones.

``python -m measures.recompute FOLDER`` needs neither a database nor settings nor Django. It reads only the folder and
applies the rules of the pages.
"""
