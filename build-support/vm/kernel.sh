# SPDX-License-Identifier: Apache-2.0
# Sourced by ./with-rxe and ./with-arch: the virtual machine's kernel and initramfs. All files are in the folder $cache
# and are put there by a rename, so that a file that exists is complete. The script sets KERNEL_PACKAGES, the names of
# the package of the distribution's default kernel, and MODULES, in the order of loading.
# shellcheck shell=bash
# shellcheck disable=SC2154,SC2034 # variables of the script and its other parts

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

# Prints the package that the first known one of KERNEL_PACKAGES stands for.
kernel_package() {
  local name
  for name in "${KERNEL_PACKAGES[@]}"; do
    apt-cache depends "$name" 2>/dev/null | sed -n 's/^ *Depends: \(linux-image-[0-9].*\)/\1/p' | grep . && return
  done
}

# Downloads the kernel without installing it, and a static busybox.
fetch_kernel() {
  local package version extra packages
  command -v apt-get >/dev/null || { say "fetching a kernel needs apt-get"; exit 1; }
  package=$(kernel_package | head -n 1)
  if [ -z "$package" ] && can_update; then
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
    ! can_update || quiet_apt 300 update >>"$run/fetch.log" 2>&1 || true
    download "${packages[@]}" || { cat "$run/fetch.log" >&2; say "cannot fetch ${packages[*]}"; exit 1; }
  fi
  unpack_kernel "$version"
}

# Returns whether the lists of packages can be written: those of this machine as root, and those of with-arch.
can_update() {
  [ "${private_lists:-}" ] || [ "$(id -u)" -eq 0 ]
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
  { cat "$vm_parts/init"; echo "$version ${MODULES[*]}"; } | sha256sum | cut -c 1-16
}

build_initramfs() {
  local tree=$run/initramfs module file name base=$cache/kernel-$version
  say "creating the file system with which the virtual machine boots, once"
  mkdir -p "$tree/bin" "$tree/modules"
  cp "$base/busybox" "$tree/bin/busybox"
  install -m 755 "$vm_parts/init" "$tree/init"
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
