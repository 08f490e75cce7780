"""Loads a program of this folder, and verifies the tokens that it reads as lines of JSON. Prints a verdict for each of them."""

import importlib
import json
import sys

program = importlib.import_module(sys.argv[1])

for line in sys.stdin:
    try:
        claims = program.verify(json.loads(line)["token"])
        verdict = {"accepted": True, "sub": claims["sub"], "scope": claims["scope"]}
    except Exception as error:
        verdict = {"accepted": False, "why": f"{type(error).__name__}: {error}"}
    print(json.dumps(verdict), flush=True)
