"""Everything that imports torch. Only workers import these modules, and only when a version is loaded."""

from transformers.utils.logging import disable_progress_bar

# A bar for every load would stand in the middle of a worker's log, and of the bar of whoever waits for it.
disable_progress_bar()
