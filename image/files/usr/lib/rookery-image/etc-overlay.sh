# shellcheck shell=sh
# Deletes copies of the slot's files from the changes to /etc, before the overlay is mounted. Sourced by the initial RAM disk; image/tests/etc-overlay.bats runs it.

# slot/etc.py lists the copies that an update found unchanged, `SHA256 MODE:USER:GROUP PATH` on each line. A copy that was changed since then stays.
drop_unchanged_copies() { # UPPER LIST
  [ -e "$2" ] && command -v sha256sum >/dev/null && command -v stat >/dev/null || return 0
  while read -r hash owner path; do
    [ -f "$1/$path" ] && [ ! -L "$1/$path" ] && [ "$(stat -c %a:%u:%g "$1/$path")" = "$owner" ] || continue
    [ "$(sha256sum <"$1/$path" | cut -d' ' -f1)" = "$hash" ] || continue
    rm -f "$1/$path" && echo "/etc/$path was not changed on this machine, and is the slot's own again."
  done <"$2"
  rm -f "$2"
}
