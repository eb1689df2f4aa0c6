# What the node says of itself, on its way to Avahi.

setup() {
  from=$BATS_TEST_TMPDIR/run/avahi.service
  to=$BATS_TEST_TMPDIR/services/rookery.service
  mkdir "$BATS_TEST_TMPDIR"/{run,services}
}

announce() { /bin/sh "$BATS_TEST_DIRNAME/../package/root/usr/lib/rookery/announce" "$from" "$to"; }

@test "What the node says is announced, and taken from where it said it" {
  printf 'one\ntwo\n' >"$from"
  announce
  [ "$(cat "$to")" = $'one\ntwo' ]
  [ "$(stat -c %a "$to")" = 644 ]
  [ -z "$(ls "$BATS_TEST_TMPDIR/run")" ]
  [ "$(ls "$BATS_TEST_TMPDIR/services")" = rookery.service ]
}

@test "What is announced already is not written again" {
  echo one >"$from"
  announce
  before=$(stat -c %i "$to")
  echo one >"$from"
  announce
  [ "$(stat -c %i "$to")" = "$before" ]
  [ ! -e "$from" ]
}

@test "A node that went away meanwhile is no failure" {
  announce
  [ ! -e "$to" ]
}

@test "Where there is no Avahi nothing is announced, and nothing is left waiting" {
  rmdir "$BATS_TEST_TMPDIR/services"
  echo one >"$from"
  announce
  [ ! -e "$from" ]
}

@test "The node announces nothing that it may not read itself" {
  [ "$(id -u)" = 0 ] || skip "needs root"
  echo secret >"$BATS_TEST_TMPDIR/secret"
  chmod 600 "$BATS_TEST_TMPDIR/secret"
  chmod 755 "$BATS_TEST_TMPDIR"
  ln -s "$BATS_TEST_TMPDIR/secret" "$from"
  chown nobody:nogroup "$BATS_TEST_TMPDIR/run"
  run announce
  [ "$status" -ne 0 ]
  [ ! -e "$to" ]
  [ ! -e "$from" ]
}
