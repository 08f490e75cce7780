"""A `verify` with the fewest options for each library."""

import os

import jwt
from authlib.jose import JsonWebKey
from authlib.jose import jwt as authlib_jwt
from jose import jwt as jose_jwt

from fetch_keys import fetch_keys

ISSUER = "https://api.example.com"
keys = jwt.PyJWKClient(os.environ["JWKS_URL"])


def pyjwt(token):
    key = keys.get_signing_key_from_jwt(token).key
    return jwt.decode(token, key, algorithms=["ES256", "RS256"], audience=ISSUER)


def authlib(token):
    claims = authlib_jwt.decode(token, JsonWebKey.import_key_set(fetch_keys()))
    claims.validate()
    return claims


def python_jose(token):
    kid = jose_jwt.get_unverified_header(token).get("kid")
    key = next(key for key in fetch_keys()["keys"] if key["kid"] == kid)
    return jose_jwt.decode(token, key, audience=ISSUER)
