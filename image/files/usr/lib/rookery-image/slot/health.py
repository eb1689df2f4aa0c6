"""Whether the node of this machine serves, asked where its configuration says that it listens."""

import http.client
import ipaddress
import json
import os
import ssl
import stat
import urllib.parse
import urllib.request

CONFIGURATION = "/var/lib/rookery/config.json"
CONFIGURATION_BYTES = 1 << 20
DEFAULT_LISTEN = "http://127.0.0.1:8080"


def configured_listen() -> str:
    # The node's user may make files there: a link is not followed, and nothing is waited for.
    descriptor = os.open(CONFIGURATION, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
    with open(descriptor, "rb") as file:
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            raise ValueError(f"{CONFIGURATION} is no file")
        said = json.loads(file.read(CONFIGURATION_BYTES))
    return str(said.get("listen", DEFAULT_LISTEN)) if isinstance(said, dict) else DEFAULT_LISTEN


def readiness_url() -> str:
    """Where to ask; a ValueError where the node would not start either."""
    url = urllib.parse.urlsplit(configured_listen())
    address = ipaddress.ip_address("127.0.0.1" if url.hostname == "localhost" else url.hostname or "")
    if address.is_unspecified:
        # At all addresses.
        address = ipaddress.ip_address("127.0.0.1" if address.version == 4 else "::1")
    host = f"[{address}]" if address.version == 6 else str(address)
    return f"{url.scheme}://{host}{f':{url.port}' if url.port else ''}/readyz"


def is_healthy() -> bool:
    # At an address of this machine, where only its owner listens: no certificate is checked.
    context = ssl.create_default_context()
    context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
    try:
        with urllib.request.urlopen(readiness_url(), timeout=5, context=context) as answer:
            return answer.status == 200
    # Whatever is answered or configured, the judge goes on asking until its time is over.
    except (OSError, ValueError, RecursionError, http.client.HTTPException):
        return False
