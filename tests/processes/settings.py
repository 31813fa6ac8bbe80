"""The house's settings, plus the app that makes faults happen. Only servers that these tests start use them."""

from config.settings import *  # noqa: F403
from config.settings import INSTALLED_APPS

INSTALLED_APPS = [*INSTALLED_APPS, "tests.processes.apps.FaultsConfig"]
# Hashing is slow on purpose, and these tests are about counting.
PASSWORD_HASHERS = ["django.contrib.auth.hashers.MD5PasswordHasher"]
