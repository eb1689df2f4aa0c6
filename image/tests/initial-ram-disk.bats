# Runs the scripts of the initial RAM disk as a whole, by its shell and commands (busybox), on cards that are loop devices: starts of a machine, one after the other. Needs root.

setup() {
  [ "$(id -u)" -eq 0 ] || skip "needs root for loop devices"
  command -v busybox >/dev/null || skip "needs busybox"
  top=$BATS_TEST_DIRNAME/../files
  ram=$BATS_TEST_TMPDIR/ram
  mkdir -p "$ram"/{usr,etc,dev,proc,sys,run,conf,scripts,root,busybox,programs} "$BATS_TEST_TMPDIR/slot"/{etc,data,home,boot/firmware,var/lib/systemd,var/lib/rookery}
  ln -s usr/bin usr/sbin usr/lib usr/lib64 "$ram"
  busybox --list | while read -r applet; do ln -s "$(command -v busybox)" "$ram/busybox/$applet"; done
  # As the hook of the initial RAM disk copies them.
  for program in sfdisk partx mkfs.ext4 e2fsck resize2fs blkid blockdev; do ln -s "$(command -v $program)" "$ram/programs/$program"; done
  printf 'log_begin_msg() { :; }\nlog_end_msg() { :; }\n' >"$ram/scripts/functions"
  disks=()
}

teardown() {
  for disk in "${disks[@]}"; do
    partx --delete "$disk"
    losetup --detach "$disk"
    [ -e /run/udev/control ] || rm -f "$disk"p[1-4]
  done
}

insert() { # CARD: a new card, or one that was used before; sets disk
  [ -e "$1" ] || {
    truncate -s 96M "$1"
    printf 'label: dos\nlabel-id: 0x524b5259\nstart=2048,size=4096,type=c\nstart=6144,size=16384,type=83\nstart=22528,size=2048,type=83\nstart=24576,size=16384,type=83\n' | sfdisk --quiet "$1"
    mkfs.vfat --offset=2048 "$1" 2048 >/dev/null
    mke2fs -q -t ext4 -O ^has_journal -d "$BATS_TEST_TMPDIR/slot" -E offset=$((6144 * 512)) "$1" 8M 2>/dev/null
  }
  disk=$(losetup --find --show "$1")
  disks+=("$disk")
  partx --add "$disk"
  for partition in "/sys/block/${disk##*/}/${disk##*/}"p*; do
    [ -b "/dev/${partition##*/}" ] || mknod "/dev/${partition##*/}" b $(tr : ' ' <"$partition/dev")
  done
}

# Starts a machine from a card, as U-Boot and initramfs-tools do, and runs a command in its root. Prints what the scripts and the command print. The power is cut at the end.
start() { # DISK KERNEL_PARAMETERS COMMAND
  echo "root=PARTUUID=$(blkid -p -s PTUUID -o value "$1")-02 ro $2" >"$ram/cmdline"
  rm -f "$ram/conf/param.conf"
  unshare --mount sh -euc '
    cd "$1"
    mount -t overlay -o "lowerdir=$2/usr:/usr" overlay usr
    for at in etc dev proc sys; do mount --rbind "/$at" "$at"; done
    mount --bind cmdline proc/cmdline
    mount -t tmpfs tmpfs run
    exec chroot . /busybox/env PATH=/programs:/busybox rootmnt=/root ROOT="$3" COMMAND="$4" /busybox/sh -c "
      /busybox/sh /usr/share/initramfs-tools/scripts/local-premount/rookery
      [ ! -e /conf/param.conf ] || . /conf/param.conf
      export ROOT
      mount -o ro \$ROOT /root || exit
      /busybox/sh /usr/share/initramfs-tools/scripts/local-bottom/rookery
      cd /root && sh -c \"\$COMMAND\""
  ' sh "$ram" "$top" "$(partition_of "$1" 2)" "$3"
}

partition_of() { echo "$1p$2"; }
disk_id() { blkid -p -s PTUUID -o value "$1"; }

