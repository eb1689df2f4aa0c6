#!/usr/bin/env bats
# Tests that the initial RAM disk deletes unchanged copies from the changes to /etc, with a real overlay.

setup() {
  # shellcheck source=image/files/usr/lib/rookery-image/etc-overlay.sh
  . "$BATS_TEST_DIRNAME/../files/usr/lib/rookery-image/etc-overlay.sh"
  mkdir -p "$BATS_TEST_TMPDIR"/{lower,upper/d,work,merged}
  cd "$BATS_TEST_TMPDIR" || return
}

hash_of() { printf '%s' "$1" | sha256sum | cut -d' ' -f1; }
line() { echo "$(hash_of 1) 644:$(id -u):$(id -g) $1"; } # PATH: the list's line of a copy

@test "a listed copy is deleted, and a changed one, a link and others stay" {
  umask 022
  printf 1 >upper/d/same
  printf 1 >"upper/d/with blank"
  printf 2 >upper/d/changed
  printf 1 >upper/d/mode && chmod 600 upper/d/mode
  printf 1 >upper/other
  ln -s same upper/d/link
  for path in d/same "d/with blank" d/changed d/mode d/link d/gone; do line "$path"; done >drop
  run drop_unchanged_copies upper drop
  [ "$status" -eq 0 ]
  [ "${#lines[@]}" -eq 2 ]
  [ "$(find upper -mindepth 1 -printf '%P\n' | sort | paste -sd' ')" = "d d/changed d/link d/mode other" ]
  [ ! -e drop ]
}

@test "without a list nothing is deleted" {
  printf 1 >upper/d/same
  run drop_unchanged_copies upper drop
  [ "$status" -eq 0 ]
  [ -e upper/d/same ]
}

@test "after the deletion the overlay shows the slot's own file" {
  ((EUID == 0)) || skip "mounts need root"
  mkdir lower/d
  printf 2 >lower/d/same
  printf 1 >upper/d/same
  chmod 644 upper/d/same
  line d/same >drop
  drop_unchanged_copies upper drop
  # On a memory file system, because not every file system can hold an overlay's changes.
  run unshare --mount bash -euc 'mkdir m; mount -t tmpfs -o size=1m tmpfs m; mkdir m/work; cp -a upper m/upper
    mount -t overlay -o lowerdir=lower,upperdir=m/upper,workdir=m/work overlay merged; cat merged/d/same'
  [ "$output" = 2 ]
}
