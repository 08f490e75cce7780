from authlib.jose import JsonWebKey, JsonWebToken

from fetch_keys import fetch_keys

ISSUER = "https://api.example.com"
RULES = {name: {"essential": True} for name in ["exp", "iat", "sub", "client_id", "jti"]}
RULES |= {name: {"essential": True, "value": ISSUER} for name in ["iss", "aud"]}
jwt = JsonWebToken(["ES256", "RS256"])


def verify(token):
    claims = jwt.decode(token, JsonWebKey.import_key_set(fetch_keys()), claims_options=RULES)
    if claims.header.get("typ") != "at+jwt" or "crit" in claims.header:
        raise ValueError("not an access token")
    claims.validate()
    return claims
