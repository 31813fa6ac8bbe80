"""Django settings for all environments, configured by environment variables or `.env` (docs/settings.md)."""

import re
from ipaddress import ip_network
from pathlib import Path
from typing import Any

import environ
from csp.constants import NONE, SELF
from django.core.exceptions import ImproperlyConfigured

from api import limits, logs
from config.secret_key import known_secret_key
from generation import endpoints

ROOT = Path(__file__).resolve().parent.parent
env = environ.Env()
if (ROOT / ".env").exists() and env.bool("READ_DOT_ENV", default=True):
    environ.Env.read_env(ROOT / ".env")

DEBUG = env.bool("DEBUG", default=False)
DATA_DIR = Path(env.str("DATA_DIR", default=str(ROOT / "var"))).resolve()
# The only folder from which model weights are loaded, besides the hub's cache. Downloads must be allowed explicitly.
MODELS_DIR = Path(env.str("MODELS_DIR", default=str(DATA_DIR / "models"))).resolve()
MODELS_ONLINE = env.bool("MODELS_ONLINE", default=False)
# OpenAI-compatible endpoints that a lead may choose by name, and private networks that may contain their hosts.
try:
    GENERATION_ENDPOINTS = endpoints.parse(env.str("GENERATION_ENDPOINTS", default=""))
    GENERATION_NETWORKS = [ip_network(network) for network in env.list("GENERATION_NETWORKS", default=[])]
except ValueError as error:
    raise ImproperlyConfigured(f"GENERATION_ENDPOINTS, GENERATION_NETWORKS: {error}.") from None
# Base address of NCBI's E-utilities. Set it for a mirror or for tests.
PUBMED_URL = env.str("PUBMED_URL", default="https://eutils.ncbi.nlm.nih.gov/entrez/eutils/")
if not re.match(r"https://[^/@?#\s]+/|http://(localhost|127\.0\.0\.1)(:\d+)?/", PUBMED_URL):
    raise ImproperlyConfigured("PUBMED_URL must begin with https:// and name a host and a path.")
HTTPS = env.bool("HTTPS", default=False)
BEHIND_PROXY = env.bool("BEHIND_PROXY", default=False)
ALLOWED_HOSTS = env.list("ALLOWED_HOSTS", default=[])
CSRF_TRUSTED_ORIGINS = env.list("CSRF_TRUSTED_ORIGINS", default=[])
if (HTTPS or BEHIND_PROXY) and (not ALLOWED_HOSTS or "*" in ALLOWED_HOSTS) and not DEBUG:
    raise ImproperlyConfigured("ALLOWED_HOSTS must list the public host names, for example concord.example.org.")
ALLOWED_HOSTS = ALLOWED_HOSTS or ["localhost", "127.0.0.1", "[::1]"]

SAMPLE_WORDS = ("change-me", "changeme", "insecure", "development", "sample", "your-secret")
# `manage.py demo` stores a key with the data, so that other commands need no setting.
SECRET_KEY = env.str("SECRET_KEY", default="") or known_secret_key(DATA_DIR)
if DEBUG and not SECRET_KEY:
    SECRET_KEY = "only-for-development-never-for-a-server-that-others-reach"
weak = len(SECRET_KEY) < 32 or len(set(SECRET_KEY)) < 10 or any(word in SECRET_KEY.lower() for word in SAMPLE_WORDS)
if not SECRET_KEY or (weak and not DEBUG):
    raise ImproperlyConfigured(
        "SECRET_KEY is missing, too short or a sample. Put a random key of 50 characters into "
        ".env, for example the output of: python -c 'import secrets; "
        "print(secrets.token_urlsafe(50))'"
    )

# A checkpoint is made after this number of audit rows or hours. Closing a round and releasing always make one. The
# variables SEAL_AFTER_ROWS and SEAL_AFTER_HOURS of earlier versions are read until the next release.
CHECKPOINT_AFTER_ROWS = env.int("CHECKPOINT_AFTER_ROWS", default=env.int("SEAL_AFTER_ROWS", default=10_000))
CHECKPOINT_AFTER_HOURS = env.float("CHECKPOINT_AFTER_HOURS", default=env.float("SEAL_AFTER_HOURS", default=24.0))
if CHECKPOINT_AFTER_ROWS < 1 or CHECKPOINT_AFTER_HOURS <= 0:
    raise ImproperlyConfigured("CHECKPOINT_AFTER_ROWS and CHECKPOINT_AFTER_HOURS must be more than 0.")

