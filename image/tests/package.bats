# What the Debian package says to systemd and dpkg.

setup() { package=$BATS_TEST_DIRNAME/../package; }

@test "The node's user and group have the same numbers on every new machine, so that a drive or a card is moved without work" {
  command -v systemd-sysusers >/dev/null || skip "needs systemd-sysusers"
  mkdir -p "$BATS_TEST_TMPDIR/etc"
  systemd-sysusers --root="$BATS_TEST_TMPDIR" "$package/root/usr/lib/sysusers.d/rookery.conf"
  grep -q '^rookery:x:443:443:' "$BATS_TEST_TMPDIR/etc/passwd"
  grep -q '^rookery:x:443:' "$BATS_TEST_TMPDIR/etc/group"
}

@test "A machine that has the node's user keeps its numbers" {
  command -v systemd-sysusers >/dev/null || skip "needs systemd-sysusers"
  mkdir -p "$BATS_TEST_TMPDIR/etc"
  echo 'rookery:x:988:987::/var/lib/rookery:/usr/sbin/nologin' >"$BATS_TEST_TMPDIR/etc/passwd"
  echo 'rookery:x:987:' >"$BATS_TEST_TMPDIR/etc/group"
  systemd-sysusers --root="$BATS_TEST_TMPDIR" "$package/root/usr/lib/sysusers.d/rookery.conf"
  [ "$(grep -c '^rookery:x:988:987:' "$BATS_TEST_TMPDIR/etc/passwd")" = 1 ]
}

@test "Where its numbers are somebody else's the node's user has others" {
  command -v systemd-sysusers >/dev/null || skip "needs systemd-sysusers"
  mkdir -p "$BATS_TEST_TMPDIR/etc"
  echo 'anna:x:443:443::/home/anna:/bin/sh' >"$BATS_TEST_TMPDIR/etc/passwd"
  echo 'anna:x:443:' >"$BATS_TEST_TMPDIR/etc/group"
  systemd-sysusers --root="$BATS_TEST_TMPDIR" "$package/root/usr/lib/sysusers.d/rookery.conf"
  grep -q '^rookery:' "$BATS_TEST_TMPDIR/etc/passwd"
  [ "$(grep -c ':443:' "$BATS_TEST_TMPDIR/etc/passwd")" = 1 ]
}
