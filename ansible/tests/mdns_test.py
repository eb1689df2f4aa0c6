#!/usr/bin/python3
"""Tests the inventory plugin without a network: ansible/tests/mdns_test.py

It runs with Debian's Python, where Debian's Ansible is installed."""

import importlib.util
import ipaddress
import json
import pathlib
import sys
import tempfile
import unittest
from unittest import mock

from ansible.errors import AnsibleParserError
from ansible.inventory.data import InventoryData
from ansible.parsing.dataloader import DataLoader

# Without this, Python would write a cache directory beside the plugin.
sys.dont_write_bytecode = True
plugin = pathlib.Path(__file__).resolve().parents[1] / "plugins/inventory/mdns.py"
spec = importlib.util.spec_from_file_location("mdns", plugin)
mdns = importlib.util.module_from_spec(spec)
spec.loader.exec_module(mdns)

reserved_names = ["localhost", "LocalHost", "all", "ALL", "ungrouped", "rookery", "Rookery"]


def announced(name, instance="pi-1", address="192.168.1.11"):
    """Returns a line of avahi-browse: a node announces `name`. The instance is the announcement's and the host's name."""
    return '=;eth0;IPv4;%s;_rookery._tcp;local;%s.local;%s;443;"name=%s" "state=member"' % (instance, instance, address, name)


