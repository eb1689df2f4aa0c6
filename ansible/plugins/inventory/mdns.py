"""Finds the Rookery nodes in the local network."""

import ipaddress
import json
import os
import re
import subprocess
import time

from ansible.errors import AnsibleParserError
from ansible.plugins.inventory import BaseInventoryPlugin

DOCUMENTATION = """
name: mdns
short_description: Finds the Rookery nodes in the local network by multicast DNS
description:
  - Runs C(avahi-browse) on the control host. Each node that announces C(_rookery._tcp) becomes a host of the group C(rookery), with its IP address, because
    many control hosts cannot resolve names under C(.local).
  - A node may announce several addresses, such as those of Docker or of a VPN. The one in the network of the most other nodes is used, then one in a network of the
    control host; addresses that several nodes announce, and those of the control host's own interfaces, only if there is no other.
  - Found addresses are cached. A node that does not announce itself now, because it is off or multicast is blocked, gets its cached address. Seeds are used
    for nodes that are neither announced nor cached. To forget a host, delete its line in the cache file.
  - "Host variables, as far as they are known: C(rookery_id), C(rookery_role), C(rookery_version), C(rookery_cluster) (the cluster's id),
    C(rookery_state) (C(unclaimed) or C(member)), C(rookery_addresses) (all announced addresses, the best first), and C(rookery_source) (C(mdns), C(cache) or
    C(seed))."
  - Any machine in the local network can announce anything. The plugin checks only the form of announced values; SSH authenticates a machine by its host key.
options:
  plugin:
    description: The name of this plugin.
    required: true
    choices: [rookery.cluster.mdns]
  seeds:
    description: Addresses of machines that do not announce themselves, by name.
    type: dict
    default: {}
  cache_file:
    description: The file that caches addresses. By default C(FILE.addresses.json) beside the inventory file C(FILE).
    type: path
"""

EXAMPLES = """
# rookery.yml
plugin: rookery.cluster.mdns
seeds:
  pi-1: 192.168.1.11
"""

SERVICE = "_rookery._tcp"
BROWSE_SECONDS = 20
# How long to wait for conflicting announcements to settle: a card that replaces another is announced over IPv6 a second or two before IPv4, where the old
# announcement still stands.
SETTLING_SECONDS = 6
# How long to wait for an IPv4 address of a node that has only a link-local IPv6 address.
BETTER_ADDRESS_SECONDS = 3
GROUP = "rookery"
# Interfaces of containers, virtual machines and VPNs, and the addresses that providers and VPNs give out (RFC 6598).
VIRTUAL_INTERFACES = ("docker", "br-", "veth", "virbr", "vmnet", "cni", "flannel", "tun", "tap", "wg", "tailscale", "zt")
CARRIER_NETWORK = ipaddress.ip_network("100.64.0.0/10")

# Any machine may announce anything, and Ansible expands templates in variables, so only values of these forms are taken.
NAME = re.compile(r"[A-Za-z0-9]([A-Za-z0-9-]{0,61}[A-Za-z0-9])?\Z")
# Names that Ansible uses for the control host or for groups: a host of that name would get the tasks of others.
RESERVED = {"localhost", "all", "ungrouped", GROUP}
FORMS = {
    "id": re.compile(r"[A-Za-z0-9_-]{22}\Z"),
    "cluster": re.compile(r"[A-Za-z0-9_-]{22}\Z"),
    "role": re.compile(r"[a-z]{1,16}\Z"),
    "version": re.compile(r"[0-9A-Za-z.+~-]{1,40}\Z"),
    "state": re.compile(r"(unclaimed|member)\Z"),
}
TXT_NAMES = {"node": "id", "cluster": "cluster", "role": "role", "version": "version", "state": "state"}


def is_name(text):
    """Returns whether a host may have this name."""
    return bool(NAME.match(text)) and text.lower() not in RESERVED