INSTALLED_APPS = [
    "django.contrib.admin",
    "django.contrib.auth",
    "django.contrib.contenttypes",
    "django.contrib.sessions",
    "django.contrib.messages",
    "django.contrib.staticfiles",
    "csp",
    "axes",
    "rest_framework",
    "drf_spectacular",
    "audit",
    "accounts",
    "projects",
    "annotation",
    "generation",
    "evaluation",
    "releases",
    "config",
    "operations",
]

MIDDLEWARE = [
    "config.request_log.RequestLog",
    "config.bodies.Bodies",
    "django.middleware.security.SecurityMiddleware",
    "whitenoise.middleware.WhiteNoiseMiddleware",
    "csp.middleware.CSPMiddleware",
    "django.contrib.sessions.middleware.SessionMiddleware",
    "django.middleware.common.CommonMiddleware",
    "django.middleware.csrf.CsrfViewMiddleware",
    "django.contrib.auth.middleware.AuthenticationMiddleware",
    "django.contrib.messages.middleware.MessageMiddleware",
    "django.middleware.clickjacking.XFrameOptionsMiddleware",
    "api.middleware.NeverStored",
    "axes.middleware.AxesMiddleware",
]

ROOT_URLCONF = "config.urls"
CSRF_FAILURE_VIEW = "config.error_pages.csrf_failure"
WSGI_APPLICATION = "config.wsgi.application"
TEMPLATES = [
    {
        "BACKEND": "django.template.backends.django.DjangoTemplates",
        "DIRS": [],
        "APP_DIRS": True,
        "OPTIONS": {
            "context_processors": [
                "django.template.context_processors.request",
                "django.contrib.auth.context_processors.auth",
                "django.contrib.messages.context_processors.messages",
            ]
        },
    }
]


def data_base() -> dict[str, Any]:
    """Return the default database. SQLite uses pragmas with which a committed answer survives kill -9."""
    # Created for SQLite only: a web container with PostgreSQL may have a read-only disk.
    default = f"sqlite:///{DATA_DIR / 'concord.sqlite3'}"
    settings: dict[str, Any] = env.db_url("DATABASE_URL", default=default)
    if "sqlite" in settings["ENGINE"]:
        if settings["NAME"] == str(DATA_DIR / "concord.sqlite3"):
            DATA_DIR.mkdir(parents=True, exist_ok=True)
        settings["OPTIONS"] = {
            "transaction_mode": "IMMEDIATE",
            "timeout": 30,
            "init_command": "PRAGMA journal_mode=WAL; PRAGMA synchronous=FULL; PRAGMA busy_timeout=30000;",
        }
        # Tests use a file, because an in-memory database would ignore WAL and busy timeouts.
        settings["TEST"] = {"NAME": str(DATA_DIR / f"test-{Path(settings['NAME']).name}")}
    else:
        settings["ENGINE"] = "sql.postgresql"
        settings["CONN_HEALTH_CHECKS"] = True
        settings.setdefault("OPTIONS", {})
        # A socket address (?host=/run/postgresql) is moved to the settings from which pg_dump gets the server.
        for name in ("host", "port"):
            if name in settings["OPTIONS"]:
                settings[name.upper()] = str(settings["OPTIONS"].pop(name))
    # By default each thread keeps a connection. DB_CONNECTIONS sets a pool per process, in which a request waits for a
    # connection. At least two are needed: a worker renews the lease of its job while the job runs.
    most = env.int("DB_CONNECTIONS", default=0)
    if most and "sqlite" not in settings["ENGINE"]:
        settings["OPTIONS"] |= {"pool": {"min_size": 1, "max_size": max(most, 2), "timeout": 30}}
    else:
        settings["CONN_MAX_AGE"] = env.int("CONN_MAX_AGE", default=600)
    return settings


DATABASES = {"default": data_base()}
DEFAULT_AUTO_FIELD = "django.db.models.BigAutoField"

# Redis only carries wake-ups of jobs. Without Redis, the pages must work as usual.
REDIS_URL = env.str("REDIS_URL", default="")
CELERY_BROKER_URL = REDIS_URL or "memory://"
CACHES = {"default": {"BACKEND": "django.core.cache.backends.locmem.LocMemCache"}}
SESSION_ENGINE = "accounts.sessions"

