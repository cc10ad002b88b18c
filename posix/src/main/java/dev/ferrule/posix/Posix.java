// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.posix;

import static java.lang.foreign.ValueLayout.ADDRESS;
import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import dev.ferrule.posix.libc.LibC;
import dev.ferrule.posix.libc.cpu_set_t;
import dev.ferrule.posix.libc.rlimit;
import dev.ferrule.posix.libc.statfs;
import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemoryLayout;
import java.lang.foreign.MemorySegment;
import java.lang.invoke.MethodHandle;
import java.lang.ref.Reference;
import java.util.BitSet;
import java.util.function.LongBinaryOperator;

/**
 * The functions of the C library that Ferrule calls, one method each, with the same name and
 * arguments. A method throws {@link PosixException} where C returns -1, if its javadoc says so.
 * Others, which commonly fail in normal operation, return the error, most as {@code -errno}, so
 * that no exception is created.
 *
 * <p>Functions of the data path have handles of their own, which allocate nothing and capture no
 * errno. A call that failed, and so had no effect, is repeated by another handle to obtain errno.
 *
 * <p><b>Threads:</b> safe for use by several threads.
 */
public final class Posix {

  private static final Abi ABI = Abi.CURRENT;
  private static final long SYS_MEMBARRIER = ABI.membarrier();
  private static final long SYS_FUTEX = ABI.futex();

  // linux/futex.h; not among the bindings
  private static final int FUTEX_WAIT = 0;
  private static final int FUTEX_WAKE = 1;

  /** Open for reading. */
  public static final int O_RDONLY = LibC.O_RDONLY();

  /** Open for writing. */
  public static final int O_WRONLY = LibC.O_WRONLY();

  /** Open for reading and writing. */
  public static final int O_RDWR = LibC.O_RDWR();

  /** Create the file if it does not exist. */
  public static final int O_CREAT = LibC.O_CREAT();

  /** Do not block: neither when it is opened, nor later. */
  public static final int O_NONBLOCK = LibC.O_NONBLOCK();

  /**
   * Command of fcntl(2): set the flags of an open file, of which {@link #O_NONBLOCK} can be
   * changed.
   */
  public static final int F_SETFL = LibC.F_SETFL();

  /** Command of fcntl(2): add seals to a file in memory. */
  public static final int F_ADD_SEALS = LibC.F_ADD_SEALS();

  /** Command of fcntl(2): return the seals of a file in memory. */
  public static final int F_GET_SEALS = LibC.F_GET_SEALS();

  /** Seal: the file cannot become smaller. */
  public static final int F_SEAL_SHRINK = LibC.F_SEAL_SHRINK();

  /** Seal: the file cannot become larger. */
  public static final int F_SEAL_GROW = LibC.F_SEAL_GROW();

  /** Seal: no further seals can be added. */
  public static final int F_SEAL_SEAL = LibC.F_SEAL_SEAL();

  /** File in memory: close it when the process executes another program. */
  public static final int MFD_CLOEXEC = LibC.MFD_CLOEXEC();

  /** File in memory: seals can be added. */
  public static final int MFD_ALLOW_SEALING = LibC.MFD_ALLOW_SEALING();

  /** File in memory: in huge pages. */
  public static final int MFD_HUGETLB = LibC.MFD_HUGETLB();

  /** Protection: no access. */
  public static final int PROT_NONE = LibC.PROT_NONE();

  /** Protection: pages can be read. */
  public static final int PROT_READ = LibC.PROT_READ();

  /** Protection: pages can be written. */
  public static final int PROT_WRITE = LibC.PROT_WRITE();

  /** Mapping: writes are seen by other processes that map the file. */
  public static final int MAP_SHARED = LibC.MAP_SHARED();

  /** Mapping: writes are seen by this process only. */
  public static final int MAP_PRIVATE = LibC.MAP_PRIVATE();

  /** Mapping: zeros, without a file. */
  public static final int MAP_ANONYMOUS = LibC.MAP_ANONYMOUS();

