"""The HTML page of the frontend. It only references the built files, which allows a strict CSP."""

import json
from functools import lru_cache
from html import escape
from pathlib import Path
from typing import Any

from django.conf import settings
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.middleware.csrf import get_token
from django.views.decorators.http import require_safe

from api.problems import CONTENT_TYPE, NotFound

ENTRY = "index.html"
ICON = "src/style/favicon.svg"


@lru_cache(maxsize=4)
def _manifest(path: Path, changed: float) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    return found


def manifest() -> dict[str, Any] | None:
    """Return Vite's manifest of the production bundle, reloaded after a build, or None."""
    path = settings.FRONTEND_DIST / ".vite" / "manifest.json"
    return _manifest(path, path.stat().st_mtime) if path.exists() else None


def _imports(files: dict[str, Any], entry: str) -> list[str]:
    """Return the chunks that an entry imports, transitively and without repeats."""
    seen: list[str] = []
    waiting = list(files[entry].get("imports", []))
    while waiting:
        name = waiting.pop(0)
        if name not in seen:
            seen.append(name)
            waiting += files[name].get("imports", [])
    return seen


def document(files: dict[str, Any]) -> str:
    """Return the HTML of the page for a manifest."""
    entry, chunks = files[ENTRY], _imports(files, ENTRY)
    styles = [css for name in [ENTRY, *chunks] for css in files[name].get("css", [])]

    def url(path: str) -> str:
        return escape(f"{settings.STATIC_URL}app/{path}")

    # The provider's name for the sign-in page, which saves a request.
    provider = (
        [f'<meta name="concord-provider" content="{escape(settings.OIDC_NAME)}">'] if settings.OIDC_ISSUER else []
    )
    # Without an icon, an empty one prevents requests for /favicon.ico.
    icon = url(files[ICON]["file"]) if ICON in files else "data:,"
    head = provider + [f'<link rel="stylesheet" href="{url(css)}">' for css in styles]
    head += [f'<link rel="modulepreload" href="{url(files[name]["file"])}">' for name in chunks]
    return (
        '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        '<meta name="color-scheme" content="light dark">\n<title>Concord</title>\n'
        f'<link rel="icon" href="{icon}">\n' + "\n".join(head) + "\n"
        f'<script type="module" src="{url(entry["file"])}"></script>\n</head>\n'
        '<body>\n<div id="app"></div>\n<noscript>Concord needs JavaScript.</noscript>\n</body>\n</html>\n'
    )


@require_safe
def page(request: HttpRequest) -> HttpResponse:
    """Serve all page addresses. The frontend does the routing."""
    files = manifest()
    if files is None:
        return HttpResponse(
            "The frontend has not been built. Run: make frontend\n",
            status=503,
            content_type="text/plain; charset=utf-8",
        )
    get_token(request)  # sets the CSRF cookie that the frontend returns with every change
    response = HttpResponse(document(files))
    response["Cache-Control"] = "no-cache"
    return response


def no_such_endpoint(request: HttpRequest, rest: str = "") -> JsonResponse:
    """Return 404 for unknown addresses under /api/."""
    return JsonResponse(
        NotFound("Unknown endpoint; see /api/v1/schema/.").as_json(), status=404, content_type=CONTENT_TYPE
    )
