#!/usr/bin/env bats
# Tests whom the image's firewall lets in, with two network namespaces: `rkfw-near` runs the firewall, `rkfw-far` calls.

files=$BATS_TEST_DIRNAME/../files

setup() {
  ((EUID == 0)) && command -v nft ip >/dev/null || skip "needs root, nft and ip"
  ip netns add rkfw-near && ip netns add rkfw-far
  ip link add rkfw0 netns rkfw-near type veth peer name rkfw1 netns rkfw-far
  for host in near:rkfw0:1 far:rkfw1:2; do
    IFS=: read -r name link number <<<"$host"
    ip -n "rkfw-$name" link set lo up
    ip -n "rkfw-$name" link set "$link" up
    for address in 192.168.50.$number/24 203.0.113.$number/24 2001:db8:1::$number/64 fd00:50::$number/64; do
      ip -n "rkfw-$name" address add "$address" dev "$link" nodad
    done
  done
  # Addresses of the caller in networks that the machine is not attached to.
  ip -n rkfw-far address add 198.51.100.9/32 dev rkfw1
  ip -n rkfw-far address add 2001:db8:9::9/128 dev rkfw1 nodad
  ip -n rkfw-near route add 198.51.100.9/32 via 192.168.50.2
  ip -n rkfw-near route add 2001:db8:9::9/128 via fd00:50::2
  sed "s:/etc/nftables.d/:$BATS_TEST_TMPDIR/:" "$files/etc/nftables.conf" >"$BATS_TEST_TMPDIR/conf"
  start_firewall
  ip netns exec rkfw-near python3 -c 'import socket
with socket.create_server(("::", 443), family=socket.AF_INET6, dualstack_ipv6=True) as server:
    while True: server.accept()[0].close()' 3>&- &
  server=$!
  for _ in $(seq 50); do calls 192.168.50.2 192.168.50.1 && break || sleep 0.1; done
}

teardown() {
  [ -z "$server" ] || kill "$server" || :
  ip netns delete rkfw-near || :
  ip netns delete rkfw-far || :
}

start_firewall() {
  ip netns exec rkfw-near nft -f "$BATS_TEST_TMPDIR/conf"
  ip netns exec rkfw-near "$files/usr/lib/rookery-image/near"
}

calls() { # FROM TO: whether a connection to port 443 is accepted
  ip netns exec rkfw-far python3 -c 'import socket, sys; socket.create_connection((sys.argv[2], 443), 1, (sys.argv[1], 0))' "$1" "$2" 2>/dev/null
}

# Not `! calls`, whose result bats ignores except at the end of a test.
refuses() { if calls "$1" "$2"; then return 1; fi; }

@test "callers with private and link-local addresses, and of attached networks, are let in" {
  calls 192.168.50.2 192.168.50.1
  calls fd00:50::2 fd00:50::1
  calls 203.0.113.2 203.0.113.1
  calls 2001:db8:1::2 2001:db8:1::1
}

@test "callers of other networks are not let in" {
  refuses 198.51.100.9 192.168.50.1
  refuses 2001:db8:9::9 fd00:50::1
}

@test "a network that the machine leaves is forgotten" {
  ip -n rkfw-near address delete 2001:db8:1::1/64 dev rkfw0
  ip -n rkfw-near route add 2001:db8:1::/64 via fd00:50::2
  ip netns exec rkfw-near "$files/usr/lib/rookery-image/near"
  refuses 2001:db8:1::2 fd00:50::1
}

@test "the owner opens a port by a file" {
  echo 'add rule inet rookery input tcp dport 443 accept' >"$BATS_TEST_TMPDIR/open.nft"
  start_firewall
  calls 198.51.100.9 192.168.50.1
  calls 2001:db8:9::9 fd00:50::1
}
