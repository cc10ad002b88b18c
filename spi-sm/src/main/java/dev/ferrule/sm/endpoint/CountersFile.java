// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.sm.endpoint;

import dev.ferrule.ConnectionCounters;
import dev.ferrule.posix.FileStatus;
import dev.ferrule.posix.Posix;
import dev.ferrule.posix.PosixException;
import dev.ferrule.sm.os.PeerFile;
import dev.ferrule.spi.ConnectionSample;
import dev.ferrule.support.CounterSnapshot;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteBuffer;
import java.nio.channels.WritableByteChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * The file with the counters of an endpoint's connections, which its process writes when a tool
 * asks for them. It is replaced as a whole, so a reader never finds a part of it. A reader does not
 * map it: another process of the same user could truncate it.
 *
 * @param nanos when the counters were read, by System.nanoTime of the process; two files of one
 *     process have different times
 * @param samples the connections
 */
record CountersFile(long nanos, List<ConnectionSample> samples) {

  /** The version of the format, and the time. */
  private static final Pattern HEAD = Pattern.compile("counters 1 (-?\\d{1,19})");

  /** A connection: its number and peer, nine counters, and the used part of its ring. */
  private static final Pattern LINE =
      Pattern.compile("(\\d{1,9}) (\\d+/\\d+#\\d+)((?: \\d{1,19}){9}) ([01]\\.\\d{3})");

  /** Of half a million connections. A larger file is not read as a whole, and so not valid. */
  private static final long MAX_SIZE = 64L << 20;

  /** At least the length of the first line. */
  private static final long HEAD_SIZE = 64;

  /** Replaces an endpoint's file. */
  static void write(Path endpoint, List<ConnectionSample> samples) throws IOException {
    StringBuilder text = new StringBuilder("counters 1 ").append(System.nanoTime()).append('\n');
    samples.forEach(sample -> append(text, sample));
    Path next = endpoint.resolve(EndpointFiles.NEXT_COUNTERS);
    Files.deleteIfExists(next); // of a write that has failed
    try (WritableByteChannel channel =
        Files.newByteChannel(
            next,
            Set.of(StandardOpenOption.CREATE_NEW, StandardOpenOption.WRITE),
            PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rw-------")))) {
      ByteBuffer bytes = ByteBuffer.wrap(text.toString().getBytes(StandardCharsets.US_ASCII));
      while (bytes.hasRemaining()) {
        channel.write(bytes);
      }
    }
    Files.move(next, endpoint.resolve(EndpointFiles.COUNTERS), StandardCopyOption.ATOMIC_MOVE);
  }

  private static void append(StringBuilder text, ConnectionSample sample) {
    ConnectionCounters counters = sample.counters();
    long thousandths = Math.round(sample.sendFill() * 1000);
    text.append(sample.number()).append(' ').append(sample.peer());
    for (long value :
        new long[] {
          counters.messagesSent(),
          counters.bytesSent(),
          counters.messagesReceived(),
          counters.bytesReceived(),
          counters.backPressureStalls(),
          counters.acknowledgments(),
          counters.retransmissions().orElse(0),
          counters.wakeupsSent().orElse(0),
          counters.wakeupsReceived()
        }) {
      text.append(' ').append(value);
    }
    text.append(thousandths < 1000 ? " 0." : " 1.");
    String fraction = Long.toString(thousandths % 1000);
    text.append("0".repeat(3 - fraction.length())).append(fraction).append('\n');
  }

  /**
   * Reads an endpoint's file, which may be any: empty if it is missing, not readable, or not valid.
   */
  static Optional<CountersFile> read(Path endpoint) {
    return parse(text(endpoint, MAX_SIZE));
  }

  /** Reads only when an endpoint's file was written; empty as {@link #read}. */
  static Optional<Long> time(Path endpoint) {
    return time(text(endpoint, HEAD_SIZE).lines().findFirst().orElse(""));
  }

  private static Optional<Long> time(String line) {
    Matcher head = HEAD.matcher(line);
    try {
      return head.matches() ? Optional.of(Long.parseLong(head.group(1))) : Optional.empty();
    } catch (NumberFormatException e) { // greater than a long
      return Optional.empty();
    }
  }

  /** Returns the beginning of a file; nothing if it cannot be read. */
  private static String text(Path endpoint, long limit) {
    try {
      int fd =
          PeerFile.open(
              endpoint.resolve(EndpointFiles.COUNTERS),
              PeerFile.OF_ENDPOINT,
              FileStatus.REGULAR,
              Posix.O_RDONLY);
      try {
        return text(fd, limit);
      } finally {
        Posix.close(fd);
      }
    } catch (PosixException e) {
      return "";
    }
  }

  private static String text(int fd, long limit) {
    long size = Math.min(limit, Posix.fstat(fd).size());
    if (size <= 0) {
      return "";
    }
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment bytes = arena.allocate(size);
      long length = 0;
      long result = 1;
      while (length < size && result > 0) { // less than its size if it is truncated meanwhile
        result = Posix.read(fd, bytes.asSlice(length));
        length += Math.max(0, result);
      }
      return new String(
          bytes.asSlice(0, length).toArray(ValueLayout.JAVA_BYTE), StandardCharsets.US_ASCII);
    }
  }

  /** Parses a file's text; empty if any of it is not valid. */
  static Optional<CountersFile> parse(String text) {
    List<String> lines = text.lines().toList();
    Optional<Long> time = time(lines.isEmpty() ? "" : lines.getFirst());
    if (time.isEmpty() || !text.endsWith("\n")) {
      return Optional.empty();
    }
    try {
      long nanos = time.get();
      List<ConnectionSample> samples = new ArrayList<>();
      for (String line : lines.subList(1, lines.size())) {
        Matcher matcher = LINE.matcher(line);
        if (!matcher.matches()) {
          return Optional.empty();
        }
        samples.add(sample(matcher, nanos));
      }
      return Optional.of(new CountersFile(nanos, samples));
    } catch (NumberFormatException e) { // greater than a long
      return Optional.empty();
    }
  }

  private static ConnectionSample sample(Matcher line, long nanos) {
    String[] words = line.group(3).strip().split(" ");
    long[] values = new long[words.length];
    for (int i = 0; i < values.length; i++) {
      values[i] = Long.parseLong(words[i]);
    }
    CounterSnapshot counters =
        new CounterSnapshot(
            values[0],
            values[1],
            values[2],
            values[3],
            values[4],
            values[5],
            OptionalLong.of(values[6]),
            OptionalLong.of(values[7]),
            values[8],
            Optional.empty());
    return new ConnectionSample(
        Integer.parseInt(line.group(1)),
        line.group(2),
        nanos,
        counters,
        Math.min(1, Double.parseDouble(line.group(4))));
  }
}
