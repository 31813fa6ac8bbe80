"""`python -m tests.stages`: every check, stage by stage, with what each needs found, installed or started.

Standard library only (the test requirements are installed by then, but the stages must be able to say so if not).
"""