AUTH_USER_MODEL = "accounts.User"
AUTHENTICATION_BACKENDS = ["axes.backends.AxesStandaloneBackend", "accounts.sessions.Backend"]
AUTH_PASSWORD_VALIDATORS = [
    {"NAME": f"django.contrib.auth.password_validation.{name}"}
    for name in (
        "UserAttributeSimilarityValidator",
        "MinimumLengthValidator",
        "CommonPasswordValidator",
        "NumericPasswordValidator",
    )
]
# Sign-in is throttled. Failures are counted in the database over all processes, and a lock always expires.
AXES_FAILURE_LIMIT = env.int("SIGN_IN_FAILURE_LIMIT", default=10)
AXES_COOLOFF_TIME = 0.25  # hours
AXES_LOCKOUT_PARAMETERS = [["username", "ip_address"]]
AXES_RESET_ON_SUCCESS = True
# A try during the lock does not extend it. Otherwise others at the same address could lock a user out forever.
AXES_RESET_COOL_OFF_ON_FAILURE_DURING_LOCKOUT = False
AXES_USERNAME_CALLABLE = "accounts.throttling.username"
AXES_CLIENT_IP_CALLABLE = "api.addresses.client_ip_prefix"
AXES_WHITELIST_CALLABLE = "accounts.sessions.is_exempt"
AXES_DISABLE_ACCESS_LOG = True  # sign-ins are in the audit log
AXES_ENABLE_ADMIN = False
AXES_VERBOSE = False

# Sign-in with an OpenID Connect provider (config.oidc). allauth's tables are never created.
OIDC_ISSUER = env.str("OIDC_ISSUER", default="")
OIDC_CLIENT_ID = env.str("OIDC_CLIENT_ID", default="")
OIDC_CLIENT_SECRET = env.str("OIDC_CLIENT_SECRET", default="")
OIDC_NAME = env.str("OIDC_NAME", default="your organisation")
OIDC_NEW_ACCOUNTS_FROM = env.list("OIDC_NEW_ACCOUNTS_FROM", default=[])
if OIDC_ISSUER or OIDC_CLIENT_ID or OIDC_CLIENT_SECRET:
    if not (OIDC_ISSUER and OIDC_CLIENT_ID and OIDC_CLIENT_SECRET):
        raise ImproperlyConfigured("OIDC_ISSUER, OIDC_CLIENT_ID and OIDC_CLIENT_SECRET must be set together.")
    if not re.match(r"https://|http://(localhost|127\.0\.0\.1)[:/]", OIDC_ISSUER):
        raise ImproperlyConfigured("OIDC_ISSUER must begin with https://.")
    INSTALLED_APPS += ["allauth.account", "allauth.socialaccount", "allauth.socialaccount.providers.openid_connect"]
    MIDDLEWARE += ["allauth.account.middleware.AccountMiddleware"]
    MIGRATION_MODULES = {"account": None, "socialaccount": None}
    SOCIALACCOUNT_ADAPTER = "config.oidc.Providers"
    ACCOUNT_USER_MODEL_USERNAME_FIELD = None
    ACCOUNT_LOGIN_METHODS = {"email"}
    ACCOUNT_SIGNUP_FIELDS = ["email*", "password1*", "password2*"]

# E-mail digests, sent if a mail server is set. They contain links, so BASE_URL is required, too.
EMAIL_HOST = env.str("EMAIL_HOST", default="")
EMAIL_PORT = env.int("EMAIL_PORT", default=587)
EMAIL_HOST_USER = env.str("EMAIL_HOST_USER", default="")
EMAIL_HOST_PASSWORD = env.str("EMAIL_HOST_PASSWORD", default="")
EMAIL_USE_TLS = env.bool("EMAIL_USE_TLS", default=False)
EMAIL_USE_SSL = env.bool("EMAIL_USE_SSL", default=False)
EMAIL_TIMEOUT = 10
DEFAULT_FROM_EMAIL = env.str("EMAIL_FROM", default="")
BASE_URL = env.str("BASE_URL", default="").rstrip("/")
if EMAIL_HOST and not (DEFAULT_FROM_EMAIL and re.match(r"https?://[^/]", BASE_URL)):
    raise ImproperlyConfigured(
        "EMAIL_HOST requires EMAIL_FROM (an e-mail address) and BASE_URL (the public address, "
        "for example https://concord.example.org)."
    )
if EMAIL_USE_TLS and EMAIL_USE_SSL:
    raise ImproperlyConfigured("Set EMAIL_USE_TLS (STARTTLS) or EMAIL_USE_SSL, not both.")

