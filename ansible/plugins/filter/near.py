"""The filter `is_near`, which tells whether the image's firewall accepts SSH from an address."""

import ipaddress
import json

# As in the image's /etc/nftables.conf, and loopback, which it accepts too.
PRIVATE = [
    ipaddress.ip_network(network)
    for network in (
        "10.0.0.0/8",
        "100.64.0.0/10",
        "169.254.0.0/16",
        "172.16.0.0/12",
        "192.168.0.0/16",
        "127.0.0.0/8",
        "fc00::/7",
        "fe80::/10",
        "::1/128",
    )
]


def is_near(source, routes):
    """Returns whether an address is private, link-local, or in a network that the machine is attached to.

    `routes` are outputs of `ip -json route show table main` on the machine. An address in an unknown form counts as near."""
    try:
        address = ipaddress.ip_address(source.partition("%")[0])
    except ValueError:
        return True
    address = getattr(address, "ipv4_mapped", None) or address
    return any(address in network for network in PRIVATE + [network for output in routes for network in attached(output)])


def attached(output):
    """Returns the networks of the routes without a router. Routes that reject have a type, and a default route leads everywhere."""
    try:
        routes = json.loads(output or "[]")
    except ValueError:
        return []
    return [
        ipaddress.ip_network(route["dst"], strict=False)
        for route in routes
        if not {"gateway", "via", "nexthops"} & set(route) and route.get("type", "unicast") == "unicast" and route.get("dst", "default") != "default"
    ]


class FilterModule:
    def filters(self):
        return {"is_near": is_near}
