"""Sign-in by an OpenID Connect provider. django-allauth speaks the protocol; who may come in is Concord's own rule.

On only where OIDC_ISSUER is set (config.settings, config.urls). Nothing of allauth's is stored: no tables, no tokens.
The code flow with PKCE and a state that is bound to the session; the identity token's signature is always checked.
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

from projects.actions.provider import NoAccount, OtherPerson, Person, enter_by_provider

logger = logging.getLogger(__name__)
PROVIDER = "oidc"
ALGORITHMS = {"RS256", "RS384", "RS512", "PS256", "PS384", "PS512", "ES256", "ES384", "ES512", "EdDSA"}
#: Seconds by which the provider's clock and ours may differ.
CLOCKS = 60
#: Characters that a subject may have, by the protocol.
SUBJECT = 255


def refused(why: str) -> HttpResponse:
    """Back to the sign-in page, which has words for it: no-account, other-person, not-verified, failed."""
    return HttpResponseRedirect("/sign-in?" + urlencode({"refused": why}))


def _own_address(asked: Any) -> str:
    """Only to a page of ours: never to an address that somebody put into a link."""
    address = str(asked or "/")
    safe = address.startswith("/") and url_has_allowed_host_and_scheme(address, allowed_hosts=None)
    return address if safe else "/"


class Providers(DefaultSocialAccountAdapter):  # type: ignore[misc]
    """allauth's adapter: the one provider of the settings, and failures shown on the sign-in page."""

    def list_apps(self, request: HttpRequest, provider: Any = None, client_id: Any = None) -> list[SocialApp]:
        return [SocialApp(
            provider="openid_connect", provider_id=PROVIDER, name=settings.OIDC_NAME, client_id=settings.OIDC_CLIENT_ID,
            secret=settings.OIDC_CLIENT_SECRET,
            settings={"server_url": settings.OIDC_ISSUER.rstrip("/"), "oauth_pkce_enabled": True},
        )]  # fmt: skip

    def on_authentication_error(
        self, request: HttpRequest, provider: Any, error: Any = None, exception: Any = None, extra_context: Any = None
    ) -> None:
        # By its kind: what a provider says may hold codes and tokens.
        logger.warning("sign-in by the provider failed: %s", type(exception).__name__ if exception else error)
        raise ImmediateHttpResponse(refused("failed"))


class Protocol(OpenIDConnectOAuth2Adapter):  # type: ignore[misc]
    """allauth's client of the protocol, up to the verified claims; from there on our own."""

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
            issuer=settings.OIDC_ISSUER.rstrip("/"), subject=subject, email=email,
            name=str(claims.get("name") or "").replace("\0", ""),
        )  # fmt: skip
        try:
            enter_by_provider(request=request, person=person)
        except (NoAccount, OtherPerson) as problem:
            raise ImmediateHttpResponse(refused(problem.type)) from None
        request.session.set_expiry(None)
        raise ImmediateHttpResponse(HttpResponseRedirect(self.next_address))

    def _claims(self, app: Any, access_token: str, id_token: str) -> dict[str, Any]:
        """What the provider says of the person, from the signed token; the address perhaps from its user endpoint."""
        issuer = str(self.openid_config["issuer"])
        if issuer.rstrip("/") != settings.OIDC_ISSUER.rstrip("/"):
            raise OAuth2Error("another issuer")
        algorithm, key = jwtkit.fetch_key(id_token, self.openid_config["jwks_uri"], jwtkit.lookup_kid_jwk)
        if algorithm not in ALGORITHMS:
            raise OAuth2Error("no asymmetric signature")
        claims: dict[str, Any] = jwt.decode(
            id_token, key=key, algorithms=[algorithm], issuer=issuer, audience=app.client_id, leeway=CLOCKS,
            options={"require": ["exp", "iat", "sub"]},
        )  # fmt: skip
        if "email" not in claims and "userinfo_endpoint" in self.openid_config:
            more: dict[str, Any] = self._fetch_user_info(access_token)
            if more.get("sub") != claims["sub"]:
                raise OAuth2Error("somebody else's particulars")
            return more
        return claims


class Back(OAuth2CallbackView):  # type: ignore[misc]
    def _get_state(self, request: HttpRequest, provider: Any) -> Any:
        state, response = super()._get_state(request, provider)
        self.adapter.next_address = _own_address((state or {}).get("next"))
        return state, response


#: What a provider that is away, or whose replies are not what the protocol says, makes happen.
FAILURES = (OAuth2Error, RequestException, jwt.PyJWTError, KeyError, TypeError, ValueError)


@require_safe
@never_cache
def begin(request: HttpRequest) -> HttpResponseBase:
    """Send the browser to the provider; ``?next=`` is the page to come back to."""
    if request.session.is_empty():
        request.session.set_expiry(600)  # whoever presses the button and does not come back leaves nothing for long
    provider = Protocol(request).get_provider()
    try:
        reply: HttpResponse = provider.redirect(request, "login", next_url=_own_address(request.GET.get("next")))
    except FAILURES as error:
        logger.warning("the identity provider cannot be reached: %s", type(error).__name__)
        return refused("failed")
    return reply


@require_safe
@never_cache
def come_back(request: HttpRequest, provider_id: str) -> HttpResponseBase:
    """Where the provider sends the browser back to: signed in, or to the sign-in page with the reason why not."""
    try:
        reply: HttpResponse = Back.adapter_view(Protocol)(request)
    except FAILURES as error:
        logger.warning("sign-in by the provider failed: %s", type(error).__name__)
        return refused("failed")
    return reply