SECURE_PROXY_SSL_HEADER = ("HTTP_X_FORWARDED_PROTO", "https") if BEHIND_PROXY else None
SECURE_SSL_REDIRECT = HTTPS
SECURE_REDIRECT_EXEMPT = [r"^(healthz|readyz|metrics)$"]  # requested from the internal network, without TLS
SECURE_HSTS_SECONDS = 31_536_000 if HTTPS else 0
SECURE_HSTS_INCLUDE_SUBDOMAINS = HTTPS
SECURE_HSTS_PRELOAD = HTTPS
SECURE_REFERRER_POLICY = "same-origin"
SESSION_COOKIE_SECURE = CSRF_COOKIE_SECURE = HTTPS
SESSION_COOKIE_HTTPONLY = True
SESSION_COOKIE_AGE = 60 * 60 * 24 * 14
X_FRAME_OPTIONS = "DENY"
CONTENT_SECURITY_POLICY = {
    "DIRECTIVES": {
        "default-src": [NONE],
        "script-src": [SELF],
        "style-src": [SELF],
        "img-src": [SELF, "data:"],
        "font-src": [SELF],
        "connect-src": [SELF],
        "base-uri": [NONE],
        "form-action": [SELF],
        "frame-ancestors": [NONE],
    }
}


def idempotent(headers: Any, path: str, url: str) -> None:
    """Prevent scripts in served files that a browser would show as a page (Vite puts its index.html into the
    bundle).
    """
    if path.endswith((".html", ".svg", ".xml")):
        headers["Content-Security-Policy"] = "default-src 'none'; frame-ancestors 'none'; sandbox"
        headers["X-Frame-Options"] = "DENY"


STATIC_URL = "/static/"
# Files are served from their original folders. STATIC_ROOT is only needed for collectstatic.
STATIC_ROOT = env.str("STATIC_ROOT", default="") or None
FRONTEND_DIST = Path(env.str("FRONTEND_DIST", default=str(ROOT / "frontend" / "dist")))
STATICFILES_DIRS = [("app", FRONTEND_DIST)] if FRONTEND_DIST.exists() else []
WHITENOISE_USE_FINDERS = True
# Names of built files have a hash of their content.
WHITENOISE_IMMUTABLE_FILE_TEST = r"^/static/app/assets/"
WHITENOISE_ADD_HEADERS_FUNCTION = idempotent
MEDIA_ROOT = DATA_DIR / "files"
FILE_UPLOAD_HANDLERS = ["api.uploading.NamelessFileHandler"]
# For views that take several files. Views that take one file set their own limit (api.uploading).
DATA_UPLOAD_MAX_NUMBER_FILES = limits.MOST_FILES
# Maximum length of a body other than an upload. The proxy buffers as much (Caddyfile).
DATA_UPLOAD_MAX_MEMORY_SIZE = 2_621_440
# Maximum number of concurrent uploads per process. Each occupies a thread until it is complete.
UPLOADS_AT_ONCE = env.int("UPLOADS_AT_ONCE", default=2)
# Memory limit of a background job in MiB, in addition to its worker; 0 for none. Jobs with models are not limited.
JOB_MEMORY_MB = env.int("JOB_MEMORY_MB", default=2048)
# Limit of the checkpoints of all trainings together in MiB; 0 for none.
TRAINING_DISK_MB = env.int("TRAINING_DISK_MB", default=100 * 1024)
UPLOAD_LIMIT = env.int("UPLOAD_LIMIT_MB", default=512) * 1024 * 1024
# Folder whose files leads can import, for files above the upload limit. Web server and worker must see the same path.
IMPORT_FOLDER = env.str("IMPORT_FOLDER", default="")

# Request limits by user and project; see the table in api.limits.
LIMITS = limits.read(env.int)

