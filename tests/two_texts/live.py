"""The same for servers that live tests start."""

from tests.processes.settings import *  # noqa: F403
from tests.processes.settings import INSTALLED_APPS
from tests.two_texts.settings import KIND

INSTALLED_APPS = [*INSTALLED_APPS, KIND]