  /** Mapping: reserve no memory for it. */
  public static final int MAP_NORESERVE = LibC.MAP_NORESERVE();

  /** Mapping: allocate its pages now, as far as there is memory. */
  public static final int MAP_POPULATE = LibC.MAP_POPULATE();

  /** {@link #madvise}: frees the pages of private memory, which then reads as zeros. */
  public static final int MADV_DONTNEED = LibC.MADV_DONTNEED();

  /** {@link #madvise}: frees the pages of a file in memory, which then reads as zeros. */
  public static final int MADV_REMOVE = LibC.MADV_REMOVE();

  /**
   * The position of the binary logarithm of the size of huge pages, in the flags of mmap(2) and
   * memfd_create(2).
   */
  public static final int MAP_HUGE_SHIFT = LibC.MAP_HUGE_SHIFT();

  /** Resource: bytes of memory that may be locked. */
  public static final int RLIMIT_MEMLOCK = LibC.RLIMIT_MEMLOCK();

  /**
   * File in memory: it can never be executed. Not among the bindings. A kernel before 6.3 does not
   * support it, and one with vm.memfd_noexec=2 requires it.
   */
  public static final int MFD_NOEXEC_SEAL = 0x8;

  /** Do not follow a symbolic link. */
  public static final int O_NOFOLLOW = ABI.noFollow();

  /** Open directories only. */
  public static final int O_DIRECTORY = ABI.directory();

  /** Identify a file without opening it for reading or writing. Not among the bindings. */
  public static final int O_PATH = 010000000;

  // glibc before 2.33 has no function fstat, so the system call is made by its number. In the
  // kernel's struct stat, the size and the blocks are at the same place on all machines.
  private static final long SYS_FSTAT = ABI.fstat();
  private static final long STAT_ROOM = 256;
  private static final long STAT_MODE = ABI.statMode();
  private static final long STAT_UID = ABI.statUser();
  private static final long STAT_LINKS = ABI.statLinks();
  private static final long STAT_SIZE = 48;
  private static final long STAT_BLOCKS = 64;
  private static final long BLOCK = 512;

  /** Type of a file system: tmpfs. */
  public static final long TMPFS_MAGIC = 0x01021994;

  // linux/mman.h; not among the bindings
  private static final int MREMAP_MAYMOVE = 1;
  private static final int MREMAP_FIXED = 2;

  /** Memory allocated by one call, which takes some tenths of a millisecond. */
  private static final long ALLOCATED_AT_ONCE = 1 << 20;

  /** The size of a page of memory in bytes. */
  public static final long PAGE = (int) function("getpagesize").plain();

  private static final NativeFunction OPEN = function("open");
  private static final NativeFunction OPENAT = function("openat");
  private static final NativeFunction CLOSE = function("close");
  private static final NativeFunction FCNTL = function("fcntl");
  private static final NativeFunction FTRUNCATE = function("ftruncate");
  private static final NativeFunction FSTATFS = function("fstatfs");
  private static final NativeFunction POSIX_FALLOCATE = function("posix_fallocate");
  private static final NativeFunction MKFIFO = function("mkfifo");
  private static final NativeFunction MKDIR = function("mkdir");
  private static final NativeFunction MEMFD_CREATE = function("memfd_create");
  private static final NativeFunction MMAP = function("mmap");
  private static final NativeFunction MUNMAP = function("munmap");
  private static final NativeFunction MREMAP = function("mremap");
  private static final NativeFunction MADVISE = function("madvise");
  private static final NativeFunction SOCKET = function("socket");
  private static final NativeFunction BIND = function("bind");
  private static final NativeFunction SETSOCKOPT = function("setsockopt");
  private static final NativeFunction SENDMSG = function("sendmsg");
  private static final NativeFunction RECVMSG = function("recvmsg");
  private static final NativeFunction POLL = function("poll");
  private static final NativeFunction EPOLL_CREATE1 = function("epoll_create1");
  private static final NativeFunction EPOLL_CTL = function("epoll_ctl");
  private static final NativeFunction EVENTFD = function("eventfd");
  private static final NativeFunction SYSCALL = function("syscall");
  private static final NativeFunction STATFS = function("statfs");
  private static final NativeFunction GETRLIMIT = function("getrlimit");
  private static final NativeFunction SCHED_GETAFFINITY = function("sched_getaffinity");
  private static final NativeFunction SCHED_SETAFFINITY = function("sched_setaffinity");
  private static final NativeFunction GETEUID = function("geteuid");
  private static final NativeFunction STRERROR = function("strerror");

