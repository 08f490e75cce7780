"""Django REST framework with Simple JWT, in one file. Prints its address."""

import os
import secrets
import sys

import django
from django.conf import settings

settings.configure(
    SECRET_KEY=secrets.token_urlsafe(48),
    ROOT_URLCONF=__name__,
    ALLOWED_HOSTS=["127.0.0.1"],
    DATABASES={"default": {"ENGINE": "django.db.backends.sqlite3", "NAME": "file:stack?mode=memory&cache=shared"}},
    DEFAULT_AUTO_FIELD="django.db.models.BigAutoField",
    INSTALLED_APPS=["django.contrib.auth", "django.contrib.contenttypes", "rest_framework"],
    MIDDLEWARE=["django.middleware.security.SecurityMiddleware", "django.middleware.common.CommonMiddleware"],
    PASSWORD_HASHERS=["django.contrib.auth.hashers.PBKDF2PasswordHasher"],
    REST_FRAMEWORK={
        "DEFAULT_AUTHENTICATION_CLASSES": ["rest_framework_simplejwt.authentication.JWTAuthentication"],
        "DEFAULT_PERMISSION_CLASSES": ["rest_framework.permissions.IsAuthenticated"],
        "DEFAULT_RENDERER_CLASSES": ["rest_framework.renderers.JSONRenderer"],
    },
    LOGGING_CONFIG=None,
)
django.setup()

from django.contrib.auth.models import User  # noqa: E402
from django.core.management import call_command  # noqa: E402
from django.core.wsgi import get_wsgi_application  # noqa: E402
from django.urls import path  # noqa: E402
from rest_framework.decorators import api_view  # noqa: E402
from rest_framework.response import Response  # noqa: E402
from rest_framework_simplejwt.views import TokenObtainPairView  # noqa: E402


@api_view(["GET"])
def me(request):
    return Response({"username": request.user.username})


urlpatterns = [path("api/token/", TokenObtainPairView.as_view()), path("api/me/", me)]

if __name__ == "__main__":
    from wsgiref.simple_server import WSGIRequestHandler, make_server

    sys.modules[settings.ROOT_URLCONF] = sys.modules["__main__"]
    call_command("migrate", verbosity=0)
    User.objects.create_user("alice@example.com", password=os.environ["STACK_PASSWORD"])

    class Quiet(WSGIRequestHandler):
        def log_message(self, *args):
            pass

    server = make_server("127.0.0.1", 0, get_wsgi_application(), handler_class=Quiet)
    print(f"listening on http://127.0.0.1:{server.server_port}", flush=True)
    server.serve_forever()
