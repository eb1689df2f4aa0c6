# shellcheck shell=bash
# Variables and functions shared by the steps. `image/build` sets ARCH and runs the steps in the repository's root directory.
# shellcheck disable=SC2034  # used by the steps

version=$(sed -n 's:.*<Version>\(.*\)</Version>.*:\1:p' Directory.Build.props)
cache=artifacts/image/cache
work=artifacts/image/${ARCH:-none}
tools=artifacts/image/tools
# UPDATE_KEY replaces the key that the build creates.
signing_key=${UPDATE_KEY:-artifacts/update-signing.key}
# A variable of this shell only: the programs that a step runs, some of them in the root being built, do not get it.
export -n UPDATE_KEY_PASSPHRASE
# Timestamp of every file in the image: when the lock was renewed, not when the image is built, so that builds are reproducible.
SOURCE_DATE_EPOCH=$(<image/lock/epoch)
export SOURCE_DATE_EPOCH
# The image's release: the version of the program, and when its packages were locked (UTC). `dpkg --compare-versions` orders releases.
release=$version+os$(date -ud "@$SOURCE_DATE_EPOCH" +%Y%m%d.%H%M)
image=artifacts/rookery-$release-${ARCH:-none}.img
# UTF-8, because some certificate names are not ASCII; C, because sorting must not depend on the locale.
export LC_ALL=C.UTF-8 TZ=UTC

fail() {
  echo "${0##*/}: $*" >&2
  exit 1
}

# Waits until no other build changes what the builds of both architectures share: $cache and $tools. Until the calling script ends.
lock_shared() {
  exec 8>artifacts/image/lock
  flock --nonblock 8 || { echo "waiting for the packages and tools of another build" && flock 8; }
}

# Prints one `sha256 mirror path` line for each package of a lock.
locked_files() { # LOCK
  awk '/^Mirror: /{ mirror = $2 } /^Filename: /{ path = $2 } /^SHA256: /{ hash = $2 } /^$/{ if (path) print hash, mirror, path; path = "" } END { if (path) print hash, mirror, path }' "$1"
}

in_tools() { # COMMAND...: runs a command in the root of pinned tools, with this checkout's artifacts/ mounted at /artifacts
  unshare --mount -- bash -euc 'mount --bind "$1/artifacts" "$2/artifacts"; mount -t proc proc "$2/proc"; shift; root=$1; shift; exec chroot "$root" "$@"' in-tools "$PWD" "$PWD/$tools" "$@"
}

in_root() { # ROOT COMMAND...: runs a command by chroot in the root being built, under qemu-user if its architecture is foreign
  local root=$1
  shift
  # qemu-user's default CPU model emulates pointer authentication, which makes programs ten times slower.
  QEMU_CPU=cortex-a72 unshare --mount --pid --fork --kill-child -- bash -euc 'mount -t proc proc "$1/proc"; mount --bind /dev "$1/dev"; root=$1; shift; exec chroot "$root" "$@"' in-root "$root" "$@"
}

# Partition sizes. A slot must hold a root of up to 1.1 GB; the boot partition holds the firmware, U-Boot and the owner's files.
boot_bytes=$((128 * 1048576))
slot_bytes=$((1152 * 1048576))

# Sets key_passphrase to the options with which openssl opens the signing key. A key with a passphrase takes it from the file UPDATE_KEY_PASSPHRASE_FILE, or from
# UPDATE_KEY_PASSPHRASE, which image/build sets after asking for it once, for the steps that need the key.
open_key() {
  key_passphrase=()
  is_encrypted "$signing_key" || return 0
  if [[ -n ${UPDATE_KEY_PASSPHRASE_FILE:-} ]]; then
    key_passphrase=(-passin "file:$UPDATE_KEY_PASSPHRASE_FILE")
  elif [[ -n ${UPDATE_KEY_PASSPHRASE:-} ]]; then
    key_passphrase=(-passin env:UPDATE_KEY_PASSPHRASE)
  else
    fail "the key $signing_key has a passphrase: name a file that contains it by UPDATE_KEY_PASSPHRASE_FILE, or run image/build in a terminal, which asks for it"
  fi
  with_passphrase openssl pkey -in "$signing_key" "${key_passphrase[@]}" -noout 2>/dev/null || fail "the key $signing_key cannot be opened: the passphrase is wrong, or the file is damaged"
}

with_passphrase() { # COMMAND...: runs openssl with the passphrase in its environment
  UPDATE_KEY_PASSPHRASE=${UPDATE_KEY_PASSPHRASE:-} "$@"
}

is_encrypted() { # KEY
  grep -q 'ENCRYPTED' "$1"
}

# Writes the public half of the signing key.
public_key() { # FILE
  open_key
  with_passphrase openssl pkey -in "$signing_key" "${key_passphrase[@]}" -pubout -out "$1"
}

# Writes the signature of a manifest.
sign() { # MANIFEST SIGNATURE
  open_key
  with_passphrase openssl pkeyutl -sign -inkey "$signing_key" "${key_passphrase[@]}" -rawin -in "$1" -out "$2"
}

# Prints the fingerprints of a list of revoked keys. Another line would revoke no key, so it ends the build.
revoked_fingerprints() { # FILE
  local line
  while read -r line || [[ -n $line ]]; do
    line=${line%%#*}
    line=${line%"${line##*[![:space:]]}"}
    [[ -n $line ]] || continue
    [[ $line =~ ^[0-9a-f]{64}$ ]] ||
      fail "$1: '$line' is not a fingerprint, which is 64 digits and letters a to f. Print it by: openssl pkey -pubin -in KEY.pem -outform DER | sha256sum | cut -d' ' -f1"
    echo "$line"
  done <"$1"
}

# Prints the fingerprint of a public key: the SHA-256 of its DER form.
fingerprint_of() { # PUBLIC_KEY
  openssl pkey -pubin -in "$1" -outform DER | sha256sum | cut -d' ' -f1
}