  private static final NativeFunction WRITE_AGAIN = function("write");
  private static final NativeFunction PROCESS_VM_READV_AGAIN = function("process_vm_readv");
  private static final NativeFunction PROCESS_VM_WRITEV_AGAIN = function("process_vm_writev");
  private static final NativeFunction IOCTL_AGAIN = function("ioctl");

  private static final MethodHandle READ = link("read", JAVA_LONG, JAVA_INT, ADDRESS, JAVA_LONG);
  private static final MethodHandle WRITE = link("write", JAVA_LONG, JAVA_INT, ADDRESS, JAVA_LONG);
  private static final MethodHandle EPOLL_WAIT =
      link("epoll_wait", JAVA_INT, JAVA_INT, ADDRESS, JAVA_INT, JAVA_INT);
  private static final MethodHandle FUTEX =
      link("syscall", JAVA_LONG, JAVA_LONG, JAVA_LONG, JAVA_INT, JAVA_INT, JAVA_LONG);
  private static final MethodHandle MEMBARRIER =
      link("syscall", JAVA_LONG, JAVA_LONG, JAVA_INT, JAVA_INT, JAVA_INT);

  // The function ignores their last argument, which the calling conventions permit. It is memory
  // whose address another argument contains: as an argument, it is not freed during the call.
  private static final MethodHandle PROCESS_VM_READV = linkCopy("process_vm_readv");
  private static final MethodHandle PROCESS_VM_WRITEV = linkCopy("process_vm_writev");
  private static final MethodHandle IOCTL =
      link("ioctl", JAVA_INT, JAVA_INT, JAVA_LONG, ADDRESS, ADDRESS);

  private Posix() {}

  /**
   * Opens a file.
   *
   * @param path the file
   * @param flags the flags; O_CLOEXEC is added
   * @param mode the permissions of a file that is created
   * @return the descriptor
   * @throws PosixException if that fails
   */
  public static int open(String path, int flags, int mode) {
    int result = tryOpen(path, flags, mode);
    if (result < 0) {
      throw new PosixException("open", path, -result);
    }
    return result;
  }

  /**
   * Opens a file.
   *
   * @param path the file
   * @param flags the flags; O_CLOEXEC is added
   * @param mode the permissions of a file that is created
   * @return the descriptor, or {@code -errno}
   */
  public static int tryOpen(String path, int flags, int mode) {
    try (Arena arena = Arena.ofConfined()) {
      return OPEN.status(arena.allocateFrom(path), flags | LibC.O_CLOEXEC(), mode);
    }
  }

  /**
   * Opens a name in an open directory unless it is a symbolic link.
   *
   * @param directory the directory's descriptor
   * @param name the name
   * @param flags the flags; O_NOFOLLOW and O_CLOEXEC are added
   * @return the descriptor, or {@code -errno}
   */
  public static int tryOpenAt(int directory, String name, int flags) {
    try (Arena arena = Arena.ofConfined()) {
      int all = flags | O_NOFOLLOW | LibC.O_CLOEXEC();
      return OPENAT.status(directory, arena.allocateFrom(name), all, 0);
    }
  }

