"""A Django project that records what reached which of its views; served over WSGI or ASGI."""
import json
import os
import re

import django
from django.conf import settings

RECORD = os.open(os.environ["UPSTREAM_RECORD"], os.O_WRONLY | os.O_APPEND | os.O_CREAT)
# With UPSTREAM_REMOTE_USER: the key by which RemoteUserMiddleware knows the caller.
REMOTE_USER = os.environ.get("UPSTREAM_REMOTE_USER")

settings.configure(
    DEBUG=False,
    SECRET_KEY="a key of the tests",
    ALLOWED_HOSTS=["*"],
    ROOT_URLCONF=__name__,
    APPEND_SLASH=False,
    USE_TZ=True,
    DEFAULT_AUTO_FIELD="django.db.models.AutoField",
    DATABASES={"default": {"ENGINE": "django.db.backends.sqlite3", "NAME": os.environ.get("UPSTREAM_DATABASE", ":memory:")}},
    INSTALLED_APPS=["django.contrib.auth", "django.contrib.contenttypes", "django.contrib.sessions"] if REMOTE_USER else [],
    MIDDLEWARE=[
        "django.contrib.sessions.middleware.SessionMiddleware",
        "django.contrib.auth.middleware.AuthenticationMiddleware",
        __name__ + ".HeaderUser",
    ] if REMOTE_USER else [],
    AUTHENTICATION_BACKENDS=["django.contrib.auth.backends.RemoteUserBackend"],
)
django.setup()

from django.http import HttpResponse  # noqa: E402
from django.urls import re_path  # noqa: E402

if REMOTE_USER:
    from django.contrib.auth.middleware import RemoteUserMiddleware
    from django.core.management import call_command

    class HeaderUser(RemoteUserMiddleware):
        """As Django's documentation says: another header is named by a subclass."""

        header = REMOTE_USER

    call_command("migrate", verbosity=0)


def serve(handler):
    def view(request):
        body = b"" if request.path_info.endswith("/unread") else request.body
        user = getattr(request, "user", None)
        os.write(RECORD, json.dumps({
            "handler": handler,
            "method": request.method,
            "path": request.path_info,
            "headers": [[k[5:].replace("_", "-"), str(v)] for k, v in request.META.items() if k.startswith("HTTP_")],
            "root": request.META.get("SCRIPT_NAME", ""),
            "user": user.get_username() if user is not None else request.META.get("REMOTE_USER", ""),
            "address": request.META.get("REMOTE_ADDR") or "",
            "scheme": request.scheme,
            "body": body[:200].decode("latin-1"),
        }).encode() + b"\n")
        return HttpResponse("ok\n")

    return view


urlpatterns = [
    re_path("^" + re.escape(path[1:].rstrip("$")) + ("/?$" if path.endswith("$") else "(?:/.*)?$"), serve(path.rstrip("$")))
    for path in sorted(json.loads(os.environ["UPSTREAM_HANDLERS"]), key=len, reverse=True)
] + [re_path(".*", serve(""))]

if os.environ.get("UPSTREAM_INTERFACE") == "wsgi":
    from django.core.wsgi import get_wsgi_application as get_application
else:
    from django.core.asgi import get_asgi_application as get_application
application = get_application()
