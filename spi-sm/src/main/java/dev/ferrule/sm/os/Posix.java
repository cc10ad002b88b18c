// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.sm.os;

import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import dev.ferrule.bindings.libc.LibC;
import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemoryLayout.PathElement;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.StructLayout;
import java.lang.invoke.MethodHandle;
import java.lang.invoke.VarHandle;
import java.util.function.LongBinaryOperator;

/**
 * The C functions that the provider calls, one method each, with the same name and arguments. A
 * method throws {@link PosixException} where C returns -1. Functions that commonly fail in normal
 * operation return {@code -errno} instead, as the kernel does, so that no exception is created.
 *
 * <p>The generated bindings do not capture errno, so the handles are linked here, from the
 * bindings' addresses and descriptors.
 *
 * <p>A call that captures errno slices the segment for it, which the compiler often, but not
 * always, eliminates. Functions of the data path therefore have a second handle that captures
 * nothing, for the call itself. Only a call that failed, and so had no effect, is repeated for its
 * errno.
 */
final class Posix {

  private static final Linker LINKER = Linker.nativeLinker();
  private static final Linker.Option ERRNO_OPTION = Linker.Option.captureCallState("errno");
  private static final StructLayout STATE = Linker.Option.captureStateLayout();
  private static final VarHandle ERRNO = STATE.varHandle(PathElement.groupElement("errno"));

  // The bindings were generated on x86-64, where these have other values than on aarch64.
  private static final boolean AARCH64 = System.getProperty("os.arch").equals("aarch64");
  private static final long SYS_MEMBARRIER = AARCH64 ? 283 : LibC.SYS_membarrier();
  private static final long SYS_FUTEX = AARCH64 ? 98 : LibC.SYS_futex();

  // linux/futex.h; not among the bindings
  private static final int FUTEX_WAIT = 0;
  private static final int FUTEX_WAKE = 1;

  /** Do not follow a symbolic link. */
  static final int O_NOFOLLOW = AARCH64 ? 0100000 : LibC.O_NOFOLLOW();

  /** Open directories only. */
  static final int O_DIRECTORY = AARCH64 ? 040000 : 0200000;

  /** Identify a file without opening it for reading or writing. Not among the bindings. */
  static final int O_PATH = 010000000;

  // glibc has a function fstat since 2.33 only, so it is called by its number; the kernel's struct
  // stat has its size and its blocks at the same place on both machines, and the other fields
  // elsewhere
  private static final long SYS_FSTAT = AARCH64 ? 80 : 5;
  private static final long STAT_ROOM = 256;
  private static final long STAT_MODE = AARCH64 ? 16 : 24;
  private static final long STAT_UID = AARCH64 ? 24 : 28;
  private static final long STAT_LINKS = AARCH64 ? 20 : 16;
  private static final long STAT_SIZE = 48;
  private static final long STAT_BLOCKS = 64;
  private static final long BLOCK = 512;

  private static final long TMPFS_MAGIC = 0x01021994;

  // linux/mman.h; not among the bindings
  private static final int MREMAP_MAYMOVE = 1;
  private static final int MREMAP_FIXED = 2;

  /** Memory allocated by one call, which takes some tenths of a millisecond. */
  private static final long ALLOCATED_AT_ONCE = 1 << 20;

  private static final long PAGE = LibC.getpagesize();

