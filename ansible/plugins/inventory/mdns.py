"""Finds the nodes of Rookery in the local network."""

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
short_description: Nodes of Rookery in the local network, by multicast DNS
description:
  - Asks C(avahi-browse) on the control host who announces C(_rookery._tcp), and makes each a host of the group C(rookery), under
    its name and with an address, never with a name under C(.local), which needs a resolver that many machines lack.
  - What was found is remembered. A node that does not announce itself now, because it is off or because multicast does not pass,
    is a host at its last address; after that come the seeds. A host that is remembered wrongly is forgotten by deleting its line.
  - "Host variables, as far as they are known: C(rookery_id), C(rookery_role), C(rookery_version), C(rookery_cluster) (its id),
    C(rookery_state) (C(unclaimed) or C(member)), and C(rookery_source) (C(mdns), C(cache) or C(seed))."
  - Whoever is in the local network can announce himself. What he says is checked for its form only; it is SSH that knows a machine
    by its host key.
options:
  plugin:
    description: The name of this plugin.
    required: true
    choices: [rookery.cluster.mdns]
  seeds:
    description: Machines to take in although they do not announce themselves, as C(NAME) and C(ADDRESS).
    type: dict
    default: {}
  cache_file:
    description: Where addresses are remembered; C(FILE.addresses.json) beside the inventory file unless said.
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
# A new card in the place of another is announced over IPv6 a second or two before it is over IPv4, where the old one still stands.
SETTLING_SECONDS = 6
# Nobody waits longer where there is IPv6 alone.
BETTER_ADDRESS_SECONDS = 3
GROUP = "rookery"

# Anybody may announce anything, and Ansible expands templates in variables: only harmless text gets through.
NAME = re.compile(r"[A-Za-z0-9]([A-Za-z0-9-]{0,61}[A-Za-z0-9])?\Z")
# What Ansible takes for the control host, or for a group: who is called so would have others' tasks.
TAKEN = {"localhost", "all", "ungrouped", GROUP}
FORMS = {
    "id": re.compile(r"[A-Za-z0-9_-]{22}\Z"),
    "cluster": re.compile(r"[A-Za-z0-9_-]{22}\Z"),
    "role": re.compile(r"[a-z]{1,16}\Z"),
    "version": re.compile(r"[0-9A-Za-z.+~-]{1,40}\Z"),
    "state": re.compile(r"(unclaimed|member)\Z"),
}
TXT_NAMES = {"node": "id", "cluster": "cluster", "role": "role", "version": "version", "state": "state"}


def is_name(text):
    """Whether a machine may be called so."""
    return bool(NAME.match(text)) and text.lower() not in TAKEN


def unescape(text):
    """What avahi-browse --parsable wrote as \\DDD, or with a backslash before it."""
    return re.sub(r"\\(\d{3}|.)", lambda m: chr(int(m.group(1))) if len(m.group(1)) == 3 else m.group(1), text)


def usable_address(text, interface=None):
    """The address as SSH takes it, or None. One of IPv6's link-local ones means something only with its interface."""
    try:
        address = ipaddress.ip_address(text.split("%")[0])
    except ValueError:
        return None
    if address.is_unspecified or address.is_multicast or address.is_loopback:
        return None
    if address.version == 6 and address.is_link_local and "%" not in text:
        return "%s%%%s" % (text, interface) if interface else None
    return text


def rank(address):
    """Which of a node's addresses is taken: IPv4, then IPv6, and link-local ones last."""
    parsed = ipaddress.ip_address(address.split("%")[0])
    return (parsed.is_link_local, parsed.version, address)


def parse_line(line):
    """One node as {name, address, ...}, or None when the line resolves none, or not in a form that can be trusted."""
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


def merge(found):
    """Nodes by name, each with its best address. Two nodes of one name cannot be told apart: that is an error."""
    nodes = {}
    for node in sorted(found, key=lambda one: rank(one["address"])):
        other = nodes.setdefault(node["name"], node)
        if other.get("id") != node.get("id"):
            raise TwoOfOneName(
                "Two nodes are called %s, at %s and %s: give one of them another name (our image: hostname in rookery.toml, before its first start; Debian: hostnamectl set-hostname NAME). If one was "
                "switched off just now, wait two minutes: so long it may still be announced." % (node["name"], other["address"], node["address"])
            )
    return nodes


