"""The house's settings with the kind that only the tests know."""

from config.settings import *  # noqa: F403
from config.settings import INSTALLED_APPS

KIND = "tests.two_texts.apps.TwoTextsConfig"
INSTALLED_APPS = [*INSTALLED_APPS, KIND]
