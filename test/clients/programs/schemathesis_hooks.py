"""Signs Schemathesis in: the address of the token endpoint comes from the document."""

import os

import requests
import schemathesis

token_url = None


@schemathesis.hook
def before_load_schema(context, raw_schema):
    """Its checks don't know that OAuth2 tokens are sent in Authorization, so they get the scheme that says so."""
    global token_url
    schemes = raw_schema["components"]["securitySchemes"]
    token_url = schemes["access_token"]["flows"]["password"]["tokenUrl"]
    schemes["access_token"] = {"type": "http", "scheme": "bearer"}


# Signing out ends the session of its token, so that operation has a session of its own.
@schemathesis.auth(cache_by_key=lambda case, context: case.path == "/api/logout")
class SignIn:
    def get(self, case, context):
        response = requests.post(
            os.environ["GATEWAY"] + token_url,
            data={"username": os.environ["GATEWAY_USER"], "password": os.environ["GATEWAY_PASSWORD"]},
            timeout=10,
        )
        response.raise_for_status()
        return response.json()["access_token"]

    def set(self, case, data, context):
        # Beside a generated key the request would be refused for having two credentials.
        headers = {name: value for name, value in (case.headers or {}).items() if name.lower() != "x-api-key"}
        case.headers = {**headers, "Authorization": f"Bearer {data}"}
