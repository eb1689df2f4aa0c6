# shellcheck shell=sh
# Grows the data partition, the fourth of the disk, to the end of the disk, and formats it only if it is blank.
# Sourced by the initial RAM disk, after own-disk.sh; image/tests/data-partition.bats runs it on loop devices.

# Sector 18, before the first partition, records that formatting has begun. After a power cut the partition may not look blank; this record allows formatting it again.
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

formatted_mark='rookery: formatted'
# Sector 19 records the UUID of the file system that the card made.
data_sector=19

formatting_has_begun() { # DISK
  [ "$(read_note "$1" $formatting_sector)" = "$formatting_mark" ]
}

mark_formatting() { # DISK TEXT
  write_note "$1" $formatting_sector "$2"
}

# Without this record any file system in that place, such as that of an earlier node, would be taken.
recorded_data() { # DISK: prints the UUID, empty if none is recorded
  # A power cut may have damaged the record. What has another form is none.
  read_note "$1" $data_sector | sed -n 's/^rookery: data \([0-9a-f-]\{36\}\)$/\1/p'
}

record_data() { # DISK UUID
  write_note "$1" $data_sector "rookery: data $2" || { echo "Writing $1 failed: the card is broken and is not used. Replace it." >&2; return 1; }
}

# Fails if the file system is not the one that this card recorded. ACCEPTED is the UUID of a file system that the owner accepts.
is_own_data() { # DISK DEVICE ACCEPTED
  present=$(blkid -p -s UUID -o value "$2") recorded=$(recorded_data "$1")
  [ "$present" != "$recorded" ] || return 0
  # A card that was formatted before there was a record has the mark alone.
  if [ "$present" = "$3" ] || { [ -z "$recorded" ] && [ "$(read_note "$1" $formatting_sector)" = "$formatted_mark" ]; }; then
    record_data "$1" "$present"
    return
  fi
  if [ -z "$recorded" ]; then
    echo "$2 holds the file system $present, which was there before this card was flashed: the data of another node." >&2
  else
    echo "$2 holds the file system $present, and this card was set up with $recorded: the data are those of another card, or a copy." >&2
  fi
  echo "They are left unchanged and not used. To use them, write extra=rookery.data=$present to the file boot.env on the first partition, after what extra= has there, and restart; the node that has them must not run elsewhere. To start with an empty node, flash the card again." >&2
  return 1
}

# A partition is blank if blkid finds no file system, RAID or partition table on it and its first MiB is zeros, as in the image.
# The zeros are counted, so that an unreadable card is not taken for a blank one.
is_blank() { # DEVICE
  [ -z "$(blkid -p -s TYPE -s PTTYPE -o value "$1")" ] && [ "$(dd if="$1" bs=1M count=1 2>/dev/null | LC_ALL=C tr -d '\001-\377' | wc -c)" -eq 1048576 ]
}

grow_partition() { # DISK DEVICE: extends the partition to the end of the disk, if at least 16 MiB follow it
  sectors=$(blockdev --getsz "$1") || return
  end=$(sfdisk --dump "$1" | sed -n "s:^$2 .*start= *\([0-9]*\), size= *\([0-9]*\),.*:\1 \2:p" | awk '{ print $1 + $2 }')
  [ -n "$end" ] || { echo "$1 has no fourth partition" >&2; return 1; }
  # An MBR partition table holds at most 2^32 - 1 sectors: 2 TiB.
  [ "$sectors" -le 4294967295 ] || sectors=4294967295
  [ $((sectors - end)) -ge 32768 ] || return 0
  # The table is one sector, so a power cut leaves either the old or the new table.
  echo ", +" | sfdisk --quiet --no-reread --no-tell-kernel -N 4 "$1" >&2 || return
  partx --update --nr 4 "$1" >&2 || return
  echo "$2 now ends where $1 ends." >&2
}

