"""Verifies the tokens that it reads as lines of JSON, by a library and in a mode. Prints a verdict for each of them."""

import importlib
import json
import sys

library, mode = sys.argv[1:]
if mode == "strict":
    verify = importlib.import_module(f"{library}_strict").verify
else:
    verify = getattr(importlib.import_module("defaults"), library)

for line in sys.stdin:
    try:
        claims = verify(json.loads(line)["token"])
        verdict = {"accepted": True, "sub": claims["sub"], "scope": claims["scope"]}
    except Exception as error:
        verdict = {"accepted": False, "why": f"{type(error).__name__}: {error}"}
    print(json.dumps(verdict), flush=True)
