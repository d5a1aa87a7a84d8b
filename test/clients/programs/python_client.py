"""Drives the client that openapi-python-client generates: signs in, mints keys, pages, refreshes and signs out."""

import sys

from client import AuthenticatedClient, Client
from client.api.api_keys import api_keys_create, api_keys_delete, api_keys_list, api_keys_read
from client.api.authentication import authentication_login, authentication_logout, authentication_refresh
from client.models import (
    ApiKeyInDbCursorPage,
    ApiKeyRead,
    ApiKeyReadCreate,
    ApiKeyWriteCreate,
    BodyAuthenticationLogin,
    LoginResponse,
    OAuthError,
)

base_url, username, password = sys.argv[1:]
anonymous = Client(base_url=base_url)


def log_in(word):
    return authentication_login.sync(client=anonymous, body=BodyAuthenticationLogin(username=username, password=word))


refused = log_in("wrong")
assert isinstance(refused, OAuthError) and refused.code == "invalid_credentials", refused
signed_in = log_in(password)
assert isinstance(signed_in, LoginResponse), signed_in
client = AuthenticatedClient(base_url=base_url, token=signed_in.access_token)

minted = []
for number in range(7):
    body = ApiKeyWriteCreate(label=f"python {number}", scopes=["store:read"])
    key = api_keys_create.sync(client=client, body=body)
    assert isinstance(key, ApiKeyReadCreate) and key.key.startswith("pst_"), key
    minted.append(key.id)

paged, cursor, pages = [], None, 0
while True:
    query = {"size": 3, "label_contains": "python", **({"cursor": cursor} if cursor else {})}
    page = api_keys_list.sync(client=client, **query)
    assert isinstance(page, ApiKeyInDbCursorPage) and page.total == 7, page
    pages += 1
    paged += [key.id for key in page.items]
    cursor = page.next_page
    if cursor is None:
        break
assert (pages, sorted(paged)) == (3, sorted(minted)), (pages, paged, minted)

key = api_keys_read.sync(minted[0], client=client)
assert isinstance(key, ApiKeyRead) and key.label == "python 0", key
assert api_keys_delete.sync_detailed(minted[0], client=client).status_code == 204
assert api_keys_read.sync_detailed(minted[0], client=client).status_code == 404

refreshed = authentication_refresh.sync(client=anonymous)
assert isinstance(refreshed, LoginResponse), refreshed
assert authentication_logout.sync_detailed(client=client).status_code == 200
assert api_keys_list.sync_detailed(client=client).status_code == 401
print("done")
