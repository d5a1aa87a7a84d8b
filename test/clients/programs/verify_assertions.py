"""Runs the verifier for ASGI, or PyJWT by itself: each line of input is a case, each line of output its verdicts."""
import asyncio
import json
import sys

import jwt

sys.path.insert(0, sys.argv[2])
from verify_assertion import VerifyAssertion  # noqa: E402


def scope_of(request):
    path, _, query = request["target"].partition("?")
    return {
        "type": "http",
        "method": request["method"],
        "raw_path": path.encode(),
        "query_string": query.encode(),
        "root_path": "",
        "headers": [(name.lower().encode(), value.encode()) for name, value in request["headers"]],
    }


async def by_verifier(case):
    keys = case["secret"].encode() if case["algorithm"] == "HS256" else lambda: case["jwks"]
    verdicts = []

    async def app(scope, _receive, _send):
        verdicts.append(isinstance(scope["postern"], dict))

    async def send(message):
        if message["type"] == "http.response.start":
            verdicts.append(message["status"] != 401)

    middleware = VerifyAssertion(app, case["issuer"], case["audience"], case["algorithm"], keys, lambda: case["now"])
    for request in case["requests"]:
        await middleware(scope_of(request), None, send)
    return verdicts


def by_library(case):
    """The signature, aud, iss and the presence of claims, at the time of this machine."""
    verdicts = []
    for request in case["requests"]:
        token = dict(request["headers"]).get("X-Auth-Assertion", "")
        try:
            if case["algorithm"] == "HS256":
                key = case["secret"].encode()
            else:
                kid = jwt.get_unverified_header(token)["kid"]
                key = next(key for key in jwt.PyJWKSet.from_dict(case["jwks"]).keys if key.key_id == kid)
            required = {"require": ["iat", "exp", "jti", "htm", "htt"]}
            arguments = {"audience": case["audience"], "issuer": case["issuer"], "leeway": 5, "options": required}
            jwt.decode(token, key, algorithms=[case["algorithm"]], **arguments)
            verdicts.append(True)
        except jwt.PyJWTError:
            verdicts.append(False)
    return verdicts


for line in sys.stdin:
    case = json.loads(line)
    print(json.dumps(by_library(case) if sys.argv[1] == "library" else asyncio.run(by_verifier(case))))
