"""A WSGI application that records what reached which of its handlers, as its server presents it."""
import json
import os

HANDLERS = sorted(json.loads(os.environ["UPSTREAM_HANDLERS"]), key=len, reverse=True)
RECORD = os.open(os.environ["UPSTREAM_RECORD"], os.O_WRONLY | os.O_APPEND | os.O_CREAT)
OVERRIDES = ("HTTP_X_HTTP_METHOD_OVERRIDE", "HTTP_X_HTTP_METHOD", "HTTP_X_METHOD_OVERRIDE")


def handler_of(path):
    for handler in HANDLERS:
        exact = handler.rstrip("$")
        if path in (exact, exact + "/") or (exact == handler and path.startswith(handler + "/")):
            return exact
    return ""


def method_of(environ):
    """Method overriding as frameworks and their middleware do it."""
    for name in OVERRIDES:
        if environ.get(name):
            return environ[name].upper()
    return environ["REQUEST_METHOD"]


def record(entry):
    os.write(RECORD, json.dumps(entry).encode() + b"\n")


def application(environ, start_response):
    path = environ["PATH_INFO"].encode("latin-1").decode("utf-8", "replace")
    body = b"" if path.endswith("/unread") else environ["wsgi.input"].read()
    headers = [[k[5:].replace("_", "-"), v] for k, v in environ.items() if k.startswith("HTTP_")]
    headers += [[k.replace("_", "-"), environ[k]] for k in ("CONTENT_TYPE", "CONTENT_LENGTH") if environ.get(k)]
    record({
        "handler": handler_of(path),
        "method": method_of(environ),
        "path": path,
        "headers": headers,
        "root": environ["SCRIPT_NAME"],
        "user": environ.get("REMOTE_USER", ""),
        "address": environ.get("REMOTE_ADDR", ""),
        "scheme": environ["wsgi.url_scheme"],
        "body": body[:200].decode("latin-1"),
    })
    start_response("200 OK", [("Content-Type", "text/plain"), ("Content-Length", "3")])
    return [b"ok\n"]
