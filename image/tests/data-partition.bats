# Tests the preparation of the data partition, on loop devices with the layout of a card. Needs root.

setup() {
  [ "$(id -u)" -eq 0 ] || skip "needs root for loop devices"
  # shellcheck source=image/files/usr/lib/rookery-image/own-disk.sh
  . "$BATS_TEST_DIRNAME/../files/usr/lib/rookery-image/own-disk.sh"
  # shellcheck source=image/files/usr/lib/rookery-image/data-partition.sh
  . "$BATS_TEST_DIRNAME/../files/usr/lib/rookery-image/data-partition.sh"
  card=$BATS_TEST_TMPDIR/card.img
  truncate -s 96M "$card"
  printf 'label: dos\nlabel-id: 0x524b5259\nstart=2048,size=2048,type=c\nstart=4096,size=2048,type=83\nstart=6144,size=2048,type=83\nstart=8192,size=16384,type=83\n' | sfdisk --quiet "$card"
  insert
}

teardown() {
  [ -n "${disk-}" ] || return 0
  partx --delete "$disk"
  losetup --detach "$disk"
  [ -e /run/udev/control ] || rm -f "$disk"p[1-4]
}

insert() { # like a card: the kernel reads its partition table
  teardown
  disk=$(losetup --find --show "$card")
  partx --add "$disk"
  data=$(partition_of "$disk" 4)
  # Without udev, create the device nodes here.
  for partition in "/sys/block/${disk##*/}/${disk##*/}"p*; do
    [ -b "/dev/${partition##*/}" ] || mknod "/dev/${partition##*/}" b $(tr : ' ' <"$partition/dev")
  done
}

file_system() { blkid -p -s "$1" -o value "$data"; }

@test "The parts of a disk are named as the kernel names them" {
  [ "$(disk_of /dev/mmcblk0p2)" = /dev/mmcblk0 ]
  [ "$(disk_of /dev/nvme0n1p3)" = /dev/nvme0n1 ]
  [ "$(disk_of /dev/sda2)" = /dev/sda ]
  [ "$(partition_of /dev/mmcblk0 4)" = /dev/mmcblk0p4 ]
  [ "$(partition_of /dev/vda 4)" = /dev/vda4 ]
}

@test "A blank partition is grown to the end of the card and formatted" {
  prepare_data_partition "$disk" "$data"
  [ "$(file_system TYPE)" = ext4 ]
  [ "$(file_system LABEL)" = rookery-data ]
  [ "$(blockdev --getsz "$data")" -gt 180000 ]
  ! formatting_has_begun "$disk"
}

@test "The contents of a formatted partition are kept" {
  prepare_data_partition "$disk" "$data"
  before=$(file_system UUID)
  prepare_data_partition "$disk" "$data"
  [ "$(file_system UUID)" = "$before" ]
}

@test "A partition with other contents is left unchanged and reported" {
  mkfs.vfat -n HOLIDAY "$data" >/dev/null
  before=$(sha256sum <"$data")
  run prepare_data_partition "$disk" "$data"
  [ "$status" -ne 0 ]
  [[ $output == *"left unchanged"* ]]
  # The partition may have grown, but its bytes may not have changed.
  [ "$(head -c 8388608 "$data" | sha256sum)" = "$before" ]
}

@test "Bytes without any known signature are not blank" {
  printf 'precious' | dd of="$data" bs=1 seek=70000 conv=notrunc status=none
  run prepare_data_partition "$disk" "$data"
  [ "$status" -ne 0 ]
  [ "$(dd if="$data" bs=1 skip=70000 count=8 status=none)" = precious ]
}

@test "Formatting that a power cut interrupted is repeated" {
  mark_formatting "$disk" "$formatting_mark"
  # An interrupted mkfs: tables, but no superblock yet.
  dd if=/dev/urandom of="$data" bs=4096 seek=4 count=16 conv=notrunc status=none
  insert
  prepare_data_partition "$disk" "$data"
  [ "$(file_system TYPE)" = ext4 ]
  ! formatting_has_begun "$disk"
}

