from jose import jwt

from fetch_keys import fetch_keys


def verify(token):
    kid = jwt.get_unverified_header(token).get("kid")
    key = next(key for key in fetch_keys()["keys"] if key["kid"] == kid)
    return jwt.decode(token, key, audience="https://api.example.com")