class Names(unittest.TestCase):
    def setUp(self):
        directory = tempfile.TemporaryDirectory()
        self.addCleanup(directory.cleanup)
        self.file = pathlib.Path(directory.name, "rookery.yml")
        self.seconds = 0  # the simulated clock

    def pass_time(self, seconds):
        self.seconds += seconds

    def hosts(self, seeds=None, remembered=None, lines=(), lines_later=None, interfaces=()):
        """Returns the addresses by host of an inventory with these seeds, this cache and these announcements: `lines` first, then `lines_later` if given.
        The control host has `interfaces`."""
        interfaces = [(name, ipaddress.ip_interface(address)) for name, address in interfaces]
        browsed = [lines, lines if lines_later is None else lines_later]
        self.file.write_text(json.dumps({"plugin": "rookery.cluster.mdns", "seeds": seeds or {}}))
        if remembered:
            pathlib.Path("%s.addresses.json" % self.file).write_text(json.dumps(remembered))
        inventory = InventoryData()
        module = mdns.InventoryModule()
        module.display = self.display = mock.Mock()
        options = {"seeds": seeds or {}, "cache_file": None}
        with mock.patch.object(
            module, "_browsed", lambda: [node for node in map(mdns.parse_line, browsed.pop(0) if len(browsed) > 1 else browsed[0]) if node]
        ), mock.patch.object(module, "_read_config_data"), mock.patch.object(mdns, "own_interfaces", lambda: interfaces), mock.patch.object(mdns.time, "sleep", self.pass_time), mock.patch.object(mdns.time, "monotonic", lambda: self.seconds), mock.patch.object(
            module, "get_option", options.get
        ):
            module.parse(inventory, DataLoader(), str(self.file))
        self.inventory = inventory
        return {name: host.vars["ansible_host"] for name, host in inventory.hosts.items()}

    def test_A_node_that_is_announced_is_a_host(self):
        self.assertEqual(self.hosts(lines=[announced("pi-1")]), {"pi-1": "192.168.1.11"})

    def test_A_node_heard_over_IPv6_first_gets_the_IPv4_address_announced_a_moment_later(self):
        first = announced("pi-1", address="fe80::1").replace("IPv4", "IPv6")
        self.assertEqual(self.hosts(lines=[first], lines_later=[first, announced("pi-1")]), {"pi-1": "192.168.1.11"})
        self.assertEqual(self.hosts(lines=[first]), {"pi-1": "fe80::1%eth0"})

    lan = ("eth0", "192.168.1.5/24")
    docker = ("docker0", "172.17.0.1/16")
    vpn = ("tailscale0", "100.64.0.9/32")

    def announcing(self, **addresses):
        """Returns the lines of nodes `pi_1=[...]` with these addresses."""
        return [announced(name.replace("_", "-"), name.replace("_", "-"), address) for name, all_of_it in addresses.items() for address in all_of_it]

    def test_A_node_with_Docker_or_a_VPN_gets_its_address_in_the_network_of_the_others(self):
        nodes = {"pi_1": ["172.17.0.1", "100.64.0.3", "192.168.1.11"], "pi_2": ["192.168.1.12"], "pi_3": ["192.168.1.13", "100.64.0.4"]}
        expected = {"pi-1": "192.168.1.11", "pi-2": "192.168.1.12", "pi-3": "192.168.1.13"}
        # Without `ip`, on a control host with the same bridge, and on one of the nodes.
        for interfaces in ([], [self.lan], [self.lan, self.docker, self.vpn], [("eth0", "192.168.1.11/24"), self.docker, ("tailscale0", "100.64.0.3/32")]):
            with self.subTest(interfaces):
                self.assertEqual(self.hosts(lines=self.announcing(**nodes), interfaces=interfaces), expected)
        self.assertEqual(self.inventory.hosts["pi-1"].vars["rookery_addresses"][0], "192.168.1.11")
        self.assertEqual(set(self.inventory.hosts["pi-1"].vars["rookery_addresses"]), set(nodes["pi_1"]))

    def test_A_bridge_of_the_control_host_in_the_network_of_the_nodes_is_not_taken_for_a_virtual_one(self):
        # OpenWrt and libvirt call the bridge of the home network br-lan; the VPN reaches one node only.
        nodes = {"pi_1": ["10.8.0.2", "192.168.1.11"], "pi_2": ["192.168.1.12"]}
        interfaces = [("br-lan", "192.168.1.5/24"), ("eth1", "10.8.0.1/24")]
        self.assertEqual(self.hosts(lines=self.announcing(**nodes), interfaces=interfaces), {"pi-1": "192.168.1.11", "pi-2": "192.168.1.12"})

    def test_A_bridge_that_all_nodes_have_is_not_taken_for_their_network(self):
        nodes = {"pi_%d" % number: ["10.0.3.1", "192.168.1.1%d" % number] for number in (1, 2, 3)}
        self.assertEqual(self.hosts(lines=self.announcing(**nodes)), {"pi-%d" % number: "192.168.1.1%d" % number for number in (1, 2, 3)})

    def test_The_only_node_gets_its_address_in_a_network_of_the_control_host(self):
        lines = self.announcing(pi_1=["10.8.0.2", "172.17.0.1", "192.168.1.11"])
        self.assertEqual(self.hosts(lines=lines, interfaces=[self.lan, self.docker]), {"pi-1": "192.168.1.11"})

    def test_A_node_that_has_only_an_address_of_a_VPN_is_reached_by_it(self):
        self.assertEqual(self.hosts(lines=self.announcing(pi_1=["100.64.0.3"]), interfaces=[self.lan, self.vpn]), {"pi-1": "100.64.0.3"})

    def test_Addresses_are_ordered_as_numbers(self):
        self.assertEqual(self.hosts(lines=self.announcing(pi_1=["192.168.1.100", "192.168.1.20"])), {"pi-1": "192.168.1.20"})

    def test_A_seed_at_any_announced_address_is_the_announced_node(self):
        lines = self.announcing(pi_1=["172.17.0.1", "192.168.1.11"])
        self.assertEqual(self.hosts(seeds={"old": "172.17.0.1"}, lines=lines, interfaces=[self.lan]), {"pi-1": "192.168.1.11"})

    def test_A_node_whose_name_Ansible_reserves_is_left_out_with_a_warning(self):
        for name in reserved_names:
            with self.subTest(name):
                lines = [announced(name), announced(name, instance=name), announced("pi-2", address="192.168.1.12")]
                self.assertEqual(self.hosts(lines=lines), {"pi-2": "192.168.1.12"})
                self.assertIn("has the name '%s'" % name, self.display.warning.call_args[0][0])

    def test_A_node_whose_host_name_Ansible_reserves_is_left_out(self):
        line = '=;eth0;IPv4;x;_rookery._tcp;local;localhost.local;192.168.1.11;443;"state=member"'
        self.assertEqual(self.hosts(lines=[line, announced("pi-2", address="192.168.1.12")]), {"pi-2": "192.168.1.12"})

    def test_A_seed_whose_name_Ansible_reserves_is_refused(self):
        for name in reserved_names:
            with self.subTest(name), self.assertRaisesRegex(AnsibleParserError, "reserved by Ansible"):
                self.hosts(seeds={name: "192.168.1.11"})

    def test_A_cached_node_whose_name_Ansible_reserves_is_left_out(self):
        for name in reserved_names:
            with self.subTest(name):
                remembered = {name: {"address": "192.168.1.11"}, "pi-2": {"address": "192.168.1.12"}}
                self.assertEqual(self.hosts(remembered=remembered), {"pi-2": "192.168.1.12"})


if __name__ == "__main__":
    unittest.main()
