# Tests the Debian package: its units, scripts and dependencies.

setup() {
  package=$BATS_TEST_DIRNAME/../package
  mkdir "$BATS_TEST_TMPDIR/etc"
}

make_users() { # creates the package's users, beside those of $BATS_TEST_TMPDIR/etc
  command -v systemd-sysusers >/dev/null || skip "needs systemd-sysusers"
  systemd-sysusers --root="$BATS_TEST_TMPDIR" "$package/root/usr/lib/sysusers.d/rookery.conf"
}

@test "The package depends on each library that the executable is linked with" {
  executable=$BATS_TEST_DIRNAME/../../artifacts/rookery
  [ -x "$executable" ] || skip "needs \`make build\`"
  depends=$(sed -n 's/^Depends: //p' "$package/control/control.in" | sed 's/ ([^)]*)//g')
  for library in $(readelf -d "$executable" | sed -n 's/.*(NEEDED).*\[\(.*\)\]/\1/p'); do
    # A build machine may also have the library of another architecture.
    owner=$(dpkg-query --search "*/$library" | sed 's/:.*//' | grep -v -- '-cross$' | sort -u)
    [[ ", $depends," == *", $owner,"* ]] || { echo "$library is of $owner; Depends: $depends"; false; }
  done
}

@test "The node's user and group have the same IDs on every new machine" {
  make_users
  grep -q '^rookery:x:443:443:' "$BATS_TEST_TMPDIR/etc/passwd"
  grep -q '^rookery:x:443:' "$BATS_TEST_TMPDIR/etc/group"
}

@test "A machine that has the node's user keeps its IDs" {
  echo 'rookery:x:988:987::/var/lib/rookery:/usr/sbin/nologin' >"$BATS_TEST_TMPDIR/etc/passwd"
  echo 'rookery:x:987:' >"$BATS_TEST_TMPDIR/etc/group"
  make_users
  [ "$(grep -c '^rookery:x:988:987:' "$BATS_TEST_TMPDIR/etc/passwd")" = 1 ]
}

@test "If another account has these IDs, the node's user gets others" {
  echo 'anna:x:443:443::/home/anna:/bin/sh' >"$BATS_TEST_TMPDIR/etc/passwd"
  echo 'anna:x:443:' >"$BATS_TEST_TMPDIR/etc/group"
  make_users
  grep -q '^rookery:' "$BATS_TEST_TMPDIR/etc/passwd"
  [ "$(grep -c ':443:' "$BATS_TEST_TMPDIR/etc/passwd")" = 1 ]
}

dpkg_runs() { # SCRIPT ARGUMENT...: runs a script of the package, on a directory that stands for a machine with systemd; the file systemctl-calls gets its calls of systemctl
  mkdir -p "$BATS_TEST_TMPDIR"/{bin,run/systemd/system,etc/avahi/services}
  printf '#!/bin/sh\necho "$@" >>"%s/systemctl-calls"\n' "$BATS_TEST_TMPDIR" >"$BATS_TEST_TMPDIR/bin/systemctl"
  chmod +x "$BATS_TEST_TMPDIR/bin/systemctl"
  DPKG_ROOT=$BATS_TEST_TMPDIR PATH=$BATS_TEST_TMPDIR/bin:$PATH /bin/sh "$package/control/$1" "${@:2}"
}

@test "Removing the package stops all its units and the announcement" {
  mkdir -p "$BATS_TEST_TMPDIR/etc/avahi/services"
  touch "$BATS_TEST_TMPDIR"/etc/avahi/services/{rookery,ssh}.service
  dpkg_runs prerm remove
  dpkg_runs postrm remove
  grep -q '^disable --now rookery.service$' "$BATS_TEST_TMPDIR/systemctl-calls"
  grep -q '^stop .*rookery-announce.path' "$BATS_TEST_TMPDIR/systemctl-calls"
  [ "$(ls "$BATS_TEST_TMPDIR/etc/avahi/services")" = ssh.service ]
  dpkg_runs postrm purge
}

@test "An upgrade of the package keeps the announcement" {
  mkdir -p "$BATS_TEST_TMPDIR/etc/avahi/services"
  touch "$BATS_TEST_TMPDIR/etc/avahi/services/rookery.service"
  dpkg_runs prerm upgrade 0.2.0
  dpkg_runs postrm upgrade 0.2.0
  [ -e "$BATS_TEST_TMPDIR/etc/avahi/services/rookery.service" ]
  run grep -E 'stop|disable' "$BATS_TEST_TMPDIR/systemctl-calls"
  [ "$status" -ne 0 ]
}

@test "systemd-analyze security finds rookery.service exposed to 2.0 at most" {
  systemd-analyze security --help 2>/dev/null | grep -q -- --threshold || skip "needs systemd-analyze, of systemd 250 or later"
  # The threshold is in tenths.
  run systemd-analyze security --offline=true --no-pager --threshold=20 "$package/root/usr/lib/systemd/system/rookery.service"
  echo "$output" | grep -E '^→|✗' || true
  [ "$status" -eq 0 ]
  [[ $output == *"Overall exposure level for rookery.service"* ]]
}
