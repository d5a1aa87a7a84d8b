"""Django's own administration site, for the users that a proxy names in a header."""
import os
import sys
from wsgiref.simple_server import make_server

import django
from django.conf import settings

settings.configure(
    DEBUG=False,
    SECRET_KEY="a key of the tests",
    ALLOWED_HOSTS=["*"],
    ROOT_URLCONF=__name__,
    USE_TZ=True,
    STATIC_URL="/static/",
    DEFAULT_AUTO_FIELD="django.db.models.AutoField",
    DATABASES={"default": {"ENGINE": "django.db.backends.sqlite3", "NAME": os.environ["UPSTREAM_DATABASE"]}},
    INSTALLED_APPS=[f"django.contrib.{name}" for name in ["admin", "auth", "contenttypes", "messages", "sessions", "staticfiles"]],
    MIDDLEWARE=[
        "django.contrib.sessions.middleware.SessionMiddleware",
        "django.middleware.common.CommonMiddleware",
        "django.middleware.csrf.CsrfViewMiddleware",
        "django.contrib.auth.middleware.AuthenticationMiddleware",
        "django.contrib.auth.middleware.RemoteUserMiddleware",
        "django.contrib.messages.middleware.MessageMiddleware",
    ],
    AUTHENTICATION_BACKENDS=["django.contrib.auth.backends.RemoteUserBackend"],
    TEMPLATES=[{
        "BACKEND": "django.template.backends.django.DjangoTemplates",
        "APP_DIRS": True,
        "OPTIONS": {"context_processors": [
            "django.template.context_processors.request",
            "django.contrib.auth.context_processors.auth",
            "django.contrib.messages.context_processors.messages",
        ]},
    }],
)
django.setup()

from django.contrib import admin  # noqa: E402
from django.contrib.auth.models import User  # noqa: E402
from django.contrib.auth.middleware import RemoteUserMiddleware  # noqa: E402
from django.contrib.staticfiles.handlers import StaticFilesHandler  # noqa: E402
from django.core.handlers.wsgi import WSGIHandler  # noqa: E402
from django.core.management import call_command  # noqa: E402
from django.urls import path  # noqa: E402

RemoteUserMiddleware.header = "HTTP_REMOTE_USER"
urlpatterns = [path("admin/", admin.site.urls)]

call_command("migrate", verbosity=0)
User.objects.create(username=os.environ["UPSTREAM_USER"], is_staff=True, is_superuser=True)
settings.DEBUG = True  # staticfiles serves only then
sys.stderr.flush()
make_server("127.0.0.1", int(os.environ["UPSTREAM_PORT"]), StaticFilesHandler(WSGIHandler())).serve_forever()
