"""Sign-in with an OpenID Connect provider. django-allauth implements the protocol; Concord decides who may sign in.

Active only if OIDC_ISSUER is set (config.settings, config.urls). No data of allauth is stored, neither tables nor
tokens. The code flow with PKCE is used, with a state that is bound to the session. The signature of the identity token
is always checked.
"""

import logging
from typing import Any
from urllib.parse import urlencode

import jwt
from allauth.core.exceptions import ImmediateHttpResponse
from allauth.socialaccount.adapter import DefaultSocialAccountAdapter
from allauth.socialaccount.internal import jwtkit
from allauth.socialaccount.models import SocialApp
from allauth.socialaccount.providers.oauth2.client import OAuth2Error
from allauth.socialaccount.providers.oauth2.views import OAuth2CallbackView
from allauth.socialaccount.providers.openid_connect.views import OpenIDConnectOAuth2Adapter
from django.conf import settings
from django.core.exceptions import ValidationError
from django.core.validators import validate_email
from django.http import HttpRequest, HttpResponse, HttpResponseBase, HttpResponseRedirect
from django.utils.http import url_has_allowed_host_and_scheme
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_safe
from requests import RequestException

from api.fields import NameField
from projects.people.provider import NoAccount, OtherPerson, Person, enter_by_provider

logger = logging.getLogger(__name__)
PROVIDER = "oidc"
ALGORITHMS = {"RS256", "RS384", "RS512", "PS256", "PS384", "PS512", "ES256", "ES384", "ES512", "EdDSA"}
#: Allowed clock difference to the provider, in seconds.
CLOCKS = 60
#: Maximum length of a subject in the protocol.
SUBJECT = 255


def refused(why: str) -> HttpResponse:
    """Redirect to the sign-in page with a reason: no-account, other-person, not-verified or failed."""
    return HttpResponseRedirect("/sign-in?" + urlencode({"refused": why}))


def _own_address(value: Any) -> str:
    """Return a local address. Addresses of other hosts are replaced by "/", to prevent open redirects."""
    address = str(value or "/")
    safe = address.startswith("/") and url_has_allowed_host_and_scheme(address, allowed_hosts=None)
    return address if safe else "/"


class Providers(DefaultSocialAccountAdapter):  # type: ignore[misc]
    """allauth's adapter with the provider from the settings. Failures are shown on the sign-in page."""

    def list_apps(self, request: HttpRequest, provider: Any = None, client_id: Any = None) -> list[SocialApp]:
        return [
            SocialApp(
                provider="openid_connect",
                provider_id=PROVIDER,
                name=settings.OIDC_NAME,
                client_id=settings.OIDC_CLIENT_ID,
                secret=settings.OIDC_CLIENT_SECRET,
                settings={"server_url": settings.OIDC_ISSUER.rstrip("/"), "oauth_pkce_enabled": True},
            )
        ]

    def on_authentication_error(
        self, request: HttpRequest, provider: Any, error: Any = None, exception: Any = None, extra_context: Any = None
    ) -> None:
        # Log only the type of the exception: messages of the provider may contain codes and tokens.
        logger.warning(
            "sign-in with the identity provider failed: %s", type(exception).__name__ if exception else error
        )
        raise ImmediateHttpResponse(refused("failed"))


class Protocol(OpenIDConnectOAuth2Adapter):  # type: ignore[misc]
    """allauth's protocol client up to the verified claims. Concord handles the rest."""

    next_address = "/"

    def __init__(self, request: HttpRequest) -> None:
        super().__init__(request, PROVIDER)

    def get_access_token_data(self, *arguments: Any, **options: Any) -> Any:
        found = super().get_access_token_data(*arguments, **options)
        if not isinstance(found, dict) or not {"access_token", "id_token"} <= set(found):
            raise OAuth2Error("no identity token")
        return found

    def complete_login(self, request: HttpRequest, app: Any, token: Any, **kwargs: Any) -> Any:
        claims = self._claims(app, token.token, str(kwargs["response"]["id_token"]))
        email = str(claims.get("email") or "").strip()
        try:
            validate_email(email)
        except ValidationError:
            raise ImmediateHttpResponse(refused("not-verified")) from None
        if claims.get("email_verified") not in (True, "true"):
            raise ImmediateHttpResponse(refused("not-verified"))
        subject = claims["sub"]
        if not isinstance(subject, str) or not 0 < len(subject) <= SUBJECT or not subject.isprintable():
            raise OAuth2Error("no subject")
        person = Person(
            issuer=settings.OIDC_ISSUER.rstrip("/"),
            subject=subject,
            email=email,
            name=NameField.UNWANTED.sub("", str(claims.get("name") or "")),
        )
        try:
            enter_by_provider(request=request, person=person)
        except (NoAccount, OtherPerson) as problem:
            raise ImmediateHttpResponse(refused(problem.type)) from None
        request.session.set_expiry(None)
        raise ImmediateHttpResponse(HttpResponseRedirect(self.next_address))

    def _claims(self, app: Any, access_token: str, id_token: str) -> dict[str, Any]:
        """Return the claims of the signed token. The e-mail address may come from the user endpoint."""
        issuer = str(self.openid_config["issuer"])
        if issuer.rstrip("/") != settings.OIDC_ISSUER.rstrip("/"):
            raise OAuth2Error("another issuer")
        algorithm, key = jwtkit.fetch_key(id_token, self.openid_config["jwks_uri"], jwtkit.lookup_kid_jwk)
        if algorithm not in ALGORITHMS:
            raise OAuth2Error("signature is not asymmetric")
        claims: dict[str, Any] = jwt.decode(
            id_token,
            key=key,
            algorithms=[algorithm],
            issuer=issuer,
            audience=app.client_id,
            leeway=CLOCKS,
            options={"require": ["exp", "iat", "sub"]},
        )
        if "email" not in claims and "userinfo_endpoint" in self.openid_config:
            more: dict[str, Any] = self._fetch_user_info(access_token)
            if more.get("sub") != claims["sub"]:
                raise OAuth2Error("user info of another subject")
            return more
        return claims


class Back(OAuth2CallbackView):  # type: ignore[misc]
    def _get_state(self, request: HttpRequest, provider: Any) -> Any:
        state, response = super()._get_state(request, provider)
        self.adapter.next_address = _own_address((state or {}).get("next"))
        return state, response


#: Exceptions if the provider is unavailable or its replies violate the protocol.
FAILURES = (OAuth2Error, RequestException, jwt.PyJWTError, KeyError, TypeError, ValueError)


@require_safe
@never_cache
def begin(request: HttpRequest) -> HttpResponseBase:
    """Redirect the browser to the provider. ``?next=`` is the page to return to."""
    if request.session.is_empty():
        request.session.set_expiry(600)  # an abandoned sign-in leaves a session for ten minutes only
    provider = Protocol(request).get_provider()
    try:
        reply: HttpResponse = provider.redirect(request, "login", next_url=_own_address(request.GET.get("next")))
    except FAILURES as error:
        logger.warning("the identity provider is not reachable: %s", type(error).__name__)
        return refused("failed")
    return reply


@require_safe
@never_cache
def come_back(request: HttpRequest, provider_id: str) -> HttpResponseBase:
    """Callback of the provider: sign in, or redirect to the sign-in page with the reason of the failure."""
    try:
        reply: HttpResponse = Back.adapter_view(Protocol)(request)
    except FAILURES as error:
        logger.warning("sign-in with the identity provider failed: %s", type(error).__name__)
        return refused("failed")
    return reply
