# SPDX-License-Identifier: Apache-2.0
# Sourced by ./with-rxe and uml.sh: finds the Debian packages that they need.
# shellcheck shell=bash
# shellcheck disable=SC2154,SC2034 # variables of with-rxe and its other parts, and of uml.sh

# Prints the missing packages. They are detected by their files, since names differ between releases.
missing_packages() {
  command -v qemu-system-x86_64 >/dev/null || echo qemu-system-x86
  command -v modprobe >/dev/null || echo kmod
  command -v cpio >/dev/null || echo cpio
  missing_for_rdma
  [ "$with_tools" ] || return 0
  command -v ib_send_lat >/dev/null || echo perftest
  command -v ibv_devinfo >/dev/null || echo ibverbs-utils
  command -v rping >/dev/null || echo rdmacm-utils
}

# Prints the missing packages that any machine with a software device needs.
missing_for_rdma() {
  { command -v setpriv && command -v flock; } >/dev/null || echo util-linux
  command -v perl >/dev/null || echo perl-base
  { command -v ip && command -v rdma && command -v tc; } >/dev/null || echo iproute2
  compgen -G '/usr/lib/*/libibverbs.so.1' >/dev/null || echo libibverbs1
  compgen -G '/usr/lib/*/librdmacm.so.1' >/dev/null || echo librdmacm1
  compgen -G '/usr/lib/*/libibverbs/librxe-*.so' >/dev/null || echo ibverbs-providers
}
