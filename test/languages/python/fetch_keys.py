import functools
import json
import os
import time
import urllib.request


@functools.lru_cache(maxsize=1)
def fetch(period):
    with urllib.request.urlopen(os.environ["JWKS_URL"], timeout=5) as response:
        return json.load(response)


def fetch_keys():
    return fetch(time.monotonic() // 300)  # a period is 5 minutes
