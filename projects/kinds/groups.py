"""Groups of task kinds on the page of a new round."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Group:
    title: str
    #: What the tasks of the group are for, in one line.
    description: str


CORPUS = Group("Build the corpus", "Decide what belongs in the data set.")
LABEL = Group("Label", "Say what each text claims.")
TEST = Group("Test", "Probe labels and models.")
RATE = Group("Rate summaries", "Compare systems; their names are hidden from raters.")