@test "A card whose data partition reaches its end is not written to" {
  prepare_data_partition "$disk" "$data"
  before=$(dd if="$disk" bs=512 count=2048 status=none | sha256sum)
  prepare_data_partition "$disk" "$data"
  [ "$(dd if="$disk" bs=512 count=2048 status=none | sha256sum)" = "$before" ]
}

@test "A card that is smaller than it reports is not used, and the message says so" {
  # A counterfeit card: it has 20 MiB less than it reports, and writes data beyond that over its beginning.
  eval "honest_$(declare -f put_block)"
  put_block() { honest_put_block "$1" $(($2 % 60)) "$3"; }
  run prepare_data_partition "$disk" "$data"
  [ "$status" -ne 0 ]
  [[ $output == *"its real capacity is smaller"* ]]
  [ -z "$(file_system TYPE)" ]
}

@test "A card that loses data beyond its real size is not used" {
  eval "honest_$(declare -f put_block)"
  put_block() { [ "$2" -gt 60 ] || honest_put_block "$@"; }
  run prepare_data_partition "$disk" "$data"
  [ "$status" -ne 0 ]
  [ -z "$(file_system TYPE)" ]
}

@test "Data that were there before the card was flashed are told and not used" {
  mkfs.ext4 -q -F -L rookery-data "$data"
  present=$(file_system UUID)
  before=$(sha256sum <"$data")
  run prepare_data_partition "$disk" "$data"
  [ "$status" -ne 0 ]
  [[ $output == *"$present, which was there before this card was flashed"* ]]
  [[ $output == *"extra=rookery.data=$present"* ]]
  [ "$(head -c 8388608 "$data" | sha256sum)" = "$before" ]
  prepare_data_partition "$disk" "$data" "$present"
  [ "$(file_system UUID)" = "$present" ]
  # From then on without being told.
  prepare_data_partition "$disk" "$data"
}

@test "The data of another card are told and not used" {
  prepare_data_partition "$disk" "$data"
  own=$(file_system UUID)
  mkfs.ext4 -q -F -L rookery-data "$data"
  other=$(file_system UUID)
  run prepare_data_partition "$disk" "$data"
  [ "$status" -ne 0 ]
  [[ $output == *"the file system $other, and this card was set up with $own"* ]]
  [ "$(recorded_data "$disk")" = "$own" ]
}

@test "A card that was formatted before its data were recorded keeps them" {
  mkfs.ext4 -q -F -L rookery-data "$data"
  present=$(file_system UUID)
  mark_formatting "$disk" 'rookery: formatted'
  prepare_data_partition "$disk" "$data"
  [ "$(file_system UUID)" = "$present" ]
  [ "$(recorded_data "$disk")" = "$present" ]
}

@test "A record that a power cut damaged is written again" {
  prepare_data_partition "$disk" "$data"
  present=$(file_system UUID)
  for damaged in "rookery: data ${present%????}" 'rookery: da' $'\xff\xff\xff'; do
    dd if=/dev/zero of="$disk" bs=512 seek="$data_sector" count=1 conv=notrunc,fsync status=none
    write_note "$disk" "$data_sector" "$damaged"
    prepare_data_partition "$disk" "$data"
    [ "$(recorded_data "$disk")" = "$present" ]
  done
}

@test "A card whose data are gone is not formatted again" {
  prepare_data_partition "$disk" "$data"
  dd if=/dev/zero of="$data" bs=1M count=8 conv=notrunc,fsync status=none
  run prepare_data_partition "$disk" "$data"
  [ "$status" -ne 0 ]
  [[ $output == *"is blank now: the card lost it, or it was erased"* ]]
  [ -z "$(file_system TYPE)" ]
}

@test "After an error in it the file system becomes read-only" {
  prepare_data_partition "$disk" "$data"
  [[ $(dumpe2fs -h "$data" 2>/dev/null) == *"Errors behavior:          Remount read-only"* ]]
}
