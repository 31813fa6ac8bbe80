"""Settings of the live tests: those of Concord, plus the app that injects faults."""

from config.settings import *  # noqa: F403
from config.settings import INSTALLED_APPS

INSTALLED_APPS = [*INSTALLED_APPS, "tests.processes.apps.FaultsConfig"]
# Hashing is slow on purpose, and these tests count attempts.
PASSWORD_HASHERS = ["django.contrib.auth.hashers.MD5PasswordHasher"]
