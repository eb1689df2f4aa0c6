# Tests log-ring, with a simulated journal.

setup() {
  ring=$BATS_TEST_TMPDIR/log
  mkdir "$BATS_TEST_TMPDIR/bin"
  printf '#!/bin/sh\ncat "%s/journal"; : >"%s/journal"\n' "$BATS_TEST_TMPDIR" "$BATS_TEST_TMPDIR" >"$BATS_TEST_TMPDIR/bin/journalctl"
  chmod +x "$BATS_TEST_TMPDIR/bin/journalctl"
  PATH=$BATS_TEST_TMPDIR/bin:$PATH
}

log_entries() { # BYTES TEXT: puts entries of so many bytes into the journal, the last of which ends with TEXT, and runs log-ring
  { head -c "$1" /dev/zero | tr '\0' .; echo "$2"; } >"$BATS_TEST_TMPDIR/journal"
  "$BATS_TEST_DIRNAME/../files/usr/lib/rookery-image/log-ring" "$ring"
}

@test "New entries of the journal are appended" {
  log_entries 10 first
  log_entries 10 second
  [[ $(cat "$ring/current") == *first*second* ]]
}

@test "The ring stays below seven MiB and keeps the newest entries" {
  for number in $(seq 40); do log_entries 400000 "turn $number"; done
  [ "$(du --bytes --summarize "$ring" | cut -f1)" -lt 7000000 ]
  grep -q "turn 40$" "$ring/current"
  grep -q 'turn 38$' "$ring"/*
}

@test "Of a large number of new entries the end is kept" {
  log_entries 5000000 last
  [ "$(stat -c %s "$ring/current")" -le 524288 ]
  grep -q 'last$' "$ring/current"
}