# A counterfeit card reports more capacity than it has, and loses data beyond it or writes them over other data. To detect one, 32 places get distinct texts,
# which are then read back from the card. Only for a blank partition. The first place is after the MiB that is_blank checks, so after a power cut it is still blank.
probe_places=32

put_block() { # DEVICE MEBIBYTE TEXT
  printf '%s\n' "$3" | dd of="$1" bs=4096 seek=$(($2 * 256)) count=1 conv=sync,notrunc,fsync 2>/dev/null
}

get_block() { # DEVICE MEBIBYTE
  dd if="$1" bs=4096 skip=$(($2 * 256)) count=1 2>/dev/null | tr -d '\000'
}

has_its_reported_size() { # DEVICE
  size=$(($(blockdev --getsz "$1") / 2048))
  step=$((size / (probe_places + 1)))
  [ $step -ge 2 ] || return 0
  place=0
  while [ $place -lt $probe_places ]; do
    place=$((place + 1))
    put_block "$1" $((place * step)) "rookery: place $place" || { echo "Writing $1 at $((place * step)) MiB failed: the card is broken and is not used. Replace it." >&2; return 1; }
  done
  blockdev --flushbufs "$1"
  place=0
  while [ $place -lt $probe_places ]; do
    place=$((place + 1))
    [ "$(get_block "$1" $((place * step)))" = "rookery: place $place" ] && continue
    echo "The card reports $size MiB for $1 but does not keep data written at $((place * step)) MiB: its real capacity is smaller, or it is broken. It is not used. Replace it." >&2
    return 1
  done
}

prepare_data_partition() { # DISK DEVICE ACCEPTED
  [ -b "$2" ] || { echo "$2 does not exist: the card has no data partition." >&2; return 1; }
  grow_partition "$1" "$2" || echo "$2 could not be grown and is used with its present size." >&2
  if ! formatting_has_begun "$1" && [ -n "$(recorded_data "$1")" ] && is_blank "$2"; then
    echo "$2 held the file system $(recorded_data "$1") of this card and is blank now: the card lost it, or it was erased. It is not formatted again. Flash the card again, or replace it." >&2
    return 1
  fi
  if formatting_has_begun "$1" || is_blank "$2"; then
    has_its_reported_size "$2" || return
    mark_formatting "$1" "$formatting_mark" || return
    # One inode per 256 KiB, because a node has few, large files. Lazy initialisation, because writing all inode tables of a large card takes minutes and wears it.
    read -r uuid </proc/sys/kernel/random/uuid
    # After an error in the file system it becomes read-only, so that the error does not spread.
    mkfs.ext4 -q -F -L rookery-data -U "$uuid" -e remount-ro -i 262144 -m 1 -E lazy_itable_init=1,lazy_journal_init=1 "$2" >&2 || return
    sync
    record_data "$1" "$uuid" || return
    # Written before the partition is used; otherwise the next boot would format it again.
    mark_formatting "$1" "$formatted_mark" || { echo "Writing $1 failed: the card is broken and is not used. Replace it." >&2; return 1; }
    echo "$2 was blank and has been formatted." >&2
  fi
  case $(blkid -p -s TYPE -o value "$2") in
    ext4) ;;
    *)
      echo "$2 is neither blank nor an ext4 file system and is left unchanged. To use the card, save its data and flash it again." >&2
      return 1
      ;;
  esac
  is_own_data "$1" "$2" "${3-}" || return
  # Exit code 0: clean, 1: repaired. Any other needs a person's decision.
  e2fsck -p "$2" >&2
  [ $? -le 1 ] || { echo "$2 is damaged and could not be repaired automatically. Run 'e2fsck $2' and answer its questions." >&2; return 1; }
}

grow_file_system() { # DEVICE: grows a mounted ext4 to the size of its partition
  # Growing a mounted ext4 is journalled: a power cut leaves it at some size between the old and the new, and the next boot continues.
  resize2fs "$1" >/dev/null 2>/run/rookery-image/resize.log || { cat /run/rookery-image/resize.log >&2; echo "$1 could not be grown and is used with its present size." >&2; }
}