@test "A new card gets an identifier and a data partition, and later starts keep its data" {
  insert "$BATS_TEST_TMPDIR/card"
  run start "$disk" rookery.disk=other 'echo first >var/lib/rookery/kept && echo change >etc/kept && sync && ls run/rookery-image 2>/dev/null; cat data/system/starts'
  [ "$status" -eq 0 ]
  [[ $output == *"was blank and has been formatted"* ]]
  drawn=$(disk_id "$disk")
  [ "$drawn" != 524b5259 ]
  [[ $output == *"1 $drawn"* ]]
  for number in 2 3; do
    run start "$disk" rookery.disk=other 'cat var/lib/rookery/kept etc/kept data/system/starts; ls /run/rookery-image'
    [[ $output == *$'first\nchange\n'"$number $drawn"* ]]
    [[ $output != *no-data* ]]
    [ "$(disk_id "$disk")" = "$drawn" ]
  done
}

@test "With a second card of the same identifier the one of U-Boot's kind is used, or none" {
  insert "$BATS_TEST_TMPDIR/card"
  first=$disk
  insert "$BATS_TEST_TMPDIR/second"
  before=$(sha256sum <"$BATS_TEST_TMPDIR/second")
  # Both are loop devices, of one kind.
  run start "$first" rookery.disk=other 'ls /run/rookery-image'
  [[ $output == *"Several disks have the identifier of this card"* ]]
  [[ $output == *no-data* ]]
  [ "$(sha256sum <"$BATS_TEST_TMPDIR/second")" = "$before" ]
  [ "$(disk_id "$first")" = 524b5259 ]
}

@test "With a card that has another identifier root and data are those of the card that was started" {
  insert "$BATS_TEST_TMPDIR/card"
  first=$disk
  start "$first" rookery.disk=other 'echo first >var/lib/rookery/kept'
  insert "$BATS_TEST_TMPDIR/second"
  before=$(sha256sum <"$BATS_TEST_TMPDIR/second")
  run start "$first" rookery.disk=other 'cat var/lib/rookery/kept /run/rookery-image/disk'
  [[ $output == *$'first\n'"$first"* ]]
  [ "$(sha256sum <"$BATS_TEST_TMPDIR/second")" = "$before" ]
}

@test "A card of an earlier release keeps its data in the new one" {
  insert "$BATS_TEST_TMPDIR/card"
  start "$disk" rookery.disk=other 'echo first >var/lib/rookery/kept; rm data/system/starts'
  # As before there were identifiers, records and numbers of starts.
  sfdisk --quiet --no-reread --no-tell-kernel --disk-id "$disk" 0x524b5259
  for sector in 19 1024; do dd if=/dev/zero of="$disk" bs=512 seek=$sector count=1 conv=notrunc,fsync status=none; done
  for _ in 1 2; do
    run start "$disk" '' 'cat var/lib/rookery/kept; ls /run/rookery-image'
    [[ $output == *first* ]]
    [[ $output != *no-data* ]]
  done
  [ "$(disk_id "$disk")" != 524b5259 ]
}

@test "A card that lost a start is used when the owner accepts its data" {
  insert "$BATS_TEST_TMPDIR/card"
  start "$disk" '' true
  start "$disk" '' 'echo first >var/lib/rookery/kept'
  printf 'rookery: start 1\n' | dd of="$disk" bs=512 seek=1024 count=1 conv=sync,notrunc,fsync status=none
  for _ in 1 2; do
    run start "$disk" '' 'ls /run/rookery-image'
    [[ $output == *"it had stored start 2, and after the restart it returned start 1"* ]]
    [[ $output == *no-data* ]]
  done
  accepted=$(echo "$output" | sed -n 's/.*extra=\(rookery.data=[0-9a-f-]*\).*/\1/p')
  run start "$disk" "$accepted" 'cat var/lib/rookery/kept; ls /run/rookery-image'
  [[ $output == *first* ]]
  [[ $output != *no-data* ]]
}