def unescape(text):
    """Decodes the escapes of avahi-browse --parsable: \\DDD (decimal), or a backslash before the character."""
    return re.sub(r"\\(\d{3}|.)", lambda m: chr(int(m.group(1))) if len(m.group(1)) == 3 else m.group(1), text)


def usable_address(text, interface=None):
    """Returns the address in the form that SSH takes, or None if it is not usable. A link-local IPv6 address needs its interface."""
    try:
        address = ipaddress.ip_address(text.split("%")[0])
    except ValueError:
        return None
    if address.is_unspecified or address.is_multicast or address.is_loopback:
        return None
    if address.version == 6 and address.is_link_local and "%" not in text:
        return "%s%%%s" % (text, interface) if interface else None
    return text


def parsed(address):
    """Returns the IP address without its interface."""
    return ipaddress.ip_address(address.split("%")[0])


def rank(address):
    """Returns the sort key of addresses about which nothing else is known: IPv4 first, then IPv6, link-local addresses last."""
    ip = parsed(address)
    return (ip.is_link_local, ip.version, int(ip), address)


def own_interfaces():
    """Returns the interfaces of the control host, as pairs of name and address with network. Without the command ip, as on macOS, returns none."""
    try:
        result = subprocess.run(["ip", "-json", "address", "show", "up"], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, timeout=BROWSE_SECONDS, check=True)
        return [
            (link["ifname"], ipaddress.ip_interface("%s/%d" % (address["local"], address["prefixlen"])))
            for link in json.loads(result.stdout)
            for address in link.get("addr_info", [])
            if "local" in address
        ]
    except (OSError, subprocess.SubprocessError, ValueError, KeyError, TypeError):
        return []


class Networks:
    """Orders the addresses of nodes, by those of all nodes and of the control host."""

    def __init__(self, nodes, interfaces):
        self.nodes, self.own = nodes, {interface.ip for _name, interface in interfaces}
        self.attached = [(name, interface.network) for name, interface in interfaces if interface.network.prefixlen < interface.network.max_prefixlen]

    def network_of(self, address):
        """Returns the network of an address: one of the control host's, or else the usual size of a home network."""
        ip = parsed(address)
        attached = [network for _name, network in self.attached if ip in network]
        return max(attached, key=lambda network: network.prefixlen) if attached else ipaddress.ip_network("%s/%d" % (ip, 24 if ip.version == 4 else 64), strict=False)

    def order(self, name):
        """Returns the addresses of a node, the best first."""
        addresses = self.nodes[name]
        # All addresses of a node on the control host are the control host's own. If another node announces one of them, it is that of a bridge which both machines have,
        # such as Docker's.
        is_own = all(parsed(address) in self.own for address in addresses)
        return sorted(addresses, key=lambda address: self.key(name, address, is_own))

    def key(self, name, address, is_own):
        ip, network = parsed(address), self.network_of(address)
        others = [addresses for other, addresses in self.nodes.items() if other != name]
        is_shared = any(ip in map(parsed, addresses) for addresses in others)
        neighbours = sum(any(parsed(one) in network and not parsed(one).is_link_local for one in addresses) for addresses in others)
        interfaces = [interface for interface, attached in self.attached if ip in attached]
        is_virtual = ip in CARRIER_NETWORK or any(interface.startswith(VIRTUAL_INTERFACES) for interface in interfaces)
        return (ip.is_link_local, is_shared or (ip in self.own and not is_own), -neighbours, is_virtual, not interfaces, ip.version, int(ip), address)


def parse_line(line):
    """Returns the node of a line of avahi-browse as {name, address, ...}, or None if the line resolves no node or has an unexpected form."""
    fields = line.split(";", 9)
    if len(fields) < 10 or fields[0] != "=" or fields[4] != SERVICE:
        return None
    address = usable_address(fields[7], fields[1])
    txt = {}
    for entry in re.findall(r'"((?:[^"\\]|\\.)*)"', fields[9]):
        key, _equals, value = unescape(entry).partition("=")
        txt.setdefault(key, value)
    name = txt.get("name") or unescape(fields[6]).split(".")[0]
    if address is None or not NAME.match(name):
        return None
    node = {"name": name, "address": address}
    for key, variable in TXT_NAMES.items():
        if key in txt and FORMS[variable].match(txt[key]):
            node[variable] = txt[key]
    return node


