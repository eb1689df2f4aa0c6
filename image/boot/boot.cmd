# Rookery: which of the two root slots is started, and how one that does not come up is left again.
#
# Two sectors of 512 bytes before the first partition, 16 and 17, hold the state (a CRC-32, then slot=, trial= and tries=); either alone suffices, so a power
# cut while one is written leaves the other. They are written only while an update is on trial. See docs/explanation/image.md.
setenv slot a
setenv trial
setenv tries 0
# Memory begins at 0 on a Pi and at 0x40000000 on QEMU's virt. The stock addresses leave 34 MiB for a kernel; Debian's takes more.
setexpr base ${kernel_addr_r} \& 0xf0000000
setexpr state ${base} + 0x2300000
setexpr kernel ${base} + 0x4000000
setexpr ramdisk ${base} + 0xc000000

${devtype} dev ${devnum}
if ${devtype} read ${state} 10 1 && env import -c ${state} 200 slot trial tries; then
  echo "Rookery: slot ${slot}, on trial: ${trial} ${tries}"
elif ${devtype} read ${state} 11 1 && env import -c ${state} 200 slot trial tries; then
  echo "Rookery: by the second sector: slot ${slot}, on trial: ${trial} ${tries}"
else
  echo "Rookery: no slot state: slot a"
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

# What the owner adds to the kernel's command line: extra=... in boot.env.
setenv extra
if load ${devtype} ${devnum}:1 ${state} boot.env; then
  env import -t ${state} ${filesize} extra
fi

if test "${chosen}" = b; then setenv order "b a"; else setenv order "a b"; fi
# A name that no variable of the environment has: that would be taken for the loop's.
for candidate in ${order}; do
  if test ${candidate} = b; then setenv part 3; else setenv part 2; fi
  part uuid ${devtype} ${devnum}:${part} uuid
  setenv bootargs "root=PARTUUID=${uuid} ro rootwait panic=10 rookery.slot=${candidate} quiet systemd.ssh_auto=no damon_stat.enabled=N console=tty1 ${extra}"
  if load ${devtype} ${devnum}:${part} ${kernel} /boot/vmlinuz; then
    if load ${devtype} ${devnum}:${part} ${ramdisk} /boot/initrd.img; then
      echo "Rookery: starting slot ${candidate}"
      booti ${kernel} ${ramdisk}:${filesize} ${fdt_addr}
    fi
  fi
  echo "Rookery: slot ${candidate} cannot be started"
done
echo "Rookery: neither slot can be started; flash the card anew, your data are on its fourth partition or on the drive"
sleep 60
reset
