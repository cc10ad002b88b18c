// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.lab.compare.transport;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.VarHandle;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.Set;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * The floor of all transports over shared memory: one cache line in a file mapped by both
 * processes. It holds the value and its writer, so the two sides alternate; only these 8 bytes are
 * transferred, regardless of the message length.
 */
final class CacheLineTransport extends TransportUnderTest {

  private static final String FILE = "line";
  private static final int LINE_BYTES = 64;

  CacheLineTransport() {
    super(TransportsUnderTest.FLOOR, "one cache line, written in turns", Set.of(Mode.ONE_SENDER));
  }

  @Override
  public boolean hasRate() {
    return false;
  }

  @Override
  public Listening listen(Mode mode, Path directory, @Nullable Consumer<byte[]> witness) {
    try {
      Files.write(directory.resolve(FILE), new byte[LINE_BYTES], StandardOpenOption.CREATE_NEW);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
    return new InDirectory(directory, () -> new Line(directory, Line.SERVER));
  }

  @Override
  public Transport connect(Mode mode, String address, @Nullable Consumer<byte[]> witness) {
    return new Line(Path.of(address), Line.CLIENT);
  }

  /** One side of the line, whose lowest bit identifies the writer. */
  private static final class Line implements Transport {

    static final long CLIENT = 1;
    static final long SERVER = 0; // as if the server had written the file's initial zeros

    private static final VarHandle WORD = ValueLayout.JAVA_LONG.varHandle();

    private final Arena arena = Arena.ofShared();
    private final MemorySegment memory;
    private final long side;
    private long lastValue;

    Line(Path directory, long side) {
      this.side = side;
      try (FileChannel channel =
          FileChannel.open(
              directory.resolve(FILE), StandardOpenOption.READ, StandardOpenOption.WRITE)) {
        memory = channel.map(FileChannel.MapMode.READ_WRITE, 0, LINE_BYTES, arena);
      } catch (IOException e) {
        throw new UncheckedIOException(e);
      }
    }

    @Override
    public boolean trySend(long value, int length) {
      if (((long) WORD.getAcquire(memory, 0L) & 1) == side) {
        return false; // the peer's turn
      }
      WORD.setRelease(memory, 0L, value << 1 | side);
      return true;
    }

    @Override
    public int poll(int limit) {
      long word = (long) WORD.getAcquire(memory, 0L);
      if ((word & 1) == side || word >> 1 == lastValue) {
        return 0;
      }
      lastValue = word >> 1;
      return 1;
    }

    @Override
    public long lastValue() {
      return lastValue;
    }

    @Override
    public void close() {
      arena.close();
    }
  }
}
