# Tests how a card is told apart from others, and how one that does not keep what is written is found. On loop devices. Needs root.

setup() {
  [ "$(id -u)" -eq 0 ] || skip "needs root for loop devices"
  # shellcheck source=image/files/usr/lib/rookery-image/own-disk.sh
  . "$BATS_TEST_DIRNAME/../files/usr/lib/rookery-image/own-disk.sh"
  card=$BATS_TEST_TMPDIR/card.img
  truncate -s 16M "$card"
  printf 'label: dos\nlabel-id: 0x524b5259\nstart=2048,size=2048,type=c\nstart=4096,size=2048,type=83\nstart=6144,size=2048,type=83\nstart=8192,size=16384,type=83\n' | sfdisk --quiet "$card"
  disk=$(losetup --find --show "$card")
  starts=$BATS_TEST_TMPDIR/starts
}

teardown() {
  [ -z "${disk-}" ] || losetup --detach "$disk"
}

disk_id() { blkid -p -s PTUUID -o value "$disk"; }

next_start() { keeps_a_write "$disk" && kept_the_last_start "$disk" "$starts" some-uuid "${1-}"; }

@test "A card draws an identifier of its own once, and nothing else of its first sectors changes" {
  partitions=$(sfdisk --dump "$disk" | sed -n 's/.*\(start=.*\)/\1/p')
  draw_disk_id "$disk"
  drawn=$(disk_id)
  [ "$drawn" != 524b5259 ]
  [ "$(sfdisk --dump "$disk" | sed -n 's/.*\(start=.*\)/\1/p')" = "$partitions" ]
  draw_disk_id "$disk"
  [ "$(disk_id)" = "$drawn" ]
  # Two cards draw different ones.
  sfdisk --quiet --disk-id "$disk" 0x524b5259
  draw_disk_id "$disk"
  [ "$(disk_id)" != "$drawn" ]
}

@test "Of several disks with one identifier the one of U-Boot's kind is started" {
  [ "$(own_root mmc /dev/sda2 /dev/mmcblk0p2 /dev/sdb2)" = /dev/mmcblk0p2 ]
  [ "$(own_root usb /dev/mmcblk0p2 /dev/sda2)" = /dev/sda2 ]
  [ "$(own_root nvme /dev/sda2 /dev/nvme0n1p2)" = /dev/nvme0n1p2 ]
  [ "$(own_root '' /dev/sda2)" = /dev/sda2 ]
  # A kind that the kernel names otherwise.
  [ "$(own_root scsi /dev/sda2)" = /dev/sda2 ]
}

@test "Of two copies on disks of one kind none is chosen" {
  run own_root usb /dev/sda2 /dev/sdb2 /dev/mmcblk0p2
  [ "$status" -ne 0 ]
  [ "$output" = /dev/sda2 ]
  run own_root '' /dev/sda2 /dev/mmcblk0p2
  [ "$status" -ne 0 ]
}

@test "A card that keeps what is written passes at each start" {
  next_start
  next_start
  next_start
  [ "$(start_number "$disk")" -eq 3 ]
  read -r number id <"$starts"
  [ "$number" -eq 3 ]
  [ "$id" = "$(disk_id)" ]
}

@test "A card that swallows writes is told at once" {
  next_start
  # The card confirms and keeps its old contents.
  write_note() { :; }
  run next_start
  [ "$status" -ne 0 ]
  [[ $output == *"confirmed the write of start 2 and returned its old contents"* ]]
}

@test "The number is read from the card and not from the kernel's memory" {
  next_start
  # The contents of the card change below the kernel, as if it had kept the old ones.
  eval "honest_$(declare -f write_note)"
  write_note() {
    honest_write_note "$@"
    dd if=/dev/zero of="$card" bs=512 seek="$2" count=1 conv=notrunc,fsync oflag=direct status=none
  }
  run next_start
  [ "$status" -ne 0 ]
  [[ $output == *"the card no longer keeps what is written"* ]]
}

@test "A card that returns an old value after a restart is told with the value" {
  next_start
  next_start
  old=$(read_note "$disk" "$start_sector")
  next_start
  write_note "$disk" "$start_sector" "$old"
  run next_start
  [ "$status" -ne 0 ]
  [[ $output == *"it had stored start 3, and after the restart it returned start 2"* ]]
  [[ $output == *"extra=rookery.data=some-uuid"* ]]
  run next_start another-uuid
  [ "$status" -ne 0 ]
  next_start some-uuid
  # From then on without being told.
  next_start
}

@test "A sector that a power cut damaged during the write is written again" {
  next_start
  next_start
  for damaged in '' 'rookery: sta' 'rookery: start 0x' 'rookery: start 12345678901'; do
    dd if=/dev/zero of="$disk" bs=512 seek="$start_sector" count=1 conv=notrunc,fsync status=none
    write_note "$disk" "$start_sector" "$damaged"
    before=$(cut -d' ' -f1 "$starts")
    # A cut after the first of its two writes changes nothing.
    keeps_a_write "$disk"
    run next_start
    [ "$status" -eq 0 ]
    [[ $output == *"has no number of its last start, which was $before"* ]]
    [ "$(start_number "$disk")" -eq $((before + 1)) ]
    [ "$(cut -d' ' -f1 "$starts")" -eq $((before + 1)) ]
  done
}

@test "The sector that is written at each start is far from the partition table and the other sectors" {
  next_start
  [ "$(head -c 262144 "$disk" | tail -c +513 | tr -d '\000' | wc -c)" -eq 0 ]
  # And before the first partition.
  [ "$start_sector" -lt 2048 ]
}

@test "A full data partition is used" {
  mkdir "$BATS_TEST_TMPDIR/full"
  mount -t tmpfs -o size=64k tmpfs "$BATS_TEST_TMPDIR/full"
  starts=$BATS_TEST_TMPDIR/full/starts
  next_start
  dd if=/dev/zero of="$BATS_TEST_TMPDIR/full/fill" bs=4k status=none || :
  run next_start
  umount "$BATS_TEST_TMPDIR/full"
  [ "$status" -eq 0 ]
  [[ $output == *"The data partition is full"* ]]
}

@test "Starts that a power cut ended before the data partition was mounted are no old value" {
  next_start
  keeps_a_write "$disk"
  keeps_a_write "$disk"
  next_start
}

@test "The numbers of another disk say nothing about this one" {
  echo '57 0badcafe' >"$starts"
  next_start
  [ "$(cut -d' ' -f1 "$starts")" -eq 1 ]
}
