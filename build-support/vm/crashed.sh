# SPDX-License-Identifier: Apache-2.0
# Called by the virtual machine's kernel, with the core dump as standard input, which is not read: crashed.sh PROCESS
# SIGNAL. Records a process that died of SIGSEGV or SIGABRT; see guest.sh.
# shellcheck shell=bash
case $2 in
  6) signal=SIGABRT ;;
  11) signal=SIGSEGV ;;
  *) exit ;;
esac
# The program's name: the kernel passes only the thread's.
program=$(readlink "/proc/$1/exe")
echo "${program##*/} of $signal" >>/run/rxe/crashed
