from jose import jwt

from fetch_keys import fetch_keys

ISSUER = "https://api.example.com"
REQUIRED = ["iss", "aud", "exp", "iat", "sub", "jti"]


def verify(token):
    header = jwt.get_unverified_header(token)
    if header.get("typ") != "at+jwt" or "crit" in header:
        raise jwt.JWTError("not an access token")
    key = next((key for key in fetch_keys()["keys"] if key["kid"] == header.get("kid")), None)
    if key is None or key["alg"] not in ["ES256", "RS256"]:
        raise jwt.JWTError("unknown key")
    options = {f"require_{name}": True for name in REQUIRED}
    claims = jwt.decode(token, key, algorithms=[key["alg"]], issuer=ISSUER, audience=ISSUER, options=options)
    if "client_id" not in claims:
        raise jwt.JWTError("client_id is missing")
    return claims
