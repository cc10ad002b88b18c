# SPDX-License-Identifier: Apache-2.0
# Sourced by ./with-rxe: its virtual machines, which have this machine's files and a software device.
# shellcheck shell=bash
# shellcheck disable=SC2154,SC2034 # variables of with-rxe and its other parts

emulator=qemu-system-x86_64
console=ttyS0
files=/
KERNEL_PACKAGES=(linux-image-amd64 linux-image-generic)  # in Debian and in Ubuntu
# rdma_rxe requests crc32 by a name that modprobe does not recognize as a dependency, and reports only "failed to add"
# without it.
MODULES=(virtio_pci virtio_console virtio_rng virtio_net 9p 9pnet_virtio overlay crc32_generic ib_uverbs rdma_ucm
  rdma_rxe veth sch_netem)

# Adds the processor to QEMU's arguments.
processor_arguments() {
  case $accelerator in
    kvm) arguments+=(-accel kvm -cpu host) ;;
    *)
      # QEMU emulates "rep movsb" byte by byte, but the kernel and HotSpot consider it fast if the processor has erms or
      # fsrm; and la57 adds a step to each walk of page tables. Without them, a JVM starts about 20 % faster.
      arguments+=(-accel "tcg,thread=multi" -cpu max,-erms,-fsrm,-la57)
      ;;
  esac
}

# Adds to the job of machine $1 what it needs for its device; see write_job. A test may need programs in /sbin.
write_device() {
  local peer='' address=10.77.0.$1
  cp "$parts/rxe-wire" "$run/job$1/bin"
  [ -z "$two" ] || peer=10.77.0.$((3 - $1))
  {
    printf '%s\0' "PATH=$caller_path:/run/rxe/job/bin:/usr/sbin:/sbin" \
      FERRULE_RXE_DEVICE=rxe0 "FERRULE_RXE_ADDRESS=$address" "FERRULE_RXE_VM=$accelerator"
    [ -z "$two" ] || printf '%s\0' "FERRULE_RXE_HOST=$1" "FERRULE_RXE_PEER=$peer"
  } >>"$run/job$1/environment"
  printf '%s=%q\n' address "$address" peer "$peer" >>"$run/job$1/settings"
}

# Sets accelerator. A machine may hang despite /dev/kvm, so only a boot proves that KVM works. The answer is valid until
# the host reboots.
choose_accelerator() {
  local answer
  accelerator=${FERRULE_RXE_ACCEL:-}
  case $accelerator in
    kvm | tcg) return ;;
    ?*) say "FERRULE_RXE_ACCEL must be kvm or tcg"; exit 2 ;;
  esac
  accelerator=tcg
  [ -r /dev/kvm ] && [ -w /dev/kvm ] || return 0
  answer=$cache/accelerator-$(</proc/sys/kernel/random/boot_id)
  {
    flock 9
    if [ ! -f "$answer" ]; then
      explain "testing KVM, for at most 20 s"
      rm -f "$cache"/accelerator-*
      # In a subshell, since this shell would report QEMU's death by a signal.
      if (boots_with_kvm) 2>/dev/null; then echo kvm; else echo tcg; fi >"$run/accelerator"
      cp "$run/accelerator" "$answer"
    fi
  } 9>"$cache/accelerator.lock"
  accelerator=$(<"$answer")
  explain "the accelerator is $accelerator"
}

boots_with_kvm() {
  timeout --signal KILL 20 "$emulator" -accel kvm -cpu host -m 512 -nodefaults -display none -no-reboot \
    -kernel "$kernel" -initrd "$initramfs" -append "console=ttyS0 quiet panic=-1 ferrule_probe=1" \
    -serial "file:$run/probe.log" </dev/null >/dev/null 2>&1 || true
  grep -qs ferrule-probe-ok "$run/probe.log"
}
