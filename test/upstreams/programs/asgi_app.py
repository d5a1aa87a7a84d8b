"""A FastAPI application that records what reached which of its handlers, as its server presents it."""
import json
import os

from fastapi import FastAPI, Request
from fastapi.responses import PlainTextResponse

RECORD = os.open(os.environ["UPSTREAM_RECORD"], os.O_WRONLY | os.O_APPEND | os.O_CREAT)
METHODS = ["GET", "HEAD", "OPTIONS", "POST", "PUT", "PATCH", "DELETE", "QUERY", "PROPFIND"]

app = FastAPI(openapi_url=None)


def serve(handler):
    async def endpoint(request: Request):
        scope = request.scope
        body = b"" if scope["path"].endswith("/unread") else await request.body()
        entry = {
            "handler": handler,
            "method": scope["method"],
            "path": scope["path"],
            "headers": [[n.decode("latin-1"), v.decode("latin-1")] for n, v in scope["headers"]],
            "root": scope.get("root_path", ""),
            "user": "",
            "address": (scope.get("client") or [""])[0],
            "scheme": scope["scheme"],
            "body": body[:200].decode("latin-1"),
        }
        os.write(RECORD, json.dumps(entry).encode() + b"\n")
        return PlainTextResponse("ok\n")

    return endpoint


for path in sorted(json.loads(os.environ["UPSTREAM_HANDLERS"]), key=len, reverse=True):
    exact = path.rstrip("$")
    for pattern in (exact, exact + ("/{rest:path}" if exact == path else "/")):
        app.add_api_route(pattern, serve(exact), methods=METHODS)
app.add_api_route("/{rest:path}", serve(""), methods=METHODS)
