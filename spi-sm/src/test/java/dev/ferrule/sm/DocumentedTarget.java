// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.sm;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;
import static org.assertj.core.api.Assertions.assertThat;

import dev.ferrule.posix.DatagramSocket;
import dev.ferrule.posix.Fifo;
import dev.ferrule.posix.SealedFile;
import dev.ferrule.posix.SharedMapping;
import dev.ferrule.sm.endpoint.EndpointFiles;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.invoke.VarHandle;
import java.lang.ref.Reference;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.Future;

/**
 * A client that exposes memory and serves fragments. Its numbers are those of the tables in
 * docs/protocol-sm.md, not the product's constants. It copies the fragments of a batch in reverse
 * order, since each describes itself.
 */
final class DocumentedTarget implements AutoCloseable {

  static final int WRITE = 1;
  static final int READ = 2;
  static final int NOT_EXPOSED_FOR_THAT = 3;

  private static final int DONE = 1;
  private static final VarHandle INT = JAVA_INT.varHandle();
  private static final VarHandle LONG = JAVA_LONG.varHandle();
  private static final int NUMBER = 17; // of the connection, here
  private static final int CONNECT = 1;
  private static final int ACCEPT = 2;
  private static final int ACK = 4;
  private static final int VERSION = 3;
  private static final int FIFO_RMA = 5;
  private static final int FIFO_RMA_ACK = 6;
  private static final int PAGE = 4096;
  private static final int RMA_SIZE = 20 << 10;
  private static final int LINE = 64;
  private static final int FRAGMENTS = 256;
  private static final int MOST_BYTES = 64 << 10; // of a fragment

  // in the area rma
  private static final int SUBMITTED = 264;
  private static final int INITIATOR_ASLEEP = 272;
  private static final int BUFFER_LINES = 276;
  private static final int HANDLED = 512;
  private static final int SUBMISSIONS = 1024;
  private static final int REGIONS = 4096;

  private final byte[] exposed;
  private final DatagramSocket socket;
  private final Fifo.Reader fifo;
  private final Fifo.Writer initiatorsFifo;
  private final int initiatorsNumber;
  private final SealedFile ownFile;
  private final SharedMapping ownMapping; // unmapped when it is unreachable
  private final SharedMapping initiatorsMapping;
  private final MemorySegment ownRma;
  private final MemorySegment initiatorsRma;
  private final MemorySegment initiatorsFilesRest; // from its rma-buffer on
  private int region;
  private long generation;
  private int status = DONE;
  private long handled;
  private int mostLines;

  /** Connects to a listener. */
  DocumentedTarget(Path listener, byte[] exposed) throws IOException {
    this.exposed = exposed;
    Path endpoint = Files.createDirectories(listener.resolve("../../7/1").normalize());
    fifo = new Fifo.Reader(endpoint.resolve("fifo"));
    socket = new DatagramSocket(endpoint.resolve("sock"));
    ownFile = FakeClient.memory(); // a valid file; what matters here is in its area rma
    ownMapping = ownFile.map(0);
    MemorySegment own = ownMapping.view();
    ownRma = own.asSlice(ringSize(own), RMA_SIZE);

    send(CONNECT, 0, ownFile, listener);
    DatagramSocket.Datagram answer = socket.receive();
    while (answer == null) {
      Thread.onSpinWait();
      answer = socket.receive();
    }
    long header = ByteBuffer.wrap(answer.bytes()).order(ByteOrder.LITTLE_ENDIAN).getLong();
    assertThat(header & 0xf).isEqualTo(ACCEPT);
    assertThat((header >>> 24) & 0xfffff).isEqualTo(NUMBER);
    initiatorsNumber = (int) (header >>> 44);
    SealedFile initiatorsFile = answer.file();
    assertThat(initiatorsFile).isNotNull();
    initiatorsMapping = initiatorsFile.map(0);
    MemorySegment file = initiatorsMapping.view();
    initiatorsFile.close();
    initiatorsFifo = EndpointFiles.openFifo(listener);
    send(ACK, initiatorsNumber, null, listener);

    long ring = ringSize(file);
    initiatorsRma = file.asSlice(ring, RMA_SIZE);
    assertThat(initiatorsRma.asSlice(0, 8).toArray(JAVA_BYTE)).asString().isEqualTo("FerruRMA");
    assertThat(initiatorsRma.get(JAVA_INT, 8)).as("version").isEqualTo(2);
    assertThat(initiatorsRma.get(JAVA_LONG, 16)).isEqualTo(file.get(JAVA_LONG, 16));
    long buffer = Math.max(PAGE, roundUp(file.get(JAVA_INT, 36) * (long) LINE));
    long lanes = file.get(JAVA_INT, 44) * (roundUp(ring) + buffer);
    initiatorsFilesRest = file.asSlice(ring + RMA_SIZE + buffer + lanes);
  }

  private void send(int type, int serversNumber, SealedFile file, Path listener) {
    long header = type | VERSION << 4 | (long) NUMBER << 24 | (long) serversNumber << 44;
    byte[] bytes = ByteBuffer.allocate(8).order(ByteOrder.LITTLE_ENDIAN).putLong(header).array();
    assertThat(socket.send(bytes, file, listener.resolve("sock"))).isZero();
  }

