# shellcheck shell=bash
# What the steps share. `image/build` sets ARCH and runs them from the repository's top.
# shellcheck disable=SC2034  # used by the steps

version=$(sed -n 's:.*<Version>\(.*\)</Version>.*:\1:p' Directory.Build.props)
cache=artifacts/image/cache
work=artifacts/image/${ARCH:-none}
tools=artifacts/image/tools
image=artifacts/rookery-$version-${ARCH:-none}.img
# Another one than the build makes is named by UPDATE_KEY.
signing_key=${UPDATE_KEY:-artifacts/update-signing.key}
# The time that everything inside bears: when the lock was renewed. Not the time of the build, so that two builds give the same bytes.
SOURCE_DATE_EPOCH=$(<image/lock/epoch)
export SOURCE_DATE_EPOCH
# UTF-8, because names of certificates have more than ASCII; its order is that of C.
export LC_ALL=C.UTF-8 TZ=UTC

fail() {
  echo "${0##*/}: $*" >&2
  exit 1
}

# The packages that a lock names, one `sha256 mirror path` a line.
locked_files() { # LOCK
  awk '/^Mirror: /{ mirror = $2 } /^Filename: /{ path = $2 } /^SHA256: /{ hash = $2 } /^$/{ if (path) print hash, mirror, path; path = "" } END { if (path) print hash, mirror, path }' "$1"
}

in_tools() { # COMMAND...: runs a command of the pinned tools; artifacts/ of this checkout is seen as /artifacts
  unshare --mount -- bash -euc 'mount --bind "$1/artifacts" "$2/artifacts"; mount -t proc proc "$2/proc"; shift; root=$1; shift; exec chroot "$root" "$@"' in-tools "$PWD" "$PWD/$tools" "$@"
}

in_root() { # ROOT COMMAND...: runs a command in a root that is being built, under emulation where its architecture asks for it
  local root=$1
  shift
  # The default processor of qemu-user emulates pointer authentication, which makes everything ten times slower.
  QEMU_CPU=cortex-a72 unshare --mount --pid --fork --kill-child -- bash -euc 'mount -t proc proc "$1/proc"; mount --bind /dev "$1/dev"; root=$1; shift; exec chroot "$root" "$@"' in-root "$root" "$@"
}

# The sizes of the partitions. A slot holds 1.1 GB at most, the boot partition the firmware with room for U-Boot's and the owner's files.
boot_bytes=$((128 * 1048576))
slot_bytes=$((1152 * 1048576))
