# SPDX-License-Identifier: Apache-2.0
# The virtual machine's kernel calls this, with the core dump as standard input, which is not read:
# crashed.sh PROCESS SIGNAL. Notes a process that died of SIGSEGV or SIGABRT; see guest.sh.
# shellcheck shell=bash
case $2 in
  6) signal=SIGABRT ;;
  11) signal=SIGSEGV ;;
  *) exit ;;
esac
# The program's name, for the kernel only knows that of the thread.
program=$(readlink "/proc/$1/exe")
echo "${program##*/} of $signal" >>/run/rxe/crashed
