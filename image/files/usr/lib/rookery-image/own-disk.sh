# shellcheck shell=sh
# Keeps the cards of several machines apart, and finds a card that does not keep what is written to it. Sourced by the initial RAM disk; image/tests/own-disk.bats runs it.

# The disk identifier of the image. Each card draws its own at its first start: boot.scr does it, or, with a boot.scr that does not, the initial RAM disk.
image_disk_id=524b5259
# A sector before the first partition. It is written at each start, so it is 512 KiB away from the partition table and the sectors of the slots and of data-partition.sh: a power
# cut during a write may also damage what the card keeps in the same flash page.
start_sector=1024

read_note() { # DISK SECTOR: prints the text in a sector, empty if there is none
  dd if="$1" bs=512 skip="$2" count=1 2>/dev/null | tr -d '\000'
}

write_note() { # DISK SECTOR TEXT
  printf '%s\n' "$3" | dd of="$1" bs=512 seek="$2" count=1 conv=sync,notrunc,fsync 2>/dev/null
}

# Prints the kind of a disk by U-Boot's names, which boot.scr passes as rookery.disk=.
kind_of() { # DEVICE
  case ${1##*/} in
    mmcblk*) echo mmc ;;
    nvme*) echo nvme ;;
    vd*) echo virtio ;;
    sd*) echo usb ;;
    *) echo other ;;
  esac
}

# Prints the partition to start from, among those with the partition identifier that U-Boot passed. Fails if several are possible: they are copies of one card.
own_root() { # KIND DEVICE...
  kind=$1 first='' matches=0
  shift
  for candidate in "$@"; do
    [ -z "$kind" ] || [ "$(kind_of "$candidate")" = "$kind" ] || continue
    matches=$((matches + 1))
    [ -n "$first" ] || first=$candidate
  done
  # U-Boot may name a kind that the kernel names otherwise.
  [ $matches -gt 0 ] || { first=$1 matches=$#; }
  echo "$first"
  [ $matches -eq 1 ]
}

# Gives the disk an identifier of its own, unless it has one. It is one write of one sector. The kernel continues to use the old one until the next start.
draw_disk_id() { # DISK
  [ "$(blkid -p -s PTUUID -o value "$1")" = "$image_disk_id" ] || return 0
  id=$image_disk_id
  while [ "$id" = "$image_disk_id" ] || [ "$id" = 00000000 ]; do
    read -r id </proc/sys/kernel/random/uuid
    id=${id%%-*}
  done
  sfdisk --quiet --no-reread --no-tell-kernel --disk-id "$1" "0x$id" >&2 || { echo "$1 keeps the image's disk identifier: writing another one failed." >&2; return 0; }
}

# A worn or counterfeit card may confirm a write and return the old contents. Each start writes its number to a sector and reads it back, from the card and not from the
# kernel's memory. If the sector has no number, a new text is written, and kept_the_last_start takes the number from the data partition.
keeps_a_write() { # DISK
  number=$(start_number "$1")
  if [ -n "$number" ]; then
    number=$((number + 1))
  else
    read -r number </proc/sys/kernel/random/uuid
  fi
  record_start "$1" "$number" || return
  blockdev --flushbufs "$1"
  [ "$(read_note "$1" $start_sector)" = "rookery: start $number" ] && return
  echo "$1 confirmed the write of start $number and returned its old contents when it was read: the card no longer keeps what is written. It is not used. Copy its data and replace it." >&2
  return 1
}

record_start() { # DISK NUMBER
  write_note "$1" $start_sector "rookery: start $2" || { echo "Writing $1 failed: the card is broken or write-protected and is not used. Replace it." >&2; return 1; }
}

# A power cut may leave any contents in the sector that was being written, so contents other than a number are no sign of a broken card.
start_number() { # DISK: prints the number of the last start, empty if the sector has none
  number=$(read_note "$1" $start_sector)
  number=${number#rookery: start }
  case $number in
    '' | *[!0-9]* | ??????????*) ;;
    *) echo "$number" ;;
  esac
}

# The data partition has the number of the last start and the disk's identifier, too, in FILE. A smaller number in the sector is an old value: the card confirmed a write, and
# lost it when the machine restarted. Data that came from another disk say nothing about this one. UUID is that of the data partition, ACCEPTED that of one that the owner accepts.
kept_the_last_start() { # DISK FILE UUID ACCEPTED
  now=$(start_number "$1") before=0 id='' own_id=$(blkid -p -s PTUUID -o value "$1")
  [ ! -f "$2" ] || read -r before id <"$2" || :
  [ "$id" = "$own_id" ] || before=0
  case $before in '' | *[!0-9]* | ??????????*) before=0 ;; esac
  if [ -z "$now" ] || [ "$before" -ge "$now" ]; then
    if [ -n "$now" ]; then
      echo "$1 holds an old value: it had stored start $before, and after the restart it returned start $((now - 1)). The card loses what it has confirmed." >&2
      [ "$3" = "${4-}" ] || {
        echo "It is not used. Copy its data and replace it. If you wrote an older copy of its beginning back, write extra=rookery.data=$3 to the file boot.env on the first partition, after what extra= has there, and restart, and remove it afterwards." >&2
        # Otherwise the next start would have a larger number again, and use the card without a word.
        record_start "$1" "$((now - 1))"
        return 1
      }
    elif [ "$before" -gt 0 ]; then
      echo "$1 has no number of its last start, which was $before. A power cut may have damaged it, and it is written again." >&2
    fi
    now=$((before + 1))
    record_start "$1" "$now" || return
  fi
  # On a full file system the old file remains, and a later start, with a larger number, compares with it.
  error=$(echo "$now $own_id" | dd of="$2.new" conv=fsync 2>&1) || {
    case $error in *'No space left'*) echo "The data partition is full: the number of this start is not recorded there." >&2 && return ;; esac
    echo "The data partition cannot be written. It is not used." >&2
    return 1
  }
  { mv "$2.new" "$2" && sync; } || { echo "The data partition cannot be written. It is not used." >&2; return 1; }
}
