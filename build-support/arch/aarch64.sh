# SPDX-License-Identifier: Apache-2.0
# Sourced by ./with-arch: the virtual machine for aarch64, of Debian's packages. All files are in the folder $base and
# are put there by a rename, so that a file that exists is complete.
# shellcheck shell=bash
# shellcheck disable=SC2154,SC2034 # variables of with-arch and its other parts

SUITE=trixie  # Debian 13: the first with a JDK 25, and with a kernel whose pages have 16 KiB
emulator=qemu-system-aarch64
console=ttyAMA0
accelerator=tcg
# Those of the bindings and of Ferrule's scripts, the JDK, and the libraries that a JDK of --jdk may need.
ROOT_PACKAGES=(bash coreutils diffutils findutils grep gzip hostname iproute2 libibverbs1 librdmacm1 ibverbs-providers
  libc-bin libstdc++6 mawk mount openjdk-25-jdk-headless perl-base procps sed util-linux zlib1g)
DEBIANS_JDK=/usr/lib/jvm/java-25-openjdk-arm64
# In the order of loading, with the software device.
MODULES=(virtio_pci virtio_console virtio_rng 9p 9pnet_virtio overlay crc32_generic ib_uverbs rdma_ucm rdma_rxe veth)
# They name what does not exist in the machine, or another processor's programs.
LEFT_OUT+='|^(JAVA_HOME|JAVA25_HOME|JDK_HOME|SDKMAN_DIR|MAVEN_HOME|MAVEN_OPTS|LD_LIBRARY_PATH|LD_PRELOAD|TMPDIR|'
LEFT_OUT+='JEXTRACT|FERRULE_RXE_[A-Z]*)='

# Prints the missing packages of this machine.
missing_packages() {
  command -v "$emulator" >/dev/null || echo qemu-system-arm
  command -v modprobe >/dev/null || echo kmod
  command -v cpio >/dev/null || echo cpio
  command -v xz >/dev/null || echo xz-utils
  command -v perl >/dev/null || echo perl-base
  { command -v setpriv && command -v flock; } >/dev/null || echo util-linux
}

# This processor has pages of 4 and 16 KiB and the atomic instructions of version 8.1, and no pointer authentication,
# which is slow to emulate.
processor_arguments() {
  arguments+=(-machine virt -accel "tcg,thread=multi" -cpu neoverse-n1)
}

# Adds to the job of machine $1 its environment and what it needs for its device; see write_job.
write_device() {
  local address=10.77.0.1 jdk=${given_jdk:-$DEBIANS_JDK}
  printf '%s\0' "PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin:$jdk/bin" "JAVA_HOME=$jdk" \
    FERRULE_ARCH_VM=aarch64 FERRULE_RXE_DEVICE=rxe0 "FERRULE_RXE_ADDRESS=$address" FERRULE_RXE_VM=tcg \
    >>"$run/job$1/environment"
  printf '%s=%q\n' address "$address" >>"$run/job$1/settings"
}

# Sets KERNEL_PACKAGES and root_packages.
choose_packages() {
  local package
  KERNEL_PACKAGES=(linux-image-arm64)
  [ "$pages" = 4 ] || KERNEL_PACKAGES=("linux-image-arm64-${pages}k")
  root_packages=()
  for package in "${ROOT_PACKAGES[@]}"; do
    [ "$given_jdk" ] && [[ $package = openjdk-* ]] || root_packages+=("$package")
  done
}

# Makes apt-get use lists and files of its own for arm64, and leave this machine's packages alone.
use_debian() {
  local apt=$base/apt mirror
  command -v apt-get >/dev/null || { say "fetching Debian's packages needs apt-get"; exit 1; }
  mkdir -p "$apt"/{lists/partial,archives/partial,etc}
  : >"$apt/status"
  mirror=$(debian_mirror)
  if [ -z "$mirror" ] && [ "$(id -u)" -eq 0 ]; then
    say "reading the lists of packages"
    quiet_apt 300 update >/dev/null 2>&1 || true
    mirror=$(debian_mirror)
  fi
  [ "$mirror" ] || { say "apt-get of this machine has no list of Debian; try: sudo apt-get update"; exit 1; }
  echo "deb $(signed_by)$mirror $SUITE main" >"$apt/sources.list"
  cat >"$apt/apt.conf" <<EOT
APT::Architecture "arm64";
APT::Architectures { "arm64"; };
APT::Sandbox::User "root";
Dir::Etc::sourcelist "$apt/sources.list";
Dir::Etc::sourceparts "-";
Dir::Etc::preferences "-";
Dir::Etc::preferencesparts "-";
Dir::State "$apt";
Dir::State::lists "$apt/lists";
Dir::State::status "$apt/status";
Dir::Cache "$apt";
EOT
  export APT_CONFIG=$apt/apt.conf
  private_lists=yes
}

debian_mirror() {
  # shellcheck disable=SC2016 # for apt-get
  apt-get indextargets --format '$(REPO_URI)' 'Created-By: Packages' 'Origin: Debian' 'Label: Debian' 2>/dev/null \
    | head -n 1
}

# Debian's keyring, where apt-get would not find it by itself.
signed_by() {
  local keyring
  for keyring in /usr/share/keyrings/debian-archive-keyring.{pgp,gpg}; do
    [ ! -r "$keyring" ] || { echo "[signed-by=$keyring] "; return; }
  done
}

# Sets files: the root file system, which is made of packages, without their installation scripts.
need_root() {
  local key
  key=$({ echo "$SUITE ${root_packages[*]}"; declare -f unpack_packages; } | sha256sum | cut -c 1-16)
  files=$base/root-$key
  [ -d "$files" ] || make_root
  explain "the root file system is $files; remove $base to fetch newer packages"
}

make_root() {
  local apt=$base/apt new jdk
  say "fetching a root file system for aarch64, once; this takes minutes"
  if ! { quiet_apt 300 update \
    && quiet_apt 1800 install -y --no-install-recommends --download-only "${root_packages[@]}"; } >"$run/fetch.log" 2>&1
  then
    tail -n 5 "$run/fetch.log" >&2
    say "cannot fetch the packages of Debian's $SUITE for arm64; if only a JDK is missing, see --jdk"
    exit 1
  fi
  say "unpacking it"
  # A killed run may have left its own; the lock excludes others.
  rm -rf "$base"/new.*
  new=$(mktemp -d "$base/new.XXXXXX")
  unpack_packages "$apt/archives" "$new" || { say "cannot unpack the packages"; exit 1; }
  chmod 755 "$new"
  mv -T "$new" "$files"
  rm -rf "$apt/archives"
  # Removes those unused for a week; another checkout's may be in use.
  find "$base" -maxdepth 1 -name 'root-*' -mtime +7 ! -path "$files" -exec rm -rf {} +
}

# Unpacks the packages in folder $1 to folder $2, base-files first: it has the links /bin and /lib. Leaves out what only
# people, jlink and editors read.
unpack_packages() {
  local package
  dpkg-deb -x "$1"/base-files_*.deb "$2" || return
  for package in "$1"/*.deb; do
    dpkg-deb --fsys-tarfile "$package" | tar -x --keep-directory-symlink -C "$2" --exclude='./usr/share/doc/*' \
      --exclude='./usr/share/man/*' --exclude='*/jmods' --exclude='*/src.zip' || return
  done
  # Written by installation scripts otherwise.
  cp "$2/usr/share/base-passwd/passwd.master" "$2/etc/passwd" \
    && cp "$2/usr/share/base-passwd/group.master" "$2/etc/group" \
    && echo "127.0.0.1 localhost" >"$2/etc/hosts"
}
