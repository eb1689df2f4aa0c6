# Tests /usr/lib/rookery/announce, which passes the node's announcement to Avahi.

setup() {
  from=$BATS_TEST_TMPDIR/run/avahi.service
  to=$BATS_TEST_TMPDIR/services/rookery.service
  mkdir "$BATS_TEST_TMPDIR"/{run,services}
}

give_run_to_nobody() { # as systemd does; bats makes its directories accessible to their owner only
  [ "$(id -u)" = 0 ] || skip "needs root"
  chmod 755 "$BATS_RUN_TMPDIR" "$BATS_RUN_TMPDIR/test" "$BATS_TEST_TMPDIR"
  chown nobody:nogroup "$BATS_TEST_TMPDIR/run"
}

announce() { /bin/sh "$BATS_TEST_DIRNAME/../package/root/usr/lib/rookery/announce" "$from" "$to"; }

@test "An announcement is passed to Avahi and moved from where the node wrote it" {
  printf 'one\ntwo\n' >"$from"
  announce
  [ "$(cat "$to")" = $'one\ntwo' ]
  [ "$(stat -c %a "$to")" = 644 ]
  [ ! -e "$from" ]
  [ "$(ls "$BATS_TEST_TMPDIR/services")" = rookery.service ]
}

@test "An unchanged announcement is not written again" {
  echo one >"$from"
  announce
  before=$(stat -c %i "$to")
  echo one >"$from"
  announce
  [ "$(stat -c %i "$to")" = "$before" ]
  [ ! -e "$from" ]
}

@test "A node that has stopped meanwhile causes no failure" {
  announce
  [ ! -e "$to" ]
}

@test "Without Avahi nothing waits, and the announcement is passed on once Avahi is installed" {
  rmdir "$BATS_TEST_TMPDIR/services"
  echo one >"$from"
  announce
  [ ! -e "$from" ]
  announce
  mkdir "$BATS_TEST_TMPDIR/services"
  announce
  [ "$(cat "$to")" = one ]
}

@test "An announcement that could not be written is written by the next run" {
  echo one >"$from"
  # A write that fails: a directory has the file's name.
  mkdir "$to.new"
  run announce
  [ "$status" -ne 0 ]
  [ ! -e "$from" ]
  rmdir "$to.new"
  announce
  [ "$(cat "$to")" = one ]
}

@test "A newer announcement replaces one that could not be written" {
  echo one >"$from"
  mkdir "$to.new"
  run announce
  rmdir "$to.new"
  echo two >"$from"
  announce
  [ "$(cat "$to")" = two ]
}

@test "A pipe or an endless file instead of the announcement does not block" {
  mkfifo "$from"
  run timeout 10 /bin/sh "$BATS_TEST_DIRNAME/../package/root/usr/lib/rookery/announce" "$from" "$to"
  [ "$status" -eq 1 ]
  [ ! -e "$to" ]
  head -c 1000000 /dev/zero | tr '\0' x >"$from"
  announce
  [ "$(stat -c %s "$to")" -le 65537 ] # at most 64 KiB are passed on, and a line end
}

@test "The node cannot make root write a file elsewhere" {
  give_run_to_nobody
  echo one >"$from"
  # The script moves the announcement to this name. Without care it would move it into the linked directory.
  ln -s "$BATS_TEST_TMPDIR/services" "$from.taken"
  announce
  [ "$(ls "$BATS_TEST_TMPDIR/services")" = rookery.service ]
}

@test "The node cannot announce a file that it may not read" {
  give_run_to_nobody
  echo secret >"$BATS_TEST_TMPDIR/secret"
  chmod 600 "$BATS_TEST_TMPDIR/secret"
  ln -s "$BATS_TEST_TMPDIR/secret" "$from"
  run announce
  [ "$status" -ne 0 ]
  [ ! -e "$to" ]
  [ -z "$(ls "$BATS_TEST_TMPDIR/run")" ]
}