class TwoOfOneName(AnsibleParserError):
    """Two nodes of one name, or one that took another's place a moment ago and has not said so over each protocol yet."""


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
        # A node that has another name now is not there twice, nor is a seed that announces itself under its own name.
        ids = {node["id"] for node in announced.values() if "id" in node}
        addresses = {node["address"] for node in announced.values()}
        hosts = {name: node for name, node in hosts.items() if node.get("id") not in ids and node["address"] not in addresses}
        hosts.update({name: dict(node, source="mdns") for name, node in announced.items()})
        if not hosts:
            raise AnsibleParserError(
                "No node of Rookery announces itself, none is remembered in %s, and %s names no seeds. Are the nodes switched on and in "
                "this network? A guest network and 'AP isolation' keep machines apart. Otherwise name them: `seeds: {pi-1: 192.168.1.11}`."
                % (cache_file, path)
            )
        for node in hosts.values():
            if node["source"] == "cache":
                self.display.warning(
                    "%s does not announce itself: its last address, %s, is taken. Delete it from %s to forget it." % (node["name"], node["address"], cache_file)
                )
        self._remember(cache_file, hosts)
        self._fill(hosts)

    def _seeds(self, path):
        seeds = self.get_option("seeds")
        for name, address in seeds.items():
            if not is_name(str(name)):
                raise AnsibleParserError(
                    "%s: the seed '%s' is no host name of letters, digits and hyphens, or one that means something else to Ansible (%s)."
                    % (path, name, ", ".join(sorted(TAKEN)))
                )
            if usable_address(str(address)) is None:
                raise AnsibleParserError("%s: the seed %s is at '%s', which is no IP address. Names, above all under .local, are not taken." % (path, name, address))
        return {str(name): str(address) for name, address in seeds.items()}

    def _announced(self):
        begun = time.monotonic()
        while (seconds := time.monotonic() - begun) < SETTLING_SECONDS:
            try:
                nodes = merge(self._named())
                # With an interface in it: who has another address now is heard over IPv6 before, for a moment.
                if seconds >= BETTER_ADDRESS_SECONDS or not any("%" in node["address"] for node in nodes.values()):
                    return nodes
            except TwoOfOneName:
                pass
            time.sleep(1)
        return merge(self._named())

    def _named(self):
        nodes = self._browsed()
        for name, address in sorted({(node["name"], node["address"]) for node in nodes if not is_name(node["name"])}):
            self.display.warning("The node at %s is called '%s', which means something else to Ansible, and is left out: give it another name." % (address, name))
        return [node for node in nodes if is_name(node["name"])]

    def _browsed(self):
        command = ["avahi-browse", "--terminate", "--resolve", "--parsable", SERVICE]
        try:
            done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=BROWSE_SECONDS, check=False)
        except FileNotFoundError:
            self.display.warning("avahi-browse is not installed (Debian: avahi-utils): the last addresses and the seeds are taken.")
            return []
        except subprocess.TimeoutExpired as late:
            done = subprocess.CompletedProcess(command, 0, late.stdout or b"", b"")
        if done.returncode != 0:
            self.display.warning("avahi-browse failed: %s The last addresses and the seeds are taken." % done.stderr.decode(errors="replace").strip())
        lines = done.stdout.decode(errors="replace").splitlines()
        return [node for node in map(parse_line, lines) if node]

    def _remembered(self, cache_file):
        try:
            with open(cache_file, encoding="utf-8") as file:
                kept = json.load(file)
            nodes = {}
            for name, node in kept.items():
                if is_name(name) and usable_address(node["address"]):
                    known = {key: value for key, value in node.items() if key in FORMS and FORMS[key].match(value)}
                    nodes[name] = dict(known, name=name, address=node["address"])
            return nodes
        except FileNotFoundError:
            return {}
        except (OSError, ValueError, TypeError, KeyError, AttributeError) as wrong:
            raise AnsibleParserError("%s cannot be read (%s). Delete it: it only remembers addresses." % (cache_file, wrong)) from wrong

    def _remember(self, cache_file, hosts):
        kept = {
            name: {key: node[key] for key in ("address", *FORMS) if key in node}
            for name, node in sorted(hosts.items())
            if node["source"] != "seed"
        }
        # One line for each node, so that a person can delete one.
        text = "{\n%s\n}\n" % ",\n".join("  %s: %s" % (json.dumps(name), json.dumps(node)) for name, node in kept.items())
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
        except OSError as wrong:
            self.display.warning("The addresses could not be remembered: %s" % wrong)

    def _fill(self, hosts):
        self.inventory.add_group(GROUP)
        for name, node in sorted(hosts.items()):
            self.inventory.add_host(name, group=GROUP)
            self.inventory.set_variable(name, "ansible_host", node["address"])
            for key in ("source", *FORMS):
                if key in node:
                    self.inventory.set_variable(name, "rookery_%s" % key, node[key])