  private static final MethodHandle OPEN =
      variadic(LibC.open.makeInvoker(JAVA_INT).descriptor(), LibC.open.address(), 2);
  private static final MethodHandle OPENAT =
      variadic(LibC.openat.makeInvoker(JAVA_INT).descriptor(), LibC.openat.address(), 3);
  private static final MethodHandle FCNTL_POINTER =
      variadic(LibC.fcntl.makeInvoker(LibC.C_POINTER).descriptor(), LibC.fcntl.address(), 2);
  private static final MethodHandle SYSCALL_3 =
      LINKER.downcallHandle(
          LibC.syscall.address(),
          LibC.syscall.makeInvoker(LibC.C_INT, LibC.C_INT, LibC.C_INT).descriptor(),
          Linker.Option.firstVariadicArg(1));
  private static final MethodHandle SYSCALL_FUTEX =
      LINKER.downcallHandle(
          LibC.syscall.address(),
          LibC.syscall.makeInvoker(JAVA_LONG, LibC.C_INT, LibC.C_INT, JAVA_LONG).descriptor(),
          Linker.Option.firstVariadicArg(1));
  private static final MethodHandle SYSCALL_FSTAT =
      variadic(
          LibC.syscall.makeInvoker(LibC.C_INT, LibC.C_POINTER).descriptor(),
          LibC.syscall.address(),
          1);
  private static final MethodHandle CLOSE = link(LibC.close$address(), LibC.close$descriptor());
  private static final MethodHandle MKFIFO = link(LibC.mkfifo$address(), LibC.mkfifo$descriptor());
  private static final MethodHandle MKDIR = link(LibC.mkdir$address(), LibC.mkdir$descriptor());
  private static final MethodHandle MMAP = link(LibC.mmap$address(), LibC.mmap$descriptor());
  private static final MethodHandle MUNMAP = link(LibC.munmap$address(), LibC.munmap$descriptor());
  private static final MethodHandle MREMAP =
      variadic(
          FunctionDescriptor.of(
              LibC.C_POINTER, LibC.C_POINTER, JAVA_LONG, JAVA_LONG, JAVA_INT, LibC.C_POINTER),
          LINKER.defaultLookup().findOrThrow("mremap"),
          4);
  private static final MethodHandle READ = linkPlain(LibC.read$address(), LibC.read$descriptor());
  private static final MethodHandle WRITE =
      linkPlain(LibC.write$address(), LibC.write$descriptor());
  private static final MethodHandle WRITE_AGAIN =
      link(LibC.write$address(), LibC.write$descriptor());
  private static final MethodHandle SOCKET = link(LibC.socket$address(), LibC.socket$descriptor());
  private static final MethodHandle BIND = link(LibC.bind$address(), LibC.bind$descriptor());
  private static final MethodHandle EPOLL_CREATE1 =
      link(LibC.epoll_create1$address(), LibC.epoll_create1$descriptor());
  private static final MethodHandle EPOLL_CTL =
      link(LibC.epoll_ctl$address(), LibC.epoll_ctl$descriptor());
  private static final MethodHandle EPOLL_WAIT =
      linkPlain(LibC.epoll_wait$address(), LibC.epoll_wait$descriptor());
  private static final MethodHandle PROCESS_VM_READV =
      linkPlain(LibC.process_vm_readv$address(), keeping(LibC.process_vm_readv$descriptor()));
  private static final MethodHandle PROCESS_VM_READV_AGAIN =
      link(LibC.process_vm_readv$address(), keeping(LibC.process_vm_readv$descriptor()));
  private static final MethodHandle PROCESS_VM_WRITEV =
      linkPlain(LibC.process_vm_writev$address(), keeping(LibC.process_vm_writev$descriptor()));
  private static final MethodHandle PROCESS_VM_WRITEV_AGAIN =
      link(LibC.process_vm_writev$address(), keeping(LibC.process_vm_writev$descriptor()));
  private static final FunctionDescriptor IOCTL_KEEPING =
      keeping(LibC.ioctl.makeInvoker(LibC.C_POINTER).descriptor());
  private static final MethodHandle IOCTL =
      LINKER.downcallHandle(LibC.ioctl.address(), IOCTL_KEEPING, Linker.Option.firstVariadicArg(2));
  private static final MethodHandle IOCTL_AGAIN = variadic(IOCTL_KEEPING, LibC.ioctl.address(), 2);
  private static final MethodHandle FCNTL_INT =
      variadic(LibC.fcntl.makeInvoker(JAVA_INT).descriptor(), LibC.fcntl.address(), 2);
  private static final MethodHandle MEMFD_CREATE =
      link(LibC.memfd_create$address(), LibC.memfd_create$descriptor());
  private static final MethodHandle FTRUNCATE =
      link(LibC.ftruncate$address(), LibC.ftruncate$descriptor());
  private static final MethodHandle MADVISE =
      link(LibC.madvise$address(), LibC.madvise$descriptor());
  private static final MethodHandle SETSOCKOPT =
      link(LibC.setsockopt$address(), LibC.setsockopt$descriptor());
  private static final MethodHandle SENDMSG =
      link(LibC.sendmsg$address(), LibC.sendmsg$descriptor());
  private static final MethodHandle RECVMSG =
      link(LibC.recvmsg$address(), LibC.recvmsg$descriptor());
  private static final MethodHandle EVENTFD =
      link(LibC.eventfd$address(), LibC.eventfd$descriptor());

