# SPDX-License-Identifier: Apache-2.0
# Sourced by ./with-rxe: the virtual machine's kernel and initramfs, and the choice of the accelerator. All files are in
# the folder $cache and are put there by a rename, so that a file that exists is complete.
# shellcheck shell=bash
# shellcheck disable=SC2154,SC2034 # variables of with-rxe and its other parts

# In the order of loading. rdma_rxe requests crc32 by a name that modprobe does not recognize as a dependency, and
# reports only "failed to add" without it.
MODULES=(virtio_pci virtio_console virtio_rng virtio_net 9p 9pnet_virtio overlay crc32_generic ib_uverbs rdma_ucm
  rdma_rxe veth sch_netem)

# Sets kernel, version and initramfs.
need_kernel() {
  {
    flock 9
    version=$(newest_kernel)
    if [ -z "$version" ]; then
      fetch_kernel
      version=$(newest_kernel)
    fi
    kernel=$cache/kernel-$version/vmlinuz
    initramfs=$cache/initramfs-$(initramfs_key).gz
    [ -f "$initramfs" ] || build_initramfs
  } 9>"$cache/kernel.lock"
  explain "the kernel is $version; remove $cache to fetch a newer one"
}

newest_kernel() {
  find "$cache" -maxdepth 1 -type d -name 'kernel-*' | sed 's/.*kernel-//' | sort -V | tail -n 1
}

# Prints the package of the distribution's default kernel: Debian's and Ubuntu's name for it.
kernel_package() {
  local name
  for name in linux-image-amd64 linux-image-generic; do
    apt-cache depends "$name" 2>/dev/null | sed -n 's/^ *Depends: \(linux-image-[0-9].*\)/\1/p' | grep . && return
  done
}

# Downloads the kernel without installing it, and a static busybox.
fetch_kernel() {
  local package version extra packages
  command -v apt-get >/dev/null || { say "fetching a kernel needs apt-get"; exit 1; }
  package=$(kernel_package | head -n 1)
  if [ -z "$package" ] && [ "$(id -u)" -eq 0 ]; then
    say "reading the lists of packages"
    quiet_apt 300 update >"$run/fetch.log" 2>&1 || true
    package=$(kernel_package | head -n 1)
  fi
  [ "$package" ] || { say "no kernel package found; try: sudo apt-get update"; exit 1; }
  version=${package#linux-image-}
  packages=("$package" busybox-static)
  # Ubuntu has the modules in separate packages.
  for extra in "linux-modules-$version" "linux-modules-extra-$version"; do
    ! apt-cache show "$extra" >/dev/null 2>&1 || packages+=("$extra")
  done
  say "fetching a kernel for the virtual machine, once: ${packages[*]}, into $cache"
  mkdir "$run/packages" "$run/tree"
  if ! download "${packages[@]}"; then
    # The package lists may be older than the mirror.
    [ "$(id -u)" -ne 0 ] || quiet_apt 300 update >>"$run/fetch.log" 2>&1 || true
    download "${packages[@]}" || { cat "$run/fetch.log" >&2; say "cannot fetch ${packages[*]}"; exit 1; }
  fi
  unpack_kernel "$version"
}

download() {
  # As root, apt-get would download as an unprivileged user, without write permission here.
  (cd "$run/packages" && apt-get download -qq -o APT::Sandbox::User=root "$@") >>"$run/fetch.log" 2>&1
}

# Extracts from the packages only what a boot needs.
unpack_kernel() {
  local version=$1 package new tree=$run/tree
  for package in "$run"/packages/*.deb; do dpkg-deb -x "$package" "$tree"; done
  # A killed run may have left its own; the lock excludes others.
  rm -rf "$cache"/new.*
  new=$(mktemp -d "$cache/new.XXXXXX")
  mkdir -p "$new/lib/modules"
  mv "$tree/boot/vmlinuz-$version" "$new/vmlinuz"
  mv "$(find "$tree" -name busybox -type f -perm -u+x | head -n 1)" "$new/busybox"
  mv "$(find "$tree" -path "*/lib/modules/$version" -type d | head -n 1)" "$new/lib/modules/"
  # Removes drivers of devices that virtual machines do not have.
  (
    cd "$new/lib/modules/$version/kernel" || exit
    rm -rf sound drivers/{gpu,media,usb,scsi,iio,staging,net/ethernet,net/wireless}
  )
  depmod -b "$new" "$version"
  chmod 755 "$new"
  mv -T "$new" "$cache/kernel-$version"
  rm -rf "$run/packages" "$tree"
}

# Prints a key of the initramfs's contents.
initramfs_key() {
  { cat "$parts/init"; echo "$version ${MODULES[*]}"; } | sha256sum | cut -c 1-16
}

build_initramfs() {
  local tree=$run/initramfs module file name base=$cache/kernel-$version
  say "creating the file system with which the virtual machine boots, once"
  mkdir -p "$tree/bin" "$tree/modules"
  cp "$base/busybox" "$tree/bin/busybox"
  install -m 755 "$parts/init" "$tree/init"
  for module in "${MODULES[@]}"; do
    modprobe -d "$base" -S "$version" --show-depends "$module"
  done | sed -n 's/^insmod \([^ ]*\).*/\1/p' | awk '!seen[$0]++' | while read -r file; do
    name=${file##*/}
    name=${name%.ko*}.ko
    case $file in
      *.xz) xz -dc "$file" ;;
      *.zst) zstd -dcq "$file" ;;
      *.gz) gzip -dc "$file" ;;
      *) cat "$file" ;;
    esac >"$tree/modules/$name"
    echo "$name" >>"$tree/modules/order"
  done
  (cd "$tree" && find . | cpio --quiet -o -H newc -R 0:0 | gzip -1) >"$run/initramfs.gz"
  cp "$run/initramfs.gz" "$initramfs.$$"
  mv "$initramfs.$$" "$initramfs"
  # Removes those unused for a week; another checkout's may be in use.
  find "$cache" -maxdepth 1 -name 'initramfs-*' -mtime +7 -delete
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
  timeout --signal KILL 20 qemu-system-x86_64 -accel kvm -cpu host -m 512 -nodefaults -display none -no-reboot \
    -kernel "$kernel" -initrd "$initramfs" -append "console=ttyS0 quiet panic=-1 ferrule_probe=1" \
    -serial "file:$run/probe.log" </dev/null >/dev/null 2>&1 || true
  grep -qs ferrule-probe-ok "$run/probe.log"
}
