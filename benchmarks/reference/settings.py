"""Plain Django settings with Concord's database settings, so that both have the same durability."""

from config.settings import DATA_DIR, SECRET_KEY, data_base

__all__ = ["DATA_DIR", "SECRET_KEY"]

DEBUG = False
ALLOWED_HOSTS = ["127.0.0.1"]
DATABASES = {"default": data_base()}
DEFAULT_AUTO_FIELD = "django.db.models.BigAutoField"
INSTALLED_APPS = [
    "django.contrib.auth",
    "django.contrib.contenttypes",
    "django.contrib.sessions",
    "benchmarks.reference",
]
MIDDLEWARE = [
    "django.contrib.sessions.middleware.SessionMiddleware",
    "django.middleware.common.CommonMiddleware",
    "django.middleware.csrf.CsrfViewMiddleware",
    "django.contrib.auth.middleware.AuthenticationMiddleware",
]
ROOT_URLCONF = "benchmarks.reference.urls"
WSGI_APPLICATION = "benchmarks.reference.wsgi.application"
USE_I18N = False
USE_TZ = True
LOGGING = {"version": 1, "disable_existing_loggers": False, "root": {"level": "WARNING"}}
