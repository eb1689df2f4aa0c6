# Rookery: selects the root slot to start, and falls back from an update that does not come up.
#
# Sectors 16 and 17, of 512 bytes, before the first partition each hold the whole state (a CRC-32, then slot=, trial= and tries=), so one of them survives a power
# cut while the other is written. This script writes them only while an update is on trial. See docs/explanation/image.md.
setenv slot a
setenv trial
setenv tries 0
# Memory begins at 0 on a Pi and at 0x40000000 on QEMU's virt machine. U-Boot's default addresses leave 34 MiB for a kernel; Debian's is larger.
setexpr base ${kernel_addr_r} \& 0xf0000000
setexpr state ${base} + 0x2300000
setexpr kernel ${base} + 0x4000000
setexpr ramdisk ${base} + 0xc000000

${devtype} dev ${devnum}
if ${devtype} read ${state} 10 1 && env import -c ${state} 200 slot trial tries; then
  echo "Rookery: slot ${slot}, on trial: ${trial} ${tries}"
elif ${devtype} read ${state} 11 1 && env import -c ${state} 200 slot trial tries; then
  echo "Rookery: first sector unreadable, by the second: slot ${slot}, on trial: ${trial} ${tries}"
else
  echo "Rookery: no slot state, using slot a"
fi

# All cards are flashed with one disk identifier. The kernel finds its root by it, so with a second card in a reader it might find the other's. Each card draws its own
# here, at its first start, before the kernel is told. It is one write of one sector. The firmware (or QEMU) puts random numbers into the device tree; without them the
# initial RAM disk draws the identifier, at its first start, for the later ones.
part uuid ${devtype} ${devnum}:2 uuid
if test "${uuid}" = 524b5259-02; then
  setenv drawn
  fdt addr ${fdt_addr}
  fdt get value drawn /chosen rng-seed 1 || fdt get value drawn /chosen kaslr-seed 1
  if test -n "${drawn}" && test "${drawn}" != 0x0 && test "${drawn}" != 0x00000000 && ${devtype} read ${state} 0 1; then
    setexpr place ${state} + 0x1b8
    mw.l ${place} ${drawn}
    if ${devtype} write ${state} 0 1; then
      echo "Rookery: the disk has the identifier ${drawn}"
    else
      echo "Rookery: writing another disk identifier failed, the disk keeps that of all images"
    fi
  fi
fi

setenv chosen ${slot}
if test -n "${trial}" && test ${tries} -gt 0; then
  setenv chosen ${trial}
  setexpr tries ${tries} - 1
  env export -c -s 200 ${state} slot trial tries
  ${devtype} write ${state} 10 1
  ${devtype} write ${state} 11 1
  echo "Rookery: slot ${trial} on trial, ${tries} tries left"
fi

# The owner can add kernel parameters: extra=... in boot.env.
setenv extra
if load ${devtype} ${devnum}:1 ${state} boot.env; then
  env import -t ${state} ${filesize} extra
fi

if test "${chosen}" = b; then setenv order "b a"; else setenv order "a b"; fi
# The loop's variable must not have the name of an environment variable, which U-Boot would use instead.
for candidate in ${order}; do
  if test ${candidate} = b; then setenv part 3; else setenv part 2; fi
  part uuid ${devtype} ${devnum}:${part} uuid
  setenv bootargs "root=PARTUUID=${uuid} ro rootwait panic=10 rookery.slot=${candidate} rookery.disk=${devtype} quiet systemd.ssh_auto=no damon_stat.enabled=N console=tty1 ${extra}"
  if load ${devtype} ${devnum}:${part} ${kernel} /boot/vmlinuz; then
    if load ${devtype} ${devnum}:${part} ${ramdisk} /boot/initrd.img; then
      echo "Rookery: starting slot ${candidate}"
      booti ${kernel} ${ramdisk}:${filesize} ${fdt_addr}
    fi
  fi
  echo "Rookery: slot ${candidate} cannot be started"
done
echo "Rookery: neither slot can be started. Flash the card again; back up its fourth partition first unless the data are on a drive"
sleep 60
reset
