# Tests the check of the radios' firmware (image/radios).

setup() {
  radios=$BATS_TEST_DIRNAME/../radios
  root=$BATS_TEST_TMPDIR
  mkdir -p "$root/usr/lib/firmware/brcm"
  sed '/^#/d' "$radios.list" | cut -d' ' -f2- | tr ' ' '\n' | grep -v '^-$' | while read -r file; do touch "$root/usr/lib/firmware/brcm/$file"; done
}

@test "An image with all listed firmware passes" {
  run "$radios" "$root" bcm2711-rpi-4-b.dtb some/bcm2711-rpi-400.dtb
  [ "$status" -eq 0 ]
  [ -z "$output" ]
}

@test "Firmware that a new lock loses is named with its board" {
  rm "$root/usr/lib/firmware/brcm/brcmfmac43430-sdio.bin"
  run "$radios" "$root"
  [ "$status" -ne 0 ]
  [[ $output == *"lacks brcm/brcmfmac43430-sdio.bin, without which bcm2837-rpi-3-b has no Wi-Fi"* ]]
}

@test "A link that leads nowhere is no firmware" {
  ln -sf ../cypress/gone "$root/usr/lib/firmware/brcm/brcmfmac43455-sdio.bin"
  run "$radios" "$root"
  [ "$status" -ne 0 ]
}

@test "A board that is not listed is named" {
  run "$radios" "$root" bcm2712-rpi-6-b.dtb
  [ "$status" -eq 0 ]
  [[ $output == *"no line for bcm2712-rpi-6-b"* ]]
}

@test "The board table tells which boards have no Wi-Fi" {
  table=$(sed -n '/^## Boards/,$p' "$BATS_TEST_DIRNAME/../../docs/explanation/image.md")
  [[ $table == *"Zero 2 W and Pi 400 have no Wi-Fi"* ]]
  [ "$(grep -c ' -$' "$radios.list")" -eq 2 ]
}
