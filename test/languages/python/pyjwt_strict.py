import os

import jwt

ISSUER = "https://api.example.com"
keys = jwt.PyJWKClient(os.environ["JWKS_URL"])


def verify(token):
    header = jwt.get_unverified_header(token)
    if header.get("typ") != "at+jwt" or "crit" in header:
        raise jwt.InvalidTokenError("not an access token")
    return jwt.decode(
        token,
        keys.get_signing_key_from_jwt(token).key,
        algorithms=["ES256", "RS256"],
        issuer=ISSUER,
        audience=ISSUER,
        options={"require": ["iss", "aud", "exp", "iat", "sub", "client_id", "jti"]},
    )
