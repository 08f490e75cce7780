import os

import jwt

keys = jwt.PyJWKClient(os.environ["JWKS_URL"])


def verify(token):
    key = keys.get_signing_key_from_jwt(token).key
    return jwt.decode(token, key, algorithms=["ES256", "RS256"], audience="https://api.example.com")
