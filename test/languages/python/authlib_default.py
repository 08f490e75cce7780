from authlib.jose import JsonWebKey, jwt

from fetch_keys import fetch_keys


def verify(token):
    claims = jwt.decode(token, JsonWebKey.import_key_set(fetch_keys()))
    claims.validate()
    return claims
