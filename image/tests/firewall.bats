#!/usr/bin/env bats
# Tests which callers the image's firewall lets in, with two network namespaces: `$near` runs the firewall, `$far` calls.

files=$BATS_TEST_DIRNAME/../files

setup() {
  ((EUID == 0)) && command -v nft ip >/dev/null || skip "needs root, nft and ip"
  # Names of this run only, so that it does not use the namespaces of another run, or those that a killed run left.
  near=rkfw-near-$$-$BATS_TEST_NUMBER far=rkfw-far-$$-$BATS_TEST_NUMBER
  ip netns add "$near" && ip netns add "$far"
  ip link add rkfw0 netns "$near" type veth peer name rkfw1 netns "$far"
  for host in "$near:rkfw0:1" "$far:rkfw1:2"; do
    IFS=: read -r name link number <<<"$host"
    ip -n "$name" link set lo up
    ip -n "$name" link set "$link" up
    for address in 192.168.50.$number/24 203.0.113.$number/24 2001:db8:1::$number/64 fd00:50::$number/64; do
      ip -n "$name" address add "$address" dev "$link" nodad
    done
  done
  # Addresses of the caller in networks that the machine is not attached to.
  ip -n "$far" address add 198.51.100.9/32 dev rkfw1
  ip -n "$far" address add 2001:db8:9::9/128 dev rkfw1 nodad
  ip -n "$near" route add 198.51.100.9/32 via 192.168.50.2
  ip -n "$near" route add 2001:db8:9::9/128 via fd00:50::2
  cp "$files/etc/nftables.conf" "$BATS_TEST_TMPDIR/conf"
  load_firewall ExecStartPost
  # Answers connections to port 443 and datagrams to port 5353.
  ip netns exec "$near" python3 -c 'import selectors, socket
stream = socket.create_server(("::", 443), family=socket.AF_INET6, dualstack_ipv6=True)
datagrams = socket.socket(socket.AF_INET6, socket.SOCK_DGRAM)
datagrams.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 0)
datagrams.bind(("::", 5353))
with selectors.DefaultSelector() as ready:
    ready.register(stream, selectors.EVENT_READ)
    ready.register(datagrams, selectors.EVENT_READ)
    while True:
        for key, _ in ready.select():
            if key.fileobj is stream:
                stream.accept()[0].close()
            else:
                datagrams.sendto(*datagrams.recvfrom(100))' 3>&- &
  server=$!
  for _ in $(seq 50); do calls 192.168.50.2 192.168.50.1 && break || sleep 0.1; done
  calls 192.168.50.2 192.168.50.1
}

teardown() {
  [ -z "${server:-}" ] || kill "$server" || :
  [ -z "${near:-}" ] || ip netns delete "$near" || :
  [ -z "${far:-}" ] || ip netns delete "$far" || :
}

in_near() { ip netns exec "$near" "$@"; }

# As Debian's nftables.service starts or reloads the firewall, with the commands of the image's drop-in. None of them may stop the rest.
load_firewall() { # ExecStartPost|ExecReload
  local command
  in_near nft -f "$BATS_TEST_TMPDIR/conf"
  while read -r command; do
    case $command in
      */own-rules) in_near "$files$command" "$BATS_TEST_TMPDIR" "$BATS_TEST_TMPDIR/conf" >>"$BATS_TEST_TMPDIR/journal" 2>&1 || : ;;
      *) in_near "$files$command" >>"$BATS_TEST_TMPDIR/journal" 2>&1 || : ;;
    esac
  done < <(sed -n "s/^$1=-//p" "$files/usr/lib/systemd/system/nftables.service.d/image.conf")
}

calls() { # FROM TO: whether a connection to port 443 is accepted
  ip netns exec "$far" python3 -c 'import socket, sys; socket.create_connection((sys.argv[2], 443), 1, (sys.argv[1], 0))' "$1" "$2" 2>/dev/null
}

# Not `! calls`, whose result bats ignores except at the end of a test.
refuses() { if calls "$1" "$2"; then return 1; fi; }

asks() { # FROM TO: whether a datagram to port 5353, as of mDNS, is answered
  ip netns exec "$far" python3 -c 'import socket, sys
client = socket.socket(socket.AF_INET6 if ":" in sys.argv[2] else socket.AF_INET, socket.SOCK_DGRAM)
client.bind((sys.argv[1], 0))
client.settimeout(1)
client.sendto(b"?", (sys.argv[2], 5353))
client.recv(1)' "$1" "$2" 2>/dev/null
}

@test "callers with private and link-local addresses, and of attached networks, are let in" {
  calls 192.168.50.2 192.168.50.1
  calls fd00:50::2 fd00:50::1
  calls 203.0.113.2 203.0.113.1
  calls 2001:db8:1::2 2001:db8:1::1
}

@test "callers of other networks are not let in" {
  calls 192.168.50.2 192.168.50.1
  calls fd00:50::2 fd00:50::1
  refuses 198.51.100.9 192.168.50.1
  refuses 2001:db8:9::9 fd00:50::1
}