  /**
   * Returns the status of an open file.
   *
   * @param fd the file
   * @return the status
   * @throws PosixException if the descriptor is not open
   */
  public static FileStatus fstat(int fd) {
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment stat = arena.allocate(STAT_ROOM, Long.BYTES);
      check(SYSCALL.status(SYS_FSTAT, fd, stat), "fstat", "fd " + fd);
      return new FileStatus(
          stat.get(JAVA_INT, STAT_MODE),
          stat.get(JAVA_INT, STAT_UID),
          // 8 bytes on x86-64; truncation does not matter below 2^32 links
          stat.get(JAVA_INT, STAT_LINKS),
          stat.get(JAVA_LONG, STAT_SIZE),
          stat.get(JAVA_LONG, STAT_BLOCKS) * BLOCK);
    }
  }

  /**
   * Returns whether a file is in a tmpfs.
   *
   * @param fd the file
   * @return whether it is; false if that cannot be determined
   */
  public static boolean isInTmpfs(int fd) {
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment status = arena.allocate(STAT_ROOM, Long.BYTES);
      return FSTATFS.status(fd, status) == 0 && status.get(JAVA_LONG, 0) == TMPFS_MAGIC;
    }
  }

  /**
   * Closes a descriptor. Errors are ignored.
   *
   * @param fd the descriptor
   */
  public static void close(int fd) {
    // on Linux close releases the descriptor even when it reports an error, so errors are ignored
    int ignored = CLOSE.status(fd);
  }

  /**
   * Creates a directory.
   *
   * @param path the directory
   * @param mode its permissions
   * @return 0, or {@code -errno}
   */
  public static int mkdir(String path, int mode) {
    try (Arena arena = Arena.ofConfined()) {
      return MKDIR.status(arena.allocateFrom(path), mode);
    }
  }

  /**
   * Creates a named pipe.
   *
   * @param path the pipe
   * @param mode its permissions
   * @throws PosixException if that fails
   */
  public static void mkfifo(String path, int mode) {
    try (Arena arena = Arena.ofConfined()) {
      check(MKFIFO.status(arena.allocateFrom(path), mode), "mkfifo", path);
    }
  }

  /**
   * Executes a command of fcntl(2) with a {@code struct flock}.
   *
   * @param fd the file
   * @param command the command
   * @param flock the argument
   * @return 0, or {@code -errno}
   */
  public static int fcntl(int fd, int command, MemorySegment flock) {
    return FCNTL.status(fd, command, flock);
  }

  /**
   * Executes a command of fcntl(2) with a number.
   *
   * @param fd the file
   * @param command the command
   * @param argument the argument
   * @return the result, or {@code -errno}
   */
  public static int fcntl(int fd, int command, int argument) {
    return FCNTL.status(fd, command, argument);
  }

  /**
   * Creates a file in memory, with the given flags only: MFD_CLOEXEC is not added.
   *
   * @param name its name, which /proc shows
   * @param flags the flags
   * @return the descriptor, or {@code -errno}
   */
  public static int memfdCreate(String name, int flags) {
    try (Arena arena = Arena.ofConfined()) {
      return MEMFD_CREATE.status(arena.allocateFrom(name), flags);
    }
  }

  /**
   * Sets the size of a file.
   *
   * @param fd the file
   * @param size the size in bytes
   * @param subject what it is, for the exception
   * @throws PosixException if that fails
   */
  public static void ftruncate(int fd, long size, String subject) {
    check(FTRUNCATE.status(fd, size), "ftruncate", subject);
  }

  /**
   * Gives the kernel advice about memory.
   *
   * @param memory the memory, from the start of a page
   * @param advice the advice
   * @return 0, or {@code -errno}
   */
  public static int madvise(MemorySegment memory, int advice) {
    return MADVISE.status(memory, memory.byteSize(), advice);
  }

  /**
   * Allocates a part of a file, so that a later access to it cannot fail.
   *
   * @param fd the file
   * @param offset the start of the part
   * @param length its length in bytes
   * @return 0, or the error
   */
  public static int posixFallocate(int fd, long offset, long length) {
    return inPieces(length, (done, piece) -> -POSIX_FALLOCATE.error(fd, offset + done, piece));
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
      } else if (error == Errno.EINTR) {
        most = Math.max(PAGE, most / 2);
      } else {
        return error;
      }
    }
    return 0;
  }

  /**
   * Maps a file, or memory without one.
   *
   * @param length the length in bytes
   * @param protection the protection
   * @param flags the flags
   * @param fd the file, or -1
   * @param subject what it is, for the exception
   * @return the mapping, of size 0
   * @throws PosixException if that fails
   */
  public static MemorySegment mmap(long length, int protection, int flags, int fd, String subject) {
    long result = MMAP.longStatus(0, length, protection, flags, fd, 0);
    return MemorySegment.ofAddress(check(result, "mmap", subject));
  }

  /**
   * Moves a mapping over another one of the same length, which it replaces in one step. That takes
   * no memory, so no memory limit applies. Other limits are checked first, so that a failure has no
   * effect.
   *
   * @param replaced the mapping to replace
   * @param by the mapping to move
   * @param length the length of both in bytes
   * @return 0, or {@code -errno}
   */
  public static int replaceMapping(MemorySegment replaced, MemorySegment by, long length) {
    int flags = MREMAP_MAYMOVE | MREMAP_FIXED;
    return (int) Math.min(0, MREMAP.longStatus(by, length, length, flags, replaced));
  }

  /**
   * Maps the pages of a shared mapping a second time, elsewhere: mremap(2) with an old size of 0.
   *
   * @param shared the mapping
   * @param length its length in bytes
   * @return the second mapping
   * @throws PosixException EINVAL if the mapping is no longer shared
   */
  public static MemorySegment duplicateMapping(MemorySegment shared, long length) {
    long result = MREMAP.longStatus(shared, 0, length, MREMAP_MAYMOVE, 0);
    check(result, "mremap", length + " bytes of shared memory");
    return MemorySegment.ofAddress(result).reinterpret(length);
  }

  /**
   * Maps a file at an address, in place of any existing mapping.
   *
   * @param address the address, the start of a page
   * @param length the length in bytes
   * @param protection the protection
   * @param flags the flags; MAP_FIXED is added
   * @param fd the file, or -1
   * @param subject what it is, for the exception
   * @throws PosixException if that fails
   */
  public static void mmapOver(
      long address, long length, int protection, int flags, int fd, String subject) {
    int all = flags | LibC.MAP_FIXED();
    check(MMAP.longStatus(address, length, protection, all, fd, 0), "mmap", subject);
  }

  /**
   * Removes a mapping.
   *
   * @param mapping the mapping
   * @param length its length in bytes
   * @throws PosixException if that fails
   */
  public static void munmap(MemorySegment mapping, long length) {
    int result = MUNMAP.status(mapping, length);
    check(result, "munmap", "0x" + Long.toHexString(mapping.address()));
  }

  /**
   * Removes a mapping, where a failure is ignored: the kernel may lack memory to split one.
   *
   * @param address its start
   * @param length its length in bytes
   */
  public static void tryMunmap(long address, long length) {
    int ignored = MUNMAP.status(address, length);
  }

  /**
   * Reads. Allocates nothing.
   *
   * @param fd the file
   * @param buffer the destination
   * @return the number of bytes read; negative if there are none, or the call fails
   */
  public static long read(int fd, MemorySegment buffer) {
    int fault = NativeFunction.fault("read");
    if (fault != 0) {
      return -fault;
    }
    try {
      return (long) READ.invokeExact(fd, buffer, buffer.byteSize());
    } catch (Throwable e) {
      throw NativeFunction.unexpected(e);
    }
  }

  /**
   * Writes. Allocates nothing.
   *
   * @param fd the file
   * @param buffer the bytes
   * @return the number of bytes written, or {@code -errno}
   */
  public static long write(int fd, MemorySegment buffer) {
    try {
      long result = (long) WRITE.invokeExact(fd, buffer, buffer.byteSize());
      return result < 0 ? WRITE_AGAIN.longStatus(fd, buffer, buffer.byteSize()) : result;
    } catch (Throwable e) {
      throw NativeFunction.unexpected(e);
    }
  }

  /**
   * Creates a socket.
   *
   * @param domain the domain
   * @param type the type
   * @return the descriptor
   * @throws PosixException if that fails
   */
  public static int socket(int domain, int type) {
    return check(SOCKET.status(domain, type, 0), "socket", "AF_UNIX");
  }

  /**
   * Binds a socket to an address.
   *
   * @param fd the socket
   * @param address the address
   * @param length its length in bytes
   * @param subject what it is, for the exception
   * @throws PosixException if that fails
   */
  public static void bind(int fd, MemorySegment address, int length, String subject) {
    check(BIND.status(fd, address, length), "bind", subject);
  }

  /**
   * Sets an option of level SOL_SOCKET.
   *
   * @param fd the socket
   * @param option the option
   * @param value its value
   * @throws PosixException if that fails
   */
  public static void setsockopt(int fd, int option, int value) {
    try (Arena arena = Arena.ofConfined()) {
      int result = trySetsockopt(fd, option, arena.allocateFrom(JAVA_INT, value));
      check(result, "setsockopt", "fd " + fd);
    }
  }

  /**
   * Sets an option of level SOL_SOCKET.
   *
   * @param fd the socket
   * @param option the option
   * @param value its value
   * @return 0, or {@code -errno}
   */
  public static int trySetsockopt(int fd, int option, MemorySegment value) {
    return SETSOCKOPT.status(fd, LibC.SOL_SOCKET(), option, value, value.byteSize());
  }

  /**
   * Sends a message on a socket.
   *
   * @param fd the socket
   * @param message its {@code struct msghdr}
   * @param flags the flags
   * @return the number of bytes sent, or {@code -errno}
   */
  public static long sendmsg(int fd, MemorySegment message, int flags) {
    return SENDMSG.longStatus(fd, message, flags);
  }

  /**
   * Receives a message from a socket.
   *
   * @param fd the socket
   * @param message its {@code struct msghdr}
   * @param flags the flags
   * @return the number of bytes received, or {@code -errno}
   */
  public static long recvmsg(int fd, MemorySegment message, int flags) {
    return RECVMSG.longStatus(fd, message, flags);
  }

  /**
   * Waits for events of descriptors.
   *
   * @param fds the {@code struct pollfd} of each
   * @param count the number of descriptors
   * @param timeoutMs the timeout in milliseconds; -1 means none
   * @return the number of descriptors with events, or {@code -errno}
   */
  public static int poll(MemorySegment fds, int count, int timeoutMs) {
    return POLL.status(fds, (long) count, timeoutMs);
  }

  /**
   * Creates an epoll instance.
   *
   * @return the descriptor
   * @throws PosixException if that fails
   */
  public static int epollCreate() {
    return check(EPOLL_CREATE1.status(LibC.EPOLL_CLOEXEC()), "epoll_create1", "");
  }

  /**
   * Adds, changes or removes a descriptor.
   *
   * @param epoll the instance
   * @param operation the operation
   * @param fd the descriptor
   * @param event its {@code struct epoll_event}
   * @return 0, or {@code -errno}
   */
  public static int epollCtl(int epoll, int operation, int fd, MemorySegment event) {
    return EPOLL_CTL.status(epoll, operation, fd, event);
  }

  /**
   * Waits for events. Allocates nothing.
   *
   * @param epoll the instance
   * @param events where they are stored
   * @param maxEvents the maximum number of events
   * @param timeoutMs the timeout in milliseconds; -1 means none
   * @return the number of events; negative if a signal interrupts the wait, or the call fails
   */
  public static int epollWait(int epoll, MemorySegment events, int maxEvents, int timeoutMs) {
    int fault = NativeFunction.fault("epoll_wait");
    if (fault != 0) {
      return -fault;
    }
    try {
      return (int) EPOLL_WAIT.invokeExact(epoll, events, maxEvents, timeoutMs);
    } catch (Throwable e) {
      throw NativeFunction.unexpected(e);
    }
  }

  /**
   * Creates a descriptor of eventfd(2) with a counter of 0, which does not block.
   *
   * @return the descriptor
   * @throws PosixException if that fails
   */
  public static int eventfd() {
    return check(EVENTFD.status(0, LibC.EFD_CLOEXEC() | LibC.EFD_NONBLOCK()), "eventfd", "");
  }

  /**
   * Sleeps while a word has a value, for at most the timespec at an address; 0 means no timeout.
   * May return spuriously; errno is not reported, because no caller distinguishes the reasons.
   * Allocates nothing.
   *
   * @param address the word
   * @param value the value
   * @param timespec the timespec, or 0
   */
  public static void futexWait(long address, int value, long timespec) {
    if (NativeFunction.fault("futex") == 0) {
      long ignored = futex(address, FUTEX_WAIT, value, timespec);
    }
  }

  /**
   * Wakes a thread that sleeps on a word. Allocates nothing.
   *
   * @param address the word
   */
  public static void futexWake(long address) {
    long ignored = futex(address, FUTEX_WAKE, 1, 0);
  }

  /** Takes addresses instead of segments, for which compiled code would allocate objects. */
  private static long futex(long address, int operation, int value, long timespec) {
    try {
      return (long) FUTEX.invokeExact(SYS_FUTEX, address, operation, value, timespec);
    } catch (Throwable e) {
      throw NativeFunction.unexpected(e);
    }
  }

  /**
   * Calls membarrier(2), for which glibc has no function. Its errno is not reported.
   *
   * @param command the command
   * @return whether it succeeded
   */
  public static boolean membarrier(int command) {
    try {
      return (long) MEMBARRIER.invokeExact(SYS_MEMBARRIER, command, 0, 0) == 0;
    } catch (Throwable e) {
      throw NativeFunction.unexpected(e);
    }
  }

  /**
   * Reads one piece from another process. Allocates nothing.
   *
   * @param pid the process
   * @param local an iovec of this process
   * @param remote an iovec of the other
   * @param kept the memory of this process, which is not freed during the call
   * @return the number of bytes, or {@code -errno}
   */
  public static long processVmReadv(
      int pid, MemorySegment local, MemorySegment remote, MemorySegment kept) {
    int fault = NativeFunction.fault("process_vm_readv");
    if (fault != 0) {
      return -fault;
    }
    try {
      long result = (long) PROCESS_VM_READV.invokeExact(pid, local, 1L, remote, 1L, 0L, kept);
      return result < 0 ? again(PROCESS_VM_READV_AGAIN, pid, local, remote, kept) : result;
    } catch (Throwable e) {
      throw NativeFunction.unexpected(e);
    }
  }

  /**
   * Writes one piece to another process. Allocates nothing.
   *
   * @param pid the process
   * @param local an iovec of this process
   * @param remote an iovec of the other
   * @param kept the memory of this process, which is not freed during the call
   * @return the number of bytes, or {@code -errno}
   */
  public static long processVmWritev(
      int pid, MemorySegment local, MemorySegment remote, MemorySegment kept) {
    int fault = NativeFunction.fault("process_vm_writev");
    if (fault != 0) {
      return -fault;
    }
    try {
      long result = (long) PROCESS_VM_WRITEV.invokeExact(pid, local, 1L, remote, 1L, 0L, kept);
      return result < 0 ? again(PROCESS_VM_WRITEV_AGAIN, pid, local, remote, kept) : result;
    } catch (Throwable e) {
      throw NativeFunction.unexpected(e);
    }
  }

  private static long again(
      NativeFunction copy, int pid, MemorySegment local, MemorySegment remote, MemorySegment kept) {
    long result = copy.longStatus(pid, local, 1, remote.address(), 1, 0, kept);
    Reference.reachabilityFence(remote);
    return result;
  }

  /**
   * Makes a request to a driver. Allocates nothing.
   *
   * @param fd the device
   * @param request the request
   * @param argument its argument
   * @return the driver's result, or {@code -errno}
   */
  public static int ioctl(int fd, long request, MemorySegment argument) {
    return ioctl(fd, request, argument, argument);
  }

  /**
   * As {@link #ioctl(int, long, MemorySegment)}, for an argument that contains an address.
   *
   * @param fd the device
   * @param request the request
   * @param argument its argument
   * @param kept memory whose address the argument contains, and that is not freed during the call
   * @return the driver's result, or {@code -errno}
   */
  public static int ioctl(int fd, long request, MemorySegment argument, MemorySegment kept) {
    try {
      int result = (int) IOCTL.invokeExact(fd, request, argument, kept);
      return result < 0 ? IOCTL_AGAIN.status(fd, request, argument, kept) : result;
    } catch (Throwable e) {
      throw NativeFunction.unexpected(e);
    }
  }

  private static int check(int result, String function, String subject) {
    return (int) check((long) result, function, subject);
  }

  private static long check(long result, String function, String subject) {
    if (result < 0) {
      throw new PosixException(function, subject, (int) -result);
    }
    return result;
  }

  /**
   * Returns the status of a file system.
   *
   * @param path a path in it
   * @return the status
   * @throws PosixException if that fails
   */
  public static FileSystemStatus statfs(String path) {
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment status = arena.allocate(statfs.layout());
      check(STATFS.status(arena.allocateFrom(path), status), "statfs", path);
      return new FileSystemStatus(
          statfs.f_bavail(status) * statfs.f_bsize(status),
          // some file systems have no number, and report 0 files or -1 free ones
          statfs.f_files(status) == 0 || statfs.f_ffree(status) < 0
              ? Long.MAX_VALUE
              : statfs.f_ffree(status));
    }
  }

  /**
   * Returns the soft limit of this process for a resource.
   *
   * @param resource the resource, such as {@link #RLIMIT_MEMLOCK}
   * @return the limit, an unsigned number; -1 if there is none
   * @throws PosixException if that fails
   */
  public static long getrlimit(int resource) {
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment limit = arena.allocate(rlimit.layout());
      check(GETRLIMIT.status(resource, limit), "getrlimit", "" + resource);
      return rlimit.rlim_cur(limit);
    }
  }

  /**
   * Returns the processors on which the calling thread may run.
   *
   * @return the numbers of the processors
   * @throws PosixException if that fails, as with more than 1,024 processors
   */
  public static BitSet schedGetaffinity() {
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment set = arena.allocate(cpu_set_t.layout());
      check(SCHED_GETAFFINITY.status(0, set.byteSize(), set), "sched_getaffinity", "");
      return BitSet.valueOf(set.toArray(JAVA_BYTE));
    }
  }

  /**
   * Sets the processors on which the calling thread may run.
   *
   * @param cpus the numbers of the processors, below 1,024
   * @return 0, or {@code -errno}
   */
  public static int schedSetaffinity(BitSet cpus) {
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment set = arena.allocate(cpu_set_t.layout());
      MemorySegment.copy(cpus.toByteArray(), 0, set, JAVA_BYTE, 0, (cpus.length() + 7) / 8);
      return SCHED_SETAFFINITY.status(0, set.byteSize(), set);
    }
  }

  /** {@return the effective user id of this process} */
  public static int geteuid() {
    return (int) GETEUID.plain();
  }

  /**
   * Returns the text of an error.
   *
   * @param errno the error
   * @return the text, in the language of the C library's locale
   */
  public static String strerror(int errno) {
    return RawMemory.string(STRERROR.pointer(errno));
  }

  private static NativeFunction function(String name) {
    return NativeLibrary.C.function(name);
  }

  private static MethodHandle link(String name, MemoryLayout result, MemoryLayout... arguments) {
    return Linker.nativeLinker()
        .downcallHandle(NativeLibrary.C.address(name), FunctionDescriptor.of(result, arguments));
  }

  private static MethodHandle linkCopy(String name) {
    return link(
        name, JAVA_LONG, JAVA_INT, ADDRESS, JAVA_LONG, ADDRESS, JAVA_LONG, JAVA_LONG, ADDRESS);
  }
}
