"""A small OpenID Connect provider: signed tokens, PKCE, one signed-in person."""

import base64
import hashlib
import json
import secrets
import threading
import time
from collections.abc import Callable
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qs, urlencode, urlsplit

import jwt
from cryptography.hazmat.primitives.asymmetric import rsa

CLIENT, SECRET = "concord", "the-secret-of-this-client-and-no-other"


def new_key() -> rsa.RSAPrivateKey:
    return rsa.generate_private_key(public_exponent=65537, key_size=2048)


class IdentityProvider:
    """``claims`` are the claims about the person; ``sign`` makes the token and may be replaced by a faulty one."""

    def __init__(self) -> None:
        self.key, self.codes = new_key(), dict[str, str]()
        self.claims: dict[str, Any] = {}
        self.in_token = True
        self.sign: Callable[[dict[str, Any]], str] = self.honest
        self.given: list[str] = []
        provider = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                provider.get(self)

            def do_POST(self) -> None:
                provider.token(self)

            def log_message(self, *_: Any) -> None:
                pass

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.issuer = f"http://127.0.0.1:{self.server.server_port}"
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def stop(self) -> None:
        self.server.shutdown()
        self.server.server_close()

    def standard(self) -> dict[str, Any]:
        now = int(time.time())
        return {"iss": self.issuer, "aud": CLIENT, "sub": "person-1", "iat": now, "exp": now + 60}

    def honest(self, claims: dict[str, Any]) -> str:
        return jwt.encode(claims, self.key, "RS256", headers={"kid": "k1"})

    def get(self, handler: BaseHTTPRequestHandler) -> None:
        asked = urlsplit(handler.path)
        query = {name: values[0] for name, values in parse_qs(asked.query).items()}
        match asked.path:
            case "/.well-known/openid-configuration":
                _send(
                    handler,
                    {
                        "issuer": self.issuer,
                        "authorization_endpoint": f"{self.issuer}/authorize",
                        "token_endpoint": f"{self.issuer}/token",
                        "jwks_uri": f"{self.issuer}/keys",
                        "userinfo_endpoint": f"{self.issuer}/userinfo",
                        "token_endpoint_auth_methods_supported": ["client_secret_post"],
                    },
                )
            case "/keys":
                public = jwt.algorithms.RSAAlgorithm.to_jwk(self.key.public_key(), as_dict=True)
                _send(handler, {"keys": [public | {"kid": "k1", "alg": "RS256", "use": "sig"}]})
            case "/userinfo":
                _send(handler, {"sub": "person-1"} | self.claims)
            case "/authorize":
                assert (query["response_type"], query["code_challenge_method"]) == ("code", "S256")
                code = secrets.token_urlsafe(12)
                self.codes[code] = query["code_challenge"]
                handler.send_response(302)
                back = urlencode({"code": code, "state": query["state"]})
                handler.send_header("Location", f"{query['redirect_uri']}?{back}")
                handler.end_headers()

    def token(self, handler: BaseHTTPRequestHandler) -> None:
        body = handler.rfile.read(int(handler.headers["Content-Length"])).decode()
        sent = {name: values[0] for name, values in parse_qs(body).items()}
        digest = hashlib.sha256(sent["code_verifier"].encode()).digest()
        challenge = base64.urlsafe_b64encode(digest).rstrip(b"=").decode()
        if self.codes.pop(sent["code"], None) != challenge or sent["client_secret"] != SECRET:
            _send(handler, {"error": "invalid_grant"}, 400)
            return
        token = self.sign(self.standard() | (self.claims if self.in_token else {}))
        self.given += [sent["code"], token]
        _send(handler, {"access_token": "opaque", "token_type": "Bearer", "expires_in": 60, "id_token": token})


def _send(handler: BaseHTTPRequestHandler, body: dict[str, Any], status: int = 200) -> None:
    sent = json.dumps(body).encode()
    handler.send_response(status)
    handler.send_header("Content-Type", "application/json")
    handler.send_header("Content-Length", str(len(sent)))
    handler.end_headers()
    handler.wfile.write(sent)
