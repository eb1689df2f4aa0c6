"""Checks whether this machine's node serves, at the address in its configuration."""

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
    """The URL that the node's configuration sets as `listen`, or the node's default."""
    # The node's user can create files there, so links are not followed and a pipe does not block.
    descriptor = os.open(CONFIGURATION, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
    with open(descriptor, "rb") as file:
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            raise ValueError(f"{CONFIGURATION} is not a regular file")
        configuration = json.loads(file.read(CONFIGURATION_BYTES))
    return str(configuration.get("listen", DEFAULT_LISTEN)) if isinstance(configuration, dict) else DEFAULT_LISTEN


def readiness_urls() -> list[str]:
    """The URLs of the readiness check: the node serves if one of them says so. Raises ValueError for an address with
    which the node would not start."""
    url = urllib.parse.urlsplit(configured_listen())
    address = ipaddress.ip_address("127.0.0.1" if url.hostname == "localhost" else url.hostname or "")
    hosts = [f"[{address}]" if address.version == 6 else str(address)]
    if address.is_unspecified:
        # The node listens at all addresses; loopback is one of them. On :: it answers over IPv4, too, which comes
        # first, because a machine whose IPv6 is switched off has no ::1.
        hosts = ["127.0.0.1"] if address.version == 4 else ["127.0.0.1", "[::1]"]
    return [f"{url.scheme}://{host}{f':{url.port}' if url.port else ''}/readyz" for host in hosts]


def is_healthy() -> bool:
    try:
        return any(is_ready(url) for url in readiness_urls())
    # An unreadable or invalid configuration counts as unhealthy; `judge` tries again until its time ends.
    except (OSError, ValueError, RecursionError):
        return False


def is_ready(url: str) -> bool:
    # The connection stays on this machine, so the certificate is not verified.
    context = ssl.create_default_context()
    context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
    try:
        with urllib.request.urlopen(url, timeout=5, context=context) as response:
            return response.status == 200
    except (OSError, ValueError, http.client.HTTPException):
        return False
