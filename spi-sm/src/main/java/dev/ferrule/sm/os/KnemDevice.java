// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.sm.os;

import dev.ferrule.posix.Errno;
import dev.ferrule.posix.Posix;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import org.jspecify.annotations.Nullable;

/**
 * The KNEM driver ({@code /dev/knem}), which copies between processes by cookies instead of
 * addresses. Few kernels have it; without it, the only cost is one failed open.
 *
 * <p>A region lives as long as the descriptor by which it was created, so this process has one. Any
 * thread may call.
 */
public final class KnemDevice implements Knem {

  private static final String PATH = "/dev/knem";
  private static final int ABI = 0xd;

  private static final long GET_INFO = 0x40104b10L;
  private static final long CREATE_REGION = 0xc0204b21L;
  private static final long DESTROY_REGION = 0x80084b22L;
  private static final long INLINE_COPY_BOUNDED = 0x80384b35L;

  private static final int INFO_SIZE = 16;
  private static final int VECTOR_SIZE = 16;

  // struct of CREATE_REGION
  private static final int REGION_SIZE = 32;
  private static final int REGION_VECTORS = 0;
  private static final int REGION_COUNT = 8;
  private static final int REGION_PROTECTION = 16;
  private static final int REGION_COOKIE = 24;

  // struct of INLINE_COPY_BOUNDED
  private static final int COPY_SIZE = 56;
  private static final int COPY_VECTORS = 0;
  private static final int COPY_COUNT = 8;
  private static final int COPY_WRITE = 12;
  private static final int COPY_COOKIE = 16;
  private static final int COPY_OFFSET = 24;
  private static final int COPY_LENGTH = 32;
  private static final int COPY_STATUS = 44;
  private static final int STATUS_SUCCESS = 1;
  private static final int STATUS_FAILED = 2;

  private static final class Opened {
    static final @Nullable KnemDevice INSTANCE = open();
  }

  private final int fd;
  private final ThreadLocal<Arguments> arguments = ThreadLocal.withInitial(Arguments::new);

  /** Memory for one call's arguments, so that copying allocates nothing. */
  private static final class Arguments {
    private final Arena arena = Arena.ofAuto();
    private final MemorySegment vector = arena.allocate(VECTOR_SIZE, Long.BYTES);
    private final MemorySegment copy = arena.allocate(COPY_SIZE, Long.BYTES);
  }

  private KnemDevice(int fd) {
    this.fd = fd;
  }

  /** {@return the driver of this machine; null if there is none, or if it has another version} */
  public static @Nullable KnemDevice instance() {
    return Opened.INSTANCE;
  }

  private static @Nullable KnemDevice open() {
    int fd = Posix.tryOpen(PATH, Posix.O_RDWR, 0);
    if (fd < 0) {
      return null;
    }
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment info = arena.allocate(INFO_SIZE, Long.BYTES);
      int result = Posix.ioctl(fd, GET_INFO, info);
      if (result == 0 && info.get(ValueLayout.JAVA_INT, 0) == ABI) {
        return new KnemDevice(fd);
      }
    }
    Posix.close(fd);
    return null;
  }

  @Override
  public long createRegion(long address, long length, boolean writable) {
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment vector = arena.allocate(VECTOR_SIZE, Long.BYTES);
      setVector(vector, address, length);
      MemorySegment region = arena.allocate(REGION_SIZE, Long.BYTES);
      region.set(ValueLayout.JAVA_LONG, REGION_VECTORS, vector.address());
      region.set(ValueLayout.JAVA_INT, REGION_COUNT, 1);
      region.set(
          ValueLayout.JAVA_INT,
          REGION_PROTECTION,
          Posix.PROT_READ | (writable ? Posix.PROT_WRITE : 0));
      int result = Posix.ioctl(fd, CREATE_REGION, region);
      return result < 0 ? 0 : region.get(ValueLayout.JAVA_LONG, REGION_COOKIE);
    }
  }

  private static void setVector(MemorySegment vector, long address, long length) {
    vector.set(ValueLayout.JAVA_LONG, 0, address);
    vector.set(ValueLayout.JAVA_LONG, Long.BYTES, length);
  }

  @Override
  public void destroyRegion(long cookie) {
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment argument = arena.allocateFrom(ValueLayout.JAVA_LONG, cookie);
      int ignored = Posix.ioctl(fd, DESTROY_REGION, argument);
    }
  }

  @Override
  public int copy(
      long cookie, long offset, MemorySegment local, long localOffset, long length, boolean write) {
    Arguments room = arguments.get();
    setVector(room.vector, local.address() + localOffset, length);
    MemorySegment copy = room.copy;
    copy.set(ValueLayout.JAVA_LONG, COPY_VECTORS, room.vector.address());
    copy.set(ValueLayout.JAVA_INT, COPY_COUNT, 1);
    copy.set(ValueLayout.JAVA_INT, COPY_WRITE, write ? 1 : 0);
    copy.set(ValueLayout.JAVA_LONG, COPY_COOKIE, cookie);
    copy.set(ValueLayout.JAVA_LONG, COPY_OFFSET, offset);
    copy.set(ValueLayout.JAVA_LONG, COPY_LENGTH, length);
    copy.set(ValueLayout.JAVA_INT, COPY_STATUS, 0);
    int result = Posix.ioctl(fd, INLINE_COPY_BOUNDED, copy, local);
    if (result < 0) {
      return result;
    }
    return switch (copy.get(ValueLayout.JAVA_INT, COPY_STATUS)) {
      case STATUS_SUCCESS -> 0;
      case STATUS_FAILED -> -Errno.EFAULT; // the only failure that the driver reports
      default -> -Errno.EIO; // pending, although no asynchronous operation was requested
    };
  }
}
