"""An ASGI application behind the verifier: answers who is calling. Its settings are in the environment."""
import json
import os
import sys

sys.path.insert(0, os.environ["VERIFIER"])
from verify_assertion import VerifyAssertion, keys_from  # noqa: E402


async def hello(scope, receive, send):
    body = json.dumps(scope["postern"]).encode()
    await send({"type": "http.response.start", "status": 200, "headers": [(b"content-type", b"application/json")]})
    await send({"type": "http.response.body", "body": body})


app = VerifyAssertion(hello, "https://acme.example.com", "app", "EdDSA", keys_from(os.environ["POSTERN"]))
