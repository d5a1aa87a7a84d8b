"""Verifies that a request comes from Postern, and from whom (docs/upstreams.md): an ASGI middleware.

Python 3.10 or later with PyJWT and cryptography. It belongs outside everything that changes paths or headers:
    app = VerifyAssertion(app, "https://acme.example.com", "app", "EdDSA", keys_from("http://127.0.0.1:9090"))
What is not from Postern is 401, WebSockets are closed; the claims of all else are in scope["postern"].
"""
import asyncio, base64, hashlib, json, re, time, urllib.request

import jwt

CLAIM_OF = {"x-auth-subject": "sub", "x-auth-username": "username", "x-auth-method": "method",
            "x-auth-scopes": "scope", "x-auth-session-id": "sid", "x-auth-key-id": "key_id",
            "x-auth-tenant": "tenant"}  # fmt: skip
LATER = {"client_id", "issuer", "delegated", "assurance"}  # a later Postern may send them, or others
MAY_REPEAT = {"GET", "HEAD", "OPTIONS"}
LEEWAY = 5
KEYS_MAX_AGE = 300
KEYS_PAUSE = 10


class NotFromPostern(Exception):
    pass


def must(is_so, what):
    if not is_so:
        raise NotFromPostern(what)


def keys_from(postern):
    """A load_keys: reads the JWK set, by a way on which no one can change it."""
    return lambda: json.load(urllib.request.urlopen(f"{postern}/.well-known/postern-assertion-jwks.json", timeout=5))


class VerifyAssertion:
    """issuer is Postern's base_url, audience the name of this upstream; HS256 takes the bytes of the secret for keys."""

    def __init__(self, app, issuer, audience, algorithm, keys, now=time.time):
        self.app, self.issuer, self.audience, self.algorithm, self.now = app, issuer, audience, algorithm, now
        self.used = {}
        self.secret, self.load_keys = (keys, None) if algorithm == "HS256" else (None, keys)
        self.keys, self.loaded_at = {}, float("-inf")

    async def __call__(self, scope, receive, send):
        if scope["type"] not in ("http", "websocket"):
            return await self.app(scope, receive, send)
        try:
            scope["postern"] = await self.verify(scope)
        except (NotFromPostern, jwt.PyJWTError, ValueError, OSError):
            if scope["type"] == "websocket":
                return await send({"type": "websocket.close", "code": 1008})
            await send({"type": "http.response.start", "status": 401, "headers": [(b"content-length", b"0")]})
            return await send({"type": "http.response.body", "body": b""})
        await self.app(scope, receive, send)

    async def verify(self, scope):
        """Gives the claims, or raises; nothing but the scope of a request is looked at."""
        headers = identity_headers(scope["headers"])
        token = headers.pop("x-auth-assertion", "")
        header = jwt.get_unverified_header(token)
        must(header.get("alg") == self.algorithm and header.get("typ") == "postern-assertion+jwt", "alg or typ")
        must("crit" not in header, "crit")
        key = self.secret or await self.key_of(header.get("kid"))
        claims = json.loads(jwt.PyJWS().decode(token, key, algorithms=[self.algorithm]))

        must(isinstance(claims, dict) and claims.get("iss") == self.issuer and claims.get("aud") == self.audience, "iss, aud")
        iat, exp = claims.get("iat"), claims.get("exp")
        must(type(iat) in (int, float) and type(exp) in (int, float), "iat or exp")
        must(iat <= self.now() + LEEWAY and self.now() < exp + LEEWAY, "time")
        method = scope.get("method", "GET")  # a WebSocket has none
        must(claims.get("htm") == method and claims.get("htt") == hash_of(scope), "htm or htt")
        for name, claim in CLAIM_OF.items():
            value = headers.pop(name, "")
            # It is signed for callers without a credential, too, who have no identity headers.
            if claim == "tenant" and value == "" and "sub" not in claims:
                continue
            must(value == claims.get(claim, ""), name)
        others = {name.removeprefix("x-auth-").replace("-", "_"): value for name, value in headers.items()}
        must(LATER & claims.keys() <= others.keys(), "a claim without its header")
        must(all(value == claims.get(claim, "" if claim in LATER else None) for claim, value in others.items()), "a header")
        must(isinstance(claims.get("jti"), str) and claims["jti"] != "", "jti")
        if method not in MAY_REPEAT:
            self.use_once(claims["jti"], exp)
        return claims

    def use_once(self, jti, exp):
        """Known to this process alone: several that share the load need a store that they share."""
        while self.used and next(iter(self.used.values())) <= self.now():
            del self.used[next(iter(self.used))]
        must(jti not in self.used, "used before")
        self.used[jti] = exp + LEEWAY

    async def key_of(self, kid):
        """Of the published keys, a copy of which counts for five minutes; for an unknown kid they are read again."""
        age = self.now() - self.loaded_at
        if age >= KEYS_MAX_AGE or (age >= KEYS_PAUSE and kid not in self.keys):
            found = (await asyncio.to_thread(self.load_keys))["keys"]
            usable = [jwk for jwk in found if jwk.get("alg") == self.algorithm]
            self.keys, self.loaded_at = {jwk["kid"]: jwt.PyJWK(jwk).key for jwk in usable}, self.now()
        must(kid in self.keys, "kid")
        return self.keys[kid]


def identity_headers(raw):
    """Every header that any server could take for one of Postern's, each once and spelt as Postern does."""
    found = {}
    for name, value in ((name.decode("latin-1").lower(), value.decode("latin-1")) for name, value in raw):
        if re.sub("[^a-z0-9]", "-", name).startswith("x-auth-"):
            must(re.fullmatch("[a-z0-9-]+", name) and name not in found, "an X-Auth- header")
            found[name] = value
    return found


def hash_of(scope):
    """Of the target as it was sent: the server puts root_path before it, and Starlette's mounts change root_path."""
    root = scope.get("app_root_path", scope.get("root_path", "")).encode()
    path, query = scope["raw_path"].removeprefix(root), scope["query_string"]
    target = path + b"?" + query if query else path
    return base64.urlsafe_b64encode(hashlib.sha256(target).digest()).rstrip(b"=").decode()
