"""Django's administration site for people whom a proxy names: PORT."""

import sys
from urllib.parse import unquote
from wsgiref.simple_server import make_server

import django
from django.conf import settings
settings.configure(
    SECRET_KEY="a secret of the application",
    ALLOWED_HOSTS=["*"],
    ROOT_URLCONF=__name__,
    DATABASES={"default": {"ENGINE": "django.db.backends.sqlite3", "NAME": "people.db"}},
    INSTALLED_APPS=[f"django.contrib.{name}" for name in ("admin", "auth", "contenttypes", "sessions", "messages")],
    MIDDLEWARE=[
        "django.contrib.sessions.middleware.SessionMiddleware",
        "django.contrib.auth.middleware.AuthenticationMiddleware",
        f"{__name__}.Proxied",
        "django.contrib.messages.middleware.MessageMiddleware",
    ],
    AUTHENTICATION_BACKENDS=[f"{__name__}.People"],
    TEMPLATES=[
        {
            "BACKEND": "django.template.backends.django.DjangoTemplates",
            "APP_DIRS": True,
            "OPTIONS": {
                "context_processors": [
                    "django.template.context_processors.request",
                    "django.contrib.auth.context_processors.auth",
                    "django.contrib.messages.context_processors.messages",
                ]
            },
        }
    ],
    STATIC_URL="static/",
)
django.setup()

from django.contrib import admin  # noqa: E402
from django.contrib.auth.backends import RemoteUserBackend  # noqa: E402
from django.contrib.auth.middleware import RemoteUserMiddleware  # noqa: E402
from django.contrib.auth.models import Group, Permission  # noqa: E402
from django.core.management import call_command  # noqa: E402
from django.core.wsgi import get_wsgi_application  # noqa: E402
from django.urls import path  # noqa: E402


class Proxied(RemoteUserMiddleware):
    header = "HTTP_REMOTE_USER"


class People(RemoteUserBackend):
    def configure_user(self, request, user, created=True):
        def header(name):
            return request.META.get(name, "").encode("latin1").decode()

        user.first_name = header("HTTP_REMOTE_NAME")
        user.email = header("HTTP_REMOTE_EMAIL")
        names = [unquote(name) for name in header("HTTP_REMOTE_GROUPS").split(",") if name]
        user.is_staff = bool(names)
        user.save()
        user.groups.set(Group.objects.filter(name__in=names))
        return user


urlpatterns = [path("admin/", admin.site.urls)]
call_command("migrate", verbosity=0)
for name, permission in (("staff", "view_user"), ("Zürich, west", "view_group")):
    group, _ = Group.objects.get_or_create(name=name)
    group.permissions.set(Permission.objects.filter(codename=permission))
make_server("127.0.0.1", int(sys.argv[1]), get_wsgi_application()).serve_forever()