def merge(announcements, interfaces=()):
    """Returns the nodes by name, each with its best address, and all of them as `addresses`. Raises TwoOfOneName if two nodes have the same name."""
    nodes, addresses = {}, {}
    for node in sorted(announcements, key=lambda announcement: rank(announcement["address"])):
        other = nodes.setdefault(node["name"], node)
        if other.get("id") != node.get("id"):
            raise TwoOfOneName(
                "Two nodes are called %s, at %s and %s. Give one of them another name (Rookery image: hostname in rookery.toml, before its first start; Debian: "
                "hostnamectl set-hostname NAME). If one was switched off just now, wait two minutes, while its announcement may still be cached."
                % (node["name"], other["address"], node["address"])
            )
        known = addresses.setdefault(node["name"], [])
        if node["address"] not in known:
            known.append(node["address"])
    networks = Networks(addresses, interfaces)
    ordered = {name: networks.order(name) for name in nodes}
    return {name: dict(node, address=ordered[name][0], addresses=ordered[name]) for name, node in nodes.items()}


class TwoOfOneName(AnsibleParserError):
    """Two nodes of the same name, or one that replaced another a moment ago and is not yet announced over both IPv4 and IPv6."""


class InventoryModule(BaseInventoryPlugin):
    NAME = "rookery.cluster.mdns"

    def verify_file(self, path):
        return super().verify_file(path) and path.endswith(("rookery.yml", "rookery.yaml"))

    def parse(self, inventory, loader, path, cache=True):
        super().parse(inventory, loader, path, cache)
        self._read_config_data(path)
        cache_file = self.get_option("cache_file") or "%s.addresses.json" % path
        seeds = self._seeds(path)
        remembered = self._remembered(cache_file)
        announced = self._announced()

        hosts = {name: {"name": name, "address": address, "source": "seed"} for name, address in seeds.items()}
        hosts.update({name: dict(node, source="cache") for name, node in remembered.items()})
        # A cached node that was renamed, or a seed that announces itself under another name, must not appear twice.
        ids = {node["id"] for node in announced.values() if "id" in node}
        addresses = {address for node in announced.values() for address in node["addresses"]}
        hosts = {name: node for name, node in hosts.items() if node.get("id") not in ids and node["address"] not in addresses}
        hosts.update({name: dict(node, source="mdns") for name, node in announced.items()})
        if not hosts:
            raise AnsibleParserError(
                "No node of Rookery announces itself, none is remembered in %s, and %s names no seeds. Are the nodes switched on and in "
                "this network? Guest networks and 'AP isolation' separate machines. Otherwise name the nodes: `seeds: {pi-1: 192.168.1.11}`."
                % (cache_file, path)
            )
        for node in hosts.values():
            if node["source"] == "cache":
                self.display.warning(
                    "%s does not announce itself, so its last address %s is used. To forget it, delete its line in %s." % (node["name"], node["address"], cache_file)
                )
        self._remember(cache_file, hosts)
        self._fill(hosts)

    def _seeds(self, path):
        """Returns the addresses of the seeds by name."""
        seeds = self.get_option("seeds")
        for name, address in seeds.items():
            if not is_name(str(name)):
                raise AnsibleParserError(
                    "%s: the seed '%s' must be a host name of letters, digits and hyphens, and no name reserved by Ansible (%s)."
                    % (path, name, ", ".join(sorted(RESERVED)))
                )
            if usable_address(str(address)) is None:
                raise AnsibleParserError("%s: the seed %s is at '%s', which is not an IP address. Host names are not accepted." % (path, name, address))
        return {str(name): str(address) for name, address in seeds.items()}

    def _announced(self):
        """Returns the announced nodes by name, once conflicting announcements have settled. Raises TwoOfOneName if they do not settle in time."""
        started_at, interfaces = time.monotonic(), own_interfaces()
        while (seconds := time.monotonic() - started_at) < SETTLING_SECONDS:
            try:
                nodes = merge(self._named(), interfaces)
                # "%": link-local. A node whose address changed is heard over IPv6 a moment before IPv4.
                if seconds >= BETTER_ADDRESS_SECONDS or not any("%" in node["address"] for node in nodes.values()):
                    return nodes
            except TwoOfOneName:
                pass
            time.sleep(1)
        return merge(self._named(), interfaces)

    def _named(self):
        """Returns the announced nodes whose names a host may have; warns about the others."""
        nodes = self._browsed()
        for name, address in sorted({(node["name"], node["address"]) for node in nodes if not is_name(node["name"])}):
            self.display.warning("The node at %s has the name '%s', which is reserved by Ansible, and is left out. Give it another name." % (address, name))
        return [node for node in nodes if is_name(node["name"])]

    def _browsed(self):
        """Returns the announced nodes, each once per address. Without avahi-browse, or if it fails, warns and returns none."""
        command = ["avahi-browse", "--terminate", "--resolve", "--parsable", SERVICE]
        try:
            result = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=BROWSE_SECONDS, check=False)
        except FileNotFoundError:
            self.display.warning("avahi-browse is not installed (Debian: avahi-utils), so the cached addresses and the seeds are used.")
            return []
        except subprocess.TimeoutExpired as timeout:
            result = subprocess.CompletedProcess(command, 0, timeout.stdout or b"", b"")
        if result.returncode != 0:
            self.display.warning("avahi-browse failed: %s The cached addresses and the seeds are used." % result.stderr.decode(errors="replace").strip())
        lines = result.stdout.decode(errors="replace").splitlines()
        return [node for node in map(parse_line, lines) if node]

    def _remembered(self, cache_file):
        """Returns the cached nodes by name."""
        try:
            with open(cache_file, encoding="utf-8") as file:
                cached = json.load(file)
            nodes = {}
            for name, node in cached.items():
                if is_name(name) and usable_address(node["address"]):
                    known = {key: value for key, value in node.items() if key in FORMS and FORMS[key].match(value)}
                    nodes[name] = dict(known, name=name, address=node["address"])
            return nodes
        except FileNotFoundError:
            return {}
        except (OSError, ValueError, TypeError, KeyError, AttributeError) as error:
            raise AnsibleParserError("%s cannot be read (%s). Delete it: it contains only cached addresses." % (cache_file, error)) from error

    def _remember(self, cache_file, hosts):
        """Writes the addresses of all hosts but seeds to the cache, if they have changed."""
        entries = {
            name: {key: node[key] for key in ("address", *FORMS) if key in node}
            for name, node in sorted(hosts.items())
            if node["source"] != "seed"
        }
        # One line per node, so that a user can delete one.
        text = "{\n%s\n}\n" % ",\n".join("  %s: %s" % (json.dumps(name), json.dumps(node)) for name, node in entries.items())
        try:
            with open(cache_file, encoding="utf-8") as file:
                if file.read() == text:
                    return
        except OSError:
            pass
        try:
            with open(cache_file + ".new", "w", encoding="utf-8") as file:
                file.write(text)
            os.replace(cache_file + ".new", cache_file)
        except OSError as error:
            self.display.warning("The addresses could not be cached: %s" % error)

    def _fill(self, hosts):
        """Adds the hosts and their variables to the inventory."""
        self.inventory.add_group(GROUP)
        for name, node in sorted(hosts.items()):
            self.inventory.add_host(name, group=GROUP)
            self.inventory.set_variable(name, "ansible_host", node["address"])
            for key in ("source", "addresses", *FORMS):
                if key in node:
                    self.inventory.set_variable(name, "rookery_%s" % key, node[key])
