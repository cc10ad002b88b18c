// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.lab.compare.transport;

import java.nio.MappedByteBuffer;
import java.nio.file.Path;
import java.util.Set;
import java.util.function.Consumer;
import org.agrona.DirectBuffer;
import org.agrona.IoUtil;
import org.agrona.MutableDirectBuffer;
import org.agrona.concurrent.AtomicBuffer;
import org.agrona.concurrent.MessageHandler;
import org.agrona.concurrent.UnsafeBuffer;
import org.agrona.concurrent.ringbuffer.ManyToOneRingBuffer;
import org.agrona.concurrent.ringbuffer.OneToOneRingBuffer;
import org.agrona.concurrent.ringbuffer.RingBuffer;
import org.agrona.concurrent.ringbuffer.RingBufferDescriptor;
import org.jspecify.annotations.Nullable;

/**
 * Agrona's ring buffer for one producer and one consumer, or for several producers; one in a mapped
 * file for each direction.
 */
final class AgronaTransport extends TransportUnderTest {

  private static final String TO_SERVER = "to-server";
  private static final String TO_CLIENT = "to-client";

  /** Small enough for a processor's cache, and large enough for thousands of short messages. */
  private static final int CAPACITY_BYTES = 1 << 20;

  AgronaTransport() {
    super(
        "agrona",
        "Agrona %s, OneToOneRingBuffer, or ManyToOneRingBuffer for several senders, of %s KiB,"
                .formatted(
                    OneToOneRingBuffer.class.getPackage().getImplementationVersion(),
                    CAPACITY_BYTES >> 10)
            + " tryClaim and commit, read",
        Set.of(Mode.ONE_SENDER, Mode.SEVERAL_SENDERS)); // it cannot block a receiver
  }

  @Override
  public Listening listen(Mode mode, Path directory, @Nullable Consumer<byte[]> witness) {
    for (String name : new String[] {TO_SERVER, TO_CLIENT}) {
      IoUtil.unmap(
          IoUtil.mapNewFile(
              directory.resolve(name).toFile(),
              CAPACITY_BYTES + RingBufferDescriptor.TRAILER_LENGTH));
    }
    return new InDirectory(
        directory, () -> new End(mode, directory, TO_SERVER, TO_CLIENT, witness));
  }

  @Override
  public Transport connect(Mode mode, String address, @Nullable Consumer<byte[]> witness) {
    return new End(mode, Path.of(address), TO_CLIENT, TO_SERVER, witness);
  }

  private static final class End extends AbstractTransport implements MessageHandler {

    private final MappedByteBuffer incomingFile;
    private final MappedByteBuffer outgoingFile;
    private final RingBuffer incoming;

    End(Mode mode, Path directory, String in, String out, @Nullable Consumer<byte[]> witness) {
      MappedByteBuffer outgoing = IoUtil.mapExistingFile(directory.resolve(out).toFile(), out);
      super(mode, witness, () -> new Claims(ring(mode, outgoing)));
      outgoingFile = outgoing;
      incomingFile = IoUtil.mapExistingFile(directory.resolve(in).toFile(), in);
      incoming = ring(mode, incomingFile);
    }

    private static RingBuffer ring(Mode mode, MappedByteBuffer file) {
      AtomicBuffer memory = new UnsafeBuffer(file);
      return mode == Mode.SEVERAL_SENDERS
          ? new ManyToOneRingBuffer(memory)
          : new OneToOneRingBuffer(memory);
    }

    @Override
    public int poll(int limit) {
      return incoming.read(this, limit);
    }

    @Override
    public void onMessage(int type, MutableDirectBuffer buffer, int index, int length) {
      received(buffer.getLong(index));
      if (witness != null) {
        byte[] bytes = new byte[length];
        buffer.getBytes(index, bytes);
        witness.accept(bytes);
      }
    }

    @Override
    public void close() {
      IoUtil.unmap(incomingFile);
      IoUtil.unmap(outgoingFile);
    }
  }

  private static final class Claims implements MessageSender {

    private static final int MESSAGE_TYPE = 1;

    private final RingBuffer ring;
    private final AtomicBuffer memory;
    private final DirectBuffer payload = new UnsafeBuffer(Payload.longest());

    Claims(RingBuffer ring) {
      this.ring = ring;
      memory = ring.buffer();
    }

    @Override
    public boolean trySend(long value, int length) {
      int index = ring.tryClaim(MESSAGE_TYPE, length);
      if (index < 0) {
        return false;
      }
      memory.putLong(index, value);
      memory.putBytes(index + Long.BYTES, payload, Long.BYTES, length - Long.BYTES);
      ring.commit(index);
      return true;
    }
  }
}