REST_FRAMEWORK = {
    "DEFAULT_AUTHENTICATION_CLASSES": [
        "accounts.authentication.BearerTokenAuthentication",
        "accounts.authentication.SessionAuthentication",
    ],
    "DEFAULT_PERMISSION_CLASSES": ["rest_framework.permissions.IsAuthenticated", "accounts.permissions.NotForGuests"],
    "DEFAULT_RENDERER_CLASSES": ["rest_framework.renderers.JSONRenderer"],
    "DEFAULT_PARSER_CLASSES": ["api.parsers.CarefulJSONParser"],
    "DEFAULT_SCHEMA_CLASS": "config.schema.Schema",
    "DEFAULT_PAGINATION_CLASS": "api.pagination.Pages",
    "PAGE_SIZE": 50,
    "EXCEPTION_HANDLER": "api.problems.as_problem_details",
    "UNAUTHENTICATED_USER": "django.contrib.auth.models.AnonymousUser",
}
SPECTACULAR_SETTINGS = {
    "TITLE": "Concord",
    "DESCRIPTION": "The API of Concord. All pages use it.",
    "VERSION": "1",
    "OAS_VERSION": "3.1.1",
    "SERVE_INCLUDE_SCHEMA": False,
    "SCHEMA_PATH_PREFIX": "/api/v1",
    "COMPONENT_SPLIT_REQUEST": True,
    "ENUM_GENERATE_CHOICE_DESCRIPTION": False,
    "ENUM_NAME_OVERRIDES": {
        "RoleEnum": "projects.models.Role",
        "VerbEnum": "projects.models.project.MAY",
        "PropositionRoleEnum": ["target", "input"],
        "GivenRoleEnum": "projects.people.serializers.GIVEN_ROLES",
        "RoundStatusEnum": "projects.models.Round.Status",
        "PlaceStateEnum": "projects.models.Recruit.State",
        "JobStatusEnum": "projects.models.JobStatus",
        "JudgeRunStateEnum": "evaluation.models.JudgeRunState",
        "PurposeEnum": "projects.purposes.NAMES",
        "PolarityEnum": "annotation.models.Polarity",
        "ModalityEnum": "annotation.models.Modality",
        "RelationEnum": "annotation.models.Relation",
        "ElementEnum": "annotation.models.Element",
        "FormEnum": "annotation.models.PicoForm",
        "SummaryFormEnum": "annotation.models.SummaryForm",
        "SpanElementEnum": "annotation.models.entity.SPAN_ELEMENT_CHOICES",
        "DirectionEnum": "annotation.models.Direction",
        "JudgedDirectionEnum": "annotation.models.effect.JUDGED_DIRECTIONS",
        "StudyRoleEnum": "annotation.models.Role",
        "TargetLevelEnum": "annotation.models.Level",
        "OriginEnum": "projects.models.Origin",
        "KindOfCounterfactualEnum": "annotation.models.counterfactual.KINDS",
        "CounterfactualOriginEnum": "annotation.corpus.serializers.COUNTERFACTUAL_ORIGINS",
        "TextOriginEnum": "annotation.models.TextOrigin",
        "TaskKindEnum": "projects.curation.serializers.KIND_CHOICES",
        "TaskEnum": "annotation.models.AbstractReading.Task",
        "ReadingTaskEnum": "annotation.models.ReadingTask",
        "UnitLevelEnum": "generation.models.UnitLevel",
        "RunPurposeEnum": "generation.models.RunPurpose",
        "RunStatusEnum": "generation.models.RunStatus",
        "ItemStatusEnum": "generation.models.ItemStatus",
        "PlannedPurposeEnum": "projects.purposes.PLANNED_NAMES",
        "ReadinessEnum": "projects.practice.readiness.STATES",
        "PracticeStateEnum": "projects.practice.queries.STATES",
        "SearchStateEnum": "annotation.models.Search.State",
        "SearchActEnum": "annotation.pubmed.views.ACTIONS",
        "SplitLevelEnum": "annotation.models.SplitLevel",
        "SplitModeEnum": "annotation.models.SplitMode",
        "RequestedModeEnum": "annotation.splits.serializers.REQUESTED_MODES",
        "TokenScopeEnum": "accounts.models.ApiToken.Scope",
        "GuidelineScopeEnum": "projects.models.Guideline.Scope",
        "ProtocolKindEnum": "evaluation.protocols.parts.KINDS",
    },
}

LANGUAGE_CODE = "en"
TIME_ZONE = "UTC"
USE_I18N = False
USE_TZ = True

LOG_FORMAT = env.str("LOG_FORMAT", default="text")
if LOG_FORMAT not in logs.FORMATS:
    raise ImproperlyConfigured(f"LOG_FORMAT must be one of: {', '.join(logs.FORMATS)}.")
LOGGING = logs.configuration(LOG_FORMAT, env.str("LOG_LEVEL", default="INFO"))

# Prometheus metrics at /metrics, for clients with the token or in one of the networks; off if both are empty.
METRICS_TOKEN = env.str("METRICS_TOKEN", default="")
METRICS_FROM = env.list("METRICS_FROM", default=[])
if METRICS_TOKEN and len(METRICS_TOKEN) < 16:
    raise ImproperlyConfigured("METRICS_TOKEN is too short: use a random token of at least 16 characters.")
for network in METRICS_FROM:
    try:
        ip_network(network, strict=False)
    except ValueError as error:
        raise ImproperlyConfigured(f"METRICS_FROM: {error}.") from None
