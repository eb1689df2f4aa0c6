# shellcheck shell=sh
# The data partition, the fourth of the disk: grown to the end of the disk, formatted when it is blank, and only then.
# Sourced by the initial RAM disk; image/tests/data-partition.bats runs it on loop devices.

# Sector 18, before the first partition, says that formatting has begun: what a power cut left of it is ours to format again, and may not look blank.
formatting_sector=18
formatting_mark='rookery: formatting'

disk_of() { # PARTITION: /dev/mmcblk0p2 -> /dev/mmcblk0, /dev/vda2 -> /dev/vda
  case $1 in
    *[0-9]p[0-9]) echo "${1%p[0-9]}" ;;
    *) echo "${1%[0-9]}" ;;
  esac
}

partition_of() { # DISK NUMBER
  case $1 in
    *[0-9]) echo "$1p$2" ;;
    *) echo "$1$2" ;;
  esac
}

formatting_has_begun() { # DISK
  [ "$(dd if="$1" bs=512 skip=$formatting_sector count=1 2>/dev/null | tr -d '\000')" = "$formatting_mark" ]
}

mark_formatting() { # DISK TEXT
  printf '%s\n' "$2" | dd of="$1" bs=512 seek=$formatting_sector count=1 conv=sync,notrunc,fsync 2>/dev/null
}

# Blank is what has no signature of any file system, RAID or partition table that blkid knows, and a MiB of zeros at its beginning, as the image ships it.
# The zeros are counted, so that a card that cannot be read is not taken for a blank one.
is_blank() { # DEVICE
  [ -z "$(blkid -p -s TYPE -s PTTYPE -o value "$1")" ] && [ "$(dd if="$1" bs=1M count=1 2>/dev/null | LC_ALL=C tr -d '\001-\377' | wc -c)" -eq 1048576 ]
}

grow_partition() { # DISK DEVICE: to the end of the disk, if at least 16 MiB lie behind it
  sectors=$(blockdev --getsz "$1") || return
  end=$(sfdisk --dump "$1" | sed -n "s:^$2 .*start= *\([0-9]*\), size= *\([0-9]*\),.*:\1 \2:p" | awk '{ print $1 + $2 }')
  [ -n "$end" ] || { echo "$1 has no fourth partition" >&2; return 1; }
  # 2^32 - 1 sectors are what a partition table of this kind can say: 2 TiB.
  [ "$sectors" -le 4294967295 ] || sectors=4294967295
  [ $((sectors - end)) -ge 32768 ] || return 0
  # One sector is written, so that a power cut leaves the old table or the new one.
  echo ", +" | sfdisk --quiet --no-reread --no-tell-kernel -N 4 "$1" >&2 || return
  partx --update --nr 4 "$1" >&2 || return
  echo "$2 now ends where $1 ends." >&2
}

# Cards that say they are larger than they are lose what lies beyond, or write it over what lies before: each of 32 places gets a text of its own, all are read
# back from the card. A blank partition only. The first place lies behind the MiB that is looked at for zeros, so a power cut meanwhile changes nothing.
probe_places=32

put_block() { # DEVICE MEBIBYTE TEXT
  printf '%s\n' "$3" | dd of="$1" bs=4096 seek=$(($2 * 256)) count=1 conv=sync,notrunc,fsync 2>/dev/null
}

get_block() { # DEVICE MEBIBYTE
  dd if="$1" bs=4096 skip=$(($2 * 256)) count=1 2>/dev/null | tr -d '\000'
}

keeps_its_size() { # DEVICE
  size=$(($(blockdev --getsz "$1") / 2048))
  step=$((size / (probe_places + 1)))
  [ $step -ge 2 ] || return 0
  place=0
  while [ $place -lt $probe_places ]; do
    place=$((place + 1))
    put_block "$1" $((place * step)) "rookery: place $place" || { echo "$1 does not take a write at $((place * step)) MiB: the card is broken. It is not used; get another one." >&2; return 1; }
  done
  blockdev --flushbufs "$1"
  place=0
  while [ $place -lt $probe_places ]; do
    place=$((place + 1))
    [ "$(get_block "$1" $((place * step)))" = "rookery: place $place" ] && continue
    echo "The card says that $1 has $size MiB, and does not keep what is written around $((place * step)) MiB: it is smaller than it says, or broken. It is not used; get another one." >&2
    return 1
  done
}

prepare_data_partition() { # DISK DEVICE
  [ -b "$2" ] || { echo "$2 is not there: the card has no data partition." >&2; return 1; }
  grow_partition "$1" "$2" || echo "$2 was not grown; it is used as it is." >&2
  if is_blank "$2" || formatting_has_begun "$1"; then
    keeps_its_size "$2" || return
    mark_formatting "$1" "$formatting_mark" || return
    # An inode for each 256 KiB: a node keeps few, large files. Lazy, because writing the tables of a large card takes minutes and wears it.
    mkfs.ext4 -q -F -L rookery-data -i 262144 -m 1 -E lazy_itable_init=1,lazy_journal_init=1 "$2" >&2 || return
    sync
    # Not used before this is written: the next start would format it again.
    mark_formatting "$1" 'rookery: formatted' || { echo "$1 does not take a write: the card is broken. It is not used; get another one." >&2; return 1; }
    echo "$2 was blank and is formatted." >&2
  fi
  case $(blkid -p -s TYPE -o value "$2") in
    ext4) ;;
    *)
      echo "$2 holds something that is no ext4 file system and is not blank: it is left alone. To use the card, save what is on it and flash it anew." >&2
      return 1
      ;;
  esac
  # 0: clean, 1: mended. Anything else is for a person to judge.
  e2fsck -p "$2" >&2
  [ $? -le 1 ] || { echo "$2 is damaged and was not mended by itself: 'e2fsck $2' asks what to do." >&2; return 1; }
}

grow_file_system() { # DEVICE, mounted
  # Growing a mounted ext4 goes through its journal: a power cut leaves it at a size between the two, and the next start goes on.
  resize2fs "$1" >/dev/null 2>/run/rookery-image/resize.log || { cat /run/rookery-image/resize.log >&2; echo "$1 was not grown; it is used as it is." >&2; }
}