@test "mDNS is answered in near networks only" {
  asks 192.168.50.2 192.168.50.1
  asks 2001:db8:1::2 2001:db8:1::1
  if asks 198.51.100.9 192.168.50.1; then return 1; fi
  if asks 2001:db8:9::9 fd00:50::1; then return 1; fi
}

@test "queries of a switch for the members of multicast groups are let in" {
  ip netns exec "$far" python3 -c 'import socket, struct, time
sender = socket.socket(socket.AF_INET, socket.SOCK_RAW, socket.IPPROTO_IGMP)
sender.setsockopt(socket.IPPROTO_IP, socket.IP_MULTICAST_IF, socket.inet_aton("192.168.50.2"))
for _ in range(20):
    # A general query of IGMPv2.
    sender.sendto(struct.pack("!BBHI", 0x11, 100, 0xEE9B, 0), ("224.0.0.1", 0))
    time.sleep(0.1)' 3>&- &
  in_near python3 -c 'import socket
receiver = socket.socket(socket.AF_INET, socket.SOCK_RAW, socket.IPPROTO_IGMP)
receiver.settimeout(1.5)
while receiver.recvfrom(100)[1][0] != "192.168.50.2":
    pass'
}

@test "callers of a network that the machine has left are not let in" {
  calls 2001:db8:1::2 fd00:50::1
  ip -n "$near" address delete 2001:db8:1::1/64 dev rkfw0
  ip -n "$near" route add 2001:db8:1::/64 via fd00:50::2
  in_near "$files/usr/lib/rookery-image/near"
  refuses 2001:db8:1::2 fd00:50::1
  calls fd00:50::2 fd00:50::1
}

@test "a reload of the firewall keeps the attached networks and the owner's rules" {
  echo 'add rule inet rookery input tcp dport 443 ip saddr 198.51.100.9 accept' >"$BATS_TEST_TMPDIR/open.nft"
  load_firewall ExecReload
  calls 203.0.113.2 203.0.113.1
  calls 2001:db8:1::2 2001:db8:1::1
  calls 198.51.100.9 192.168.50.1
  refuses 2001:db8:9::9 fd00:50::1
}

@test "a rule in a file of the owner opens a port" {
  refuses 198.51.100.9 192.168.50.1
  echo 'add rule inet rookery input tcp dport 443 accept' >"$BATS_TEST_TMPDIR/open.nft"
  in_near nft -c -f "$BATS_TEST_TMPDIR/open.nft"
  load_firewall ExecStartPost
  calls 198.51.100.9 192.168.50.1
  calls 2001:db8:9::9 fd00:50::1
}

@test "a rule in a file of the owner opens a port for near networks" {
  # As the log of the first start tells it for Redis clients.
  sed -i 's/80, 443,/80,/' "$BATS_TEST_TMPDIR/conf"
  load_firewall ExecStartPost
  refuses 192.168.50.2 192.168.50.1
  echo 'add rule inet rookery input tcp dport 443 jump from_near' >"$BATS_TEST_TMPDIR/redis.nft"
  load_firewall ExecReload
  calls 192.168.50.2 192.168.50.1
  calls 203.0.113.2 203.0.113.1
  refuses 198.51.100.9 192.168.50.1
}

@test "with a wrong file of the owner the firewall and the rules of the other files stay in effect" {
  echo 'add rule inet rookery input tcp dprot 80 accept' >"$BATS_TEST_TMPDIR/a.nft"
  echo 'add rule inet rookery input tcp dport 443 ip saddr 198.51.100.9 accept' >"$BATS_TEST_TMPDIR/b.nft"
  load_firewall ExecStartPost
  refuses 2001:db8:9::9 fd00:50::1
  calls 198.51.100.9 192.168.50.1
  calls 192.168.50.2 192.168.50.1
  calls 203.0.113.2 203.0.113.1
  grep -q "rules in .*/a.nft are not in effect" "$BATS_TEST_TMPDIR/journal"
}

@test "with a firewall of the owner that has no sets for them, the attached networks are left out without an error" {
  echo 'flush ruleset' >"$BATS_TEST_TMPDIR/conf"
  in_near nft -f "$BATS_TEST_TMPDIR/conf"
  run in_near "$files/usr/lib/rookery-image/near"
  [ "$status" -eq 0 ]
  [[ "$output" == *"has no set near4"*"has no set near6"* ]]
}

@test "the rules of files that the owner's firewall includes are not added a second time" {
  echo "include \"$BATS_TEST_TMPDIR/nftables.d/*.nft\"" >>"$BATS_TEST_TMPDIR/conf"
  mkdir "$BATS_TEST_TMPDIR/nftables.d"
  echo 'add rule inet rookery input tcp dport 443 accept' >"$BATS_TEST_TMPDIR/nftables.d/open.nft"
  in_near nft -f "$BATS_TEST_TMPDIR/conf"
  in_near "$files/usr/lib/rookery-image/own-rules" "$BATS_TEST_TMPDIR/nftables.d" "$BATS_TEST_TMPDIR/conf"
  [ "$(in_near nft list chain inet rookery input | grep -c 'tcp dport 443 accept')" -eq 1 ]
}