  private static long roundUp(long size) {
    return (size + PAGE - 1) / PAGE * PAGE;
  }

  private static long ringSize(MemorySegment file) {
    int records = 1 << file.get(JAVA_INT, 32);
    return PAGE + roundUp(4L * Math.max(8, records / 128)) + records;
  }

  /** Exposes the memory, for reading and writing. */
  void expose(int number, long itsGeneration, int length) {
    region = number;
    generation = itsGeneration;
    long row = REGIONS + 64L * number;
    ownRma.set(JAVA_LONG, row + 16, length);
    ownRma.set(JAVA_INT, row + 24, 3);
    LONG.setRelease(ownRma, row, itsGeneration);
  }

  void answerWith(int itsStatus) {
    status = itsStatus;
  }

  /** Returns the most lines that were in use at a time. */
  int mostLines() {
    return mostLines;
  }

  /** Serves the fragments of one operation, and checks every field of each. */
  void serveUntil(Future<?> end, int operation, long firstOffset, long total) {
    long next = firstOffset;
    boolean isAnnounced = false;
    while (!end.isDone()) {
      for (int i = fifo.read(); i > 0; i--) {
        assertThat(fifo.header(i - 1)).isEqualTo(FIFO_RMA | NUMBER << 4);
        isAnnounced = true;
      }
      long submitted = (long) LONG.getAcquire(initiatorsRma, SUBMITTED);
      // the first answer is to several fragments, which are handled in another order than submitted
      long least = next == firstOffset && total > MOST_BYTES ? 2 : 1;
      if (submitted - handled < least) {
        Thread.onSpinWait();
        continue;
      }
      assertThat(submitted - handled).as("in flight").isBetween(1L, (long) FRAGMENTS);
      List<MemorySegment> fragments = new ArrayList<>();
      int lines = 0;
      for (long k = handled; k < submitted; k++) {
        MemorySegment fragment = fragment(k, operation, next);
        next += fragment.byteSize() - LINE;
        lines += (int) ((fragment.byteSize() + LINE - 1) / LINE);
        fragments.add(fragment);
      }
      mostLines = Math.max(mostLines, lines);
      Collections.reverse(fragments);
      fragments.forEach(fragment -> handle(fragment, operation));
      handled = submitted;
      LONG.setVolatile(ownRma, HANDLED, handled);
      VarHandle.fullFence();
      if ((int) INT.getAndSet(initiatorsRma, INITIATOR_ASLEEP, 0) != 0) {
        MemorySegment header =
            Arena.ofAuto().allocateFrom(JAVA_INT, FIFO_RMA_ACK | initiatorsNumber << 4);
        assertThat(initiatorsFifo.write(header)).isEqualTo(Fifo.Writer.Result.WRITTEN);
      }
    }
    assertThat(next).as("the end of the last fragment").isEqualTo(firstOffset + total);
    for (int i = fifo.read(); i > 0; i--) {
      isAnnounced |= fifo.header(i - 1) == (FIFO_RMA | NUMBER << 4);
    }
    assertThat(isAnnounced).as("a header RMA in the FIFO").isTrue();
  }

  /** Returns the initiator's buffer, which its first operation allocates. */
  private MemorySegment buffer() {
    int lines = initiatorsRma.get(JAVA_INT, BUFFER_LINES);
    return initiatorsFilesRest.asSlice(0, lines * (long) LINE);
  }

  /** Returns the header of fragment {@code k} and its payload, from the next line on. */
  private MemorySegment fragment(long k, int operation, long offset) {
    long line = initiatorsRma.get(JAVA_INT, SUBMISSIONS + 4 * (k % FRAGMENTS));
    MemorySegment buffer = buffer();
    MemorySegment header = buffer.asSlice(line * LINE, LINE);
    assertThat(header.get(JAVA_INT, 0)).as("operation").isEqualTo(operation);
    assertThat(header.get(JAVA_INT, 4)).as("status").isZero();
    assertThat(header.get(JAVA_INT, 8)).as("region").isEqualTo(region);
    assertThat(header.get(JAVA_LONG, 16)).as("generation").isEqualTo(generation);
    assertThat(header.get(JAVA_LONG, 24)).as("offset").isEqualTo(offset);
    int length = header.get(JAVA_INT, 12);
    assertThat(length).as("length").isBetween(1, (int) Math.min(MOST_BYTES, buffer.byteSize() / 8));
    return buffer.asSlice(line * LINE, LINE + length);
  }

  private void handle(MemorySegment fragment, int operation) {
    int length = fragment.get(JAVA_INT, 12);
    int offset = (int) fragment.get(JAVA_LONG, 24);
    if (status == DONE && operation == WRITE) {
      MemorySegment.copy(fragment, JAVA_BYTE, LINE, exposed, offset, length);
    } else if (status == DONE) {
      MemorySegment.copy(exposed, offset, fragment, JAVA_BYTE, LINE, length);
    }
    INT.setRelease(fragment, 4, status);
  }

  @Override
  public void close() {
    initiatorsFifo.close();
    socket.close();
    fifo.close();
    ownFile.close();
    Reference.reachabilityFence(ownMapping);
    Reference.reachabilityFence(initiatorsMapping);
  }
}
