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

@test "The package depends on a provider of the program that creates its user" {
  grep -q '^  systemd-sysusers ' "$package/control/postinst"
  depends=$(sed -n 's/^Depends: //p' "$package/control/control.in")
  for provider in ${depends##*, }; do
    case $provider in '|' | systemd | systemd-standalone-sysusers | systemd-sysusers) ;; *) echo "$provider does not contain systemd-sysusers"; false ;; esac
  done
  [[ $depends == *systemd-sysusers* ]]
}

@test "The package's user gets an ID of Debian's dynamic range" {
  make_users
  id=$(awk -F: '$1 == "rookery" { print $3 }' "$BATS_TEST_TMPDIR/etc/passwd")
  [ "$id" -ge 100 ] && [ "$id" -le 999 ]
  # Policy 9.2.2: a package has no fixed ID of this range.
  ! grep -q '^u rookery [0-9]' "$package/root/usr/lib/sysusers.d/rookery.conf"
}

@test "On the image the user and group have the same IDs in all releases" {
  command -v systemd-sysusers >/dev/null || skip "needs systemd-sysusers"
  mkdir -p "$BATS_TEST_TMPDIR/usr/lib/sysusers.d" "$BATS_TEST_TMPDIR/etc/sysusers.d"
  cp "$package/root/usr/lib/sysusers.d/rookery.conf" "$BATS_TEST_TMPDIR/usr/lib/sysusers.d/"
  cp "$package/../files/etc/sysusers.d/rookery.conf" "$BATS_TEST_TMPDIR/etc/sysusers.d/"
  # By name, as the package's postinst does.
  systemd-sysusers --root="$BATS_TEST_TMPDIR" rookery.conf
  grep -q '^rookery:x:443:443:' "$BATS_TEST_TMPDIR/etc/passwd"
  grep -q '^rookery:x:443:' "$BATS_TEST_TMPDIR/etc/group"
}

@test "A machine that has the node's user keeps its IDs" {
  echo 'rookery:x:988:987::/var/lib/rookery:/usr/sbin/nologin' >"$BATS_TEST_TMPDIR/etc/passwd"
  echo 'rookery:x:987:' >"$BATS_TEST_TMPDIR/etc/group"
  make_users
  [ "$(grep -c '^rookery:x:988:987:' "$BATS_TEST_TMPDIR/etc/passwd")" = 1 ]
}

@test "lintian finds nothing in the package" {
  command -v lintian >/dev/null || skip "needs lintian"
  checkout=$BATS_TEST_TMPDIR/checkout
  mkdir -p "$checkout/artifacts/publish-amd64" "$checkout/server/dashboard/fonts" "$checkout/server/src/Rookery/bin/Release/net10.0/linux-x64"
  top=$BATS_TEST_DIRNAME/../..
  cp -r "$top/image" "$top/LICENSE" "$top/Directory.Build.props" "$checkout/"
  cp "$top/server/dashboard/fonts/OFL.txt" "$checkout/server/dashboard/fonts/"
  echo '{}' >"$checkout/server/src/Rookery/bin/Release/net10.0/linux-x64/rookery.deps.json"
  # A program in place of the node's, with the stamp of its compiler.
  printf '#include <stdio.h>\nconst char stamp[] = ".NET: ilc 10.0.12-servicing.1+0123456789012345678901234567890123456789";\nint main(void) { char text[64]; return snprintf(text, sizeof text, "%%s", stamp) + puts(text); }\n' >"$BATS_TEST_TMPDIR/main.c"
  gcc -O2 -D_FORTIFY_SOURCE=2 -fstack-protector-strong -fPIE -pie -Wl,-z,relro,-z,now -s -o "$checkout/artifacts/publish-amd64/rookery" "$BATS_TEST_TMPDIR/main.c" -Wno-unused-result
  touch "$checkout/artifacts/publish-amd64/rookery.dbg"
  (cd "$checkout" && DEBEMAIL=maintainers@debian.org SOURCE_DATE_EPOCH=1767225600 image/package/build amd64)
  run lintian --fail-on warning --tag-display-limit 0 "$checkout"/artifacts/rookery_*_amd64.deb
  echo "$output"
  [ "$status" -eq 0 ]
}

dpkg_runs() { # SCRIPT ARGUMENT...: runs a script of the package, on a directory that stands for a machine with systemd; the file systemctl-calls gets its calls of systemctl
  mkdir -p "$BATS_TEST_TMPDIR"/{bin,run/systemd/system,etc/avahi/services}
  printf '#!/bin/sh\necho "$@" >>"%s/systemctl-calls"\n' "$BATS_TEST_TMPDIR" >"$BATS_TEST_TMPDIR/bin/systemctl"
  cp "$BATS_TEST_TMPDIR/bin/systemctl" "$BATS_TEST_TMPDIR/bin/deb-systemd-invoke"
  chmod +x "$BATS_TEST_TMPDIR"/bin/*
  DPKG_ROOT=$BATS_TEST_TMPDIR PATH=$BATS_TEST_TMPDIR/bin:$PATH /bin/sh "$package/control/$1" "${@:2}"
}

@test "Removing the package stops all its units and the announcement" {
  mkdir -p "$BATS_TEST_TMPDIR/etc/avahi/services"
  touch "$BATS_TEST_TMPDIR"/etc/avahi/services/{rookery,ssh}.service
  mkdir -p "$BATS_TEST_TMPDIR/etc/systemd/system/multi-user.target.wants"
  ln -s /usr/lib/systemd/system/rookery.service "$BATS_TEST_TMPDIR/etc/systemd/system/multi-user.target.wants/rookery.service"
  dpkg_runs prerm remove
  dpkg_runs postrm remove
  grep -q '^stop rookery.service rookery-announce.path rookery-announce.service$' "$BATS_TEST_TMPDIR/systemctl-calls"
  [ ! -L "$BATS_TEST_TMPDIR/etc/systemd/system/multi-user.target.wants/rookery.service" ]
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