  private Posix() {}

  static int open(String path, int flags, int mode) {
    int result = tryOpen(path, flags, mode);
    if (result < 0) {
      throw new PosixException("open", path, -result);
    }
    return result;
  }

  /** As open, but returns -errno. */
  static int tryOpen(String path, int flags, int mode) {
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment state = arena.allocate(STATE);
      int result =
          (int) OPEN.invokeExact(state, arena.allocateFrom(path), flags | LibC.O_CLOEXEC(), mode);
      return result < 0 ? -errno(state) : result;
    } catch (Throwable e) {
      throw unexpected(e);
    }
  }

  /**
   * Opens a name in an open directory unless it is a symbolic link; returns the descriptor or
   * -errno.
   */
  static int tryOpenAt(int directory, String name, int flags) {
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment state = arena.allocate(STATE);
      int result =
          (int)
              OPENAT.invokeExact(
                  state,
                  directory,
                  arena.allocateFrom(name),
                  flags | O_NOFOLLOW | LibC.O_CLOEXEC(),
                  0);
      return result < 0 ? -errno(state) : result;
    } catch (Throwable e) {
      throw unexpected(e);
    }
  }

  static FileStatus fstat(int fd) {
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment state = arena.allocate(STATE);
      MemorySegment stat = arena.allocate(STAT_ROOM, Long.BYTES);
      long result = (long) SYSCALL_FSTAT.invokeExact(state, SYS_FSTAT, fd, stat);
      check((int) result, state, "fstat", "fd " + fd);
      return new FileStatus(
          stat.get(JAVA_INT, STAT_MODE),
          stat.get(JAVA_INT, STAT_UID),
          // 8 bytes on x86-64; truncation does not matter below 2^32 links
          stat.get(JAVA_INT, STAT_LINKS),
          stat.get(JAVA_LONG, STAT_SIZE),
          stat.get(JAVA_LONG, STAT_BLOCKS) * BLOCK);
    } catch (Throwable e) {
      throw unexpected(e);
    }
  }

  /** Returns whether a file is in a tmpfs; false if that cannot be determined. */
  static boolean isInTmpfs(int fd) {
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment statfs = arena.allocate(STAT_ROOM, Long.BYTES);
      return LibC.fstatfs(fd, statfs) == 0 && statfs.get(JAVA_LONG, 0) == TMPFS_MAGIC;
    }
  }

  static void close(int fd) {
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment state = arena.allocate(STATE);
      // on Linux close releases the descriptor even when it reports an error, so errors are ignored
      int ignored = (int) CLOSE.invokeExact(state, fd);
    } catch (Throwable e) {
      throw unexpected(e);
    }
  }

  /** Returns 0 or -errno. */
  static int mkdir(String path, int mode) {
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment state = arena.allocate(STATE);
      int result = (int) MKDIR.invokeExact(state, arena.allocateFrom(path), mode);
      return result < 0 ? -errno(state) : result;
    } catch (Throwable e) {
      throw unexpected(e);
    }
  }

  static void mkfifo(String path, int mode) {
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment state = arena.allocate(STATE);
      int result = (int) MKFIFO.invokeExact(state, arena.allocateFrom(path), mode);
      check(result, state, "mkfifo", path);
    } catch (Throwable e) {
      throw unexpected(e);
    }
  }

  /** fcntl with a struct flock; returns 0 or -errno. */
  static int fcntl(int fd, int command, MemorySegment flock) {
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment state = arena.allocate(STATE);
      int result = (int) FCNTL_POINTER.invokeExact(state, fd, command, flock);
      return result < 0 ? -errno(state) : result;
    } catch (Throwable e) {
      throw unexpected(e);
    }
  }

  /** fcntl with a number; returns its result or -errno. */
  static int fcntl(int fd, int command, int argument) {
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment state = arena.allocate(STATE);
      int result = (int) FCNTL_INT.invokeExact(state, fd, command, argument);
      return result < 0 ? -errno(state) : result;
    } catch (Throwable e) {
      throw unexpected(e);
    }
  }

  /** Returns the descriptor or -errno. */
  static int memfdCreate(String name, int flags) {
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment state = arena.allocate(STATE);
      int result = (int) MEMFD_CREATE.invokeExact(state, arena.allocateFrom(name), flags);
      return result < 0 ? -errno(state) : result;
    } catch (Throwable e) {
      throw unexpected(e);
    }
  }

  static void ftruncate(int fd, long size, String subject) {
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment state = arena.allocate(STATE);
      int result = (int) FTRUNCATE.invokeExact(state, fd, size);
      check(result, state, "ftruncate", subject);
    } catch (Throwable e) {
      throw unexpected(e);
    }
  }

  /** Returns 0 or -errno. */
  static int madvise(MemorySegment memory, int advice) {
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment state = arena.allocate(STATE);
      int result = (int) MADVISE.invokeExact(state, memory, memory.byteSize(), advice);
      return result < 0 ? -errno(state) : result;
    } catch (Throwable e) {
      throw unexpected(e);
    }
  }

  /** Returns 0 or the error, which this function does not store in errno. */
  static int posixFallocate(int fd, long offset, long length) {
    return inPieces(length, (done, piece) -> LibC.posix_fallocate(fd, offset + done, piece));
  }

  /**
   * Allocates piece by piece. A signal, such as a profiler's, interrupts a call, and the kernel
   * then frees the memory that the call has allocated. A call that takes longer than the time
   * between two signals would therefore never succeed.
   *
   * @param length how much, in bytes
   * @param allocate called with an offset and a length; returns 0 or the error
   * @return 0 or the error, which is not EINTR
   */
  static int inPieces(long length, LongBinaryOperator allocate) {
    long most = ALLOCATED_AT_ONCE;
    long done = 0;
    while (done < length) {
      long piece = Math.min(most, length - done);
      int error = (int) allocate.applyAsLong(done, piece);
      if (error == 0) {
        done += piece;
      } else if (error == LibC.EINTR()) {
        most = Math.max(PAGE, most / 2);
      } else {
        return error;
      }
    }
    return 0;
  }

  static MemorySegment mmap(long length, int protection, int flags, int fd, String subject) {
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment state = arena.allocate(STATE);
      MemorySegment result =
          (MemorySegment)
              MMAP.invokeExact(state, MemorySegment.NULL, length, protection, flags, fd, 0L);
      if (result.address() == -1) {
        throw new PosixException("mmap", subject, errno(state));
      }
      return result;
    } catch (Throwable e) {
      throw unexpected(e);
    }
  }

  /**
   * Moves a mapping over another one of the same length, which it replaces in one step. That takes
   * no memory, so no memory limit applies. Other limits are checked first, so that a failure has no
   * effect.
   *
   * @return 0 or -errno
   */
  static int replaceMapping(MemorySegment replaced, MemorySegment by, long length) {
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment state = arena.allocate(STATE);
      int flags = MREMAP_MAYMOVE | MREMAP_FIXED;
      MemorySegment result =
          (MemorySegment) MREMAP.invokeExact(state, by, length, length, flags, replaced);
      return result.address() == -1 ? -errno(state) : 0;
    } catch (Throwable e) {
      throw unexpected(e);
    }
  }

  /**
   * Maps the pages of a shared mapping a second time, elsewhere: mremap(2) with an old size of 0.
   *
   * @throws PosixException EINVAL if the mapping is not shared any more
   */
  static MemorySegment duplicateMapping(MemorySegment shared, long length) {
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment state = arena.allocate(STATE);
      MemorySegment result =
          (MemorySegment)
              MREMAP.invokeExact(state, shared, 0L, length, MREMAP_MAYMOVE, MemorySegment.NULL);
      if (result.address() == -1) {
        throw new PosixException("mremap", length + " bytes of shared memory", errno(state));
      }
      return result.reinterpret(length);
    } catch (PosixException e) {
      throw e;
    } catch (Throwable e) {
      throw unexpected(e);
    }
  }

  static void munmap(MemorySegment mapping, long length) {
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment state = arena.allocate(STATE);
      int result = (int) MUNMAP.invokeExact(state, mapping, length);
      check(result, state, "munmap", "0x" + Long.toHexString(mapping.address()));
    } catch (Throwable e) {
      throw unexpected(e);
    }
  }

  /** Returns the number of bytes read; negative if there are none, or the call fails. */
  static long read(int fd, MemorySegment buffer) {
    try {
      return (long) READ.invokeExact(fd, buffer, buffer.byteSize());
    } catch (Throwable e) {
      throw unexpected(e);
    }
  }

  /** Returns the number of bytes written, or -errno. */
  static long write(int fd, MemorySegment buffer) {
    try {
      long result = (long) WRITE.invokeExact(fd, buffer, buffer.byteSize());
      return result < 0 ? writeAgain(fd, buffer) : result;
    } catch (Throwable e) {
      throw unexpected(e);
    }
  }

  private static long writeAgain(int fd, MemorySegment buffer) throws Throwable {
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment state = arena.allocate(STATE);
      long result = (long) WRITE_AGAIN.invokeExact(state, fd, buffer, buffer.byteSize());
      return result < 0 ? -errno(state) : result;
    }
  }

  static int socket(int domain, int type) {
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment state = arena.allocate(STATE);
      int result = (int) SOCKET.invokeExact(state, domain, type, 0);
      return check(result, state, "socket", "AF_UNIX");
    } catch (Throwable e) {
      throw unexpected(e);
    }
  }

  static void bind(int fd, MemorySegment address, int length, String subject) {
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment state = arena.allocate(STATE);
      int result = (int) BIND.invokeExact(state, fd, address, length);
      check(result, state, "bind", subject);
    } catch (Throwable e) {
      throw unexpected(e);
    }
  }

  static void setsockopt(int fd, int option, int value) {
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment state = arena.allocate(STATE);
      int result =
          (int)
              SETSOCKOPT.invokeExact(
                  state,
                  fd,
                  LibC.SOL_SOCKET(),
                  option,
                  arena.allocateFrom(JAVA_INT, value),
                  Integer.BYTES);
      check(result, state, "setsockopt", "fd " + fd);
    } catch (Throwable e) {
      throw unexpected(e);
    }
  }

  /** Returns the number of bytes sent, or -errno. */
  static long sendmsg(int fd, MemorySegment message, int flags) {
    return messageCall(SENDMSG, fd, message, flags);
  }

  /** Returns the number of bytes received, or -errno. */
  static long recvmsg(int fd, MemorySegment message, int flags) {
    return messageCall(RECVMSG, fd, message, flags);
  }

  private static long messageCall(MethodHandle call, int fd, MemorySegment message, int flags) {
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment state = arena.allocate(STATE);
      long result = (long) call.invokeExact(state, fd, message, flags);
      return result < 0 ? -errno(state) : result;
    } catch (Throwable e) {
      throw unexpected(e);
    }
  }

  static int epollCreate() {
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment state = arena.allocate(STATE);
      int result = (int) EPOLL_CREATE1.invokeExact(state, LibC.EPOLL_CLOEXEC());
      return check(result, state, "epoll_create1", "");
    } catch (Throwable e) {
      throw unexpected(e);
    }
  }

  static void epollCtl(int epoll, int operation, int fd, MemorySegment event) {
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment state = arena.allocate(STATE);
      int result = (int) EPOLL_CTL.invokeExact(state, epoll, operation, fd, event);
      check(result, state, "epoll_ctl", "fd " + fd);
    } catch (Throwable e) {
      throw unexpected(e);
    }
  }

  /** Returns the number of events; negative if a signal interrupts the wait, or the call fails. */
  static int epollWait(int epoll, MemorySegment events, int maxEvents, int timeoutMs) {
    try {
      return (int) EPOLL_WAIT.invokeExact(epoll, events, maxEvents, timeoutMs);
    } catch (Throwable e) {
      throw unexpected(e);
    }
  }

  static int eventfd() {
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment state = arena.allocate(STATE);
      int result = (int) EVENTFD.invokeExact(state, 0, LibC.EFD_CLOEXEC() | LibC.EFD_NONBLOCK());
      return check(result, state, "eventfd", "");
    } catch (Throwable e) {
      throw unexpected(e);
    }
  }

  /**
   * Sleeps while a word has a value, for at most the timespec at an address; 0 means no timeout.
   * May return spuriously; errno is not reported, because no caller distinguishes the reasons.
   */
  static void futexWait(long address, int value, long timespec) {
    futex(address, FUTEX_WAIT, value, timespec);
  }

  /** Wakes a thread that sleeps on a word. */
  static void futexWake(long address) {
    futex(address, FUTEX_WAKE, 1, 0);
  }

  /** Takes addresses instead of segments, for which compiled code would allocate objects. */
  private static void futex(long address, int operation, int value, long timespec) {
    try {
      long ignored =
          (long) SYSCALL_FUTEX.invokeExact(SYS_FUTEX, address, operation, value, timespec);
    } catch (Throwable e) {
      throw unexpected(e);
    }
  }

  /** membarrier(2), for which glibc has no function. Its errno is not reported. */
  static boolean membarrier(int command) {
    try {
      return (long) SYSCALL_3.invokeExact(SYS_MEMBARRIER, command, 0, 0) == 0;
    } catch (Throwable e) {
      throw unexpected(e);
    }
  }

  /**
   * Adds an argument that the function ignores and that the calling conventions leave to the
   * caller: memory that the function receives by address only, and that is not freed during the
   * call because it is an argument.
   */
  private static FunctionDescriptor keeping(FunctionDescriptor function) {
    return function.appendArgumentLayouts(LibC.C_POINTER);
  }

  /** Reads one piece from another process; returns the number of bytes, or -errno. */
  static long processVmReadv(
      int pid, MemorySegment local, MemorySegment remote, MemorySegment kept) {
    try {
      long result = (long) PROCESS_VM_READV.invokeExact(pid, local, 1L, remote, 1L, 0L, kept);
      return result < 0 ? again(PROCESS_VM_READV_AGAIN, pid, local, remote, kept) : result;
    } catch (Throwable e) {
      throw unexpected(e);
    }
  }

  /** Writes one piece to another process; returns the number of bytes, or -errno. */
  static long processVmWritev(
      int pid, MemorySegment local, MemorySegment remote, MemorySegment kept) {
    try {
      long result = (long) PROCESS_VM_WRITEV.invokeExact(pid, local, 1L, remote, 1L, 0L, kept);
      return result < 0 ? again(PROCESS_VM_WRITEV_AGAIN, pid, local, remote, kept) : result;
    } catch (Throwable e) {
      throw unexpected(e);
    }
  }

  private static long again(
      MethodHandle copy, int pid, MemorySegment local, MemorySegment remote, MemorySegment kept)
      throws Throwable {
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment state = arena.allocate(STATE);
      long result = (long) copy.invokeExact(state, pid, local, 1L, remote, 1L, 0L, kept);
      return result < 0 ? -errno(state) : result;
    }
  }

  /** Returns the driver's result, or -errno. */
  static int ioctl(int fd, long request, MemorySegment argument) {
    return ioctl(fd, request, argument, argument);
  }

  /**
   * As {@link #ioctl(int, long, MemorySegment)}, for an argument that contains the address of
   * memory, which is not freed meanwhile.
   */
  static int ioctl(int fd, long request, MemorySegment argument, MemorySegment kept) {
    try {
      int result = (int) IOCTL.invokeExact(fd, request, argument, kept);
      return result < 0 ? ioctlAgain(fd, request, argument, kept) : result;
    } catch (Throwable e) {
      throw unexpected(e);
    }
  }

  private static int ioctlAgain(int fd, long request, MemorySegment argument, MemorySegment kept)
      throws Throwable {
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment state = arena.allocate(STATE);
      int result = (int) IOCTL_AGAIN.invokeExact(state, fd, request, argument, kept);
      return result < 0 ? -errno(state) : result;
    }
  }

  private static int check(int result, MemorySegment state, String function, String subject) {
    if (result < 0) {
      throw new PosixException(function, subject, errno(state));
    }
    return result;
  }

  private static int errno(MemorySegment state) {
    return (int) ERRNO.get(state, 0L);
  }

  private static MethodHandle link(MemorySegment address, FunctionDescriptor descriptor) {
    return LINKER.downcallHandle(address, descriptor, ERRNO_OPTION);
  }

  private static MethodHandle linkPlain(MemorySegment address, FunctionDescriptor descriptor) {
    return LINKER.downcallHandle(address, descriptor);
  }

  private static MethodHandle variadic(
      FunctionDescriptor descriptor, MemorySegment address, int fixedArguments) {
    return LINKER.downcallHandle(
        address, descriptor, ERRNO_OPTION, Linker.Option.firstVariadicArg(fixedArguments));
  }

  private static RuntimeException unexpected(Throwable e) {
    if (e instanceof RuntimeException runtime) {
      return runtime;
    }
    if (e instanceof Error error) {
      throw error;
    }
    throw new AssertionError("a downcall cannot throw a checked exception", e);
  }
}
