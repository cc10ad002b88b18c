// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.peers.transport;

import java.nio.MappedByteBuffer;
import java.nio.file.Path;
import java.util.function.Consumer;
import org.agrona.DirectBuffer;
import org.agrona.IoUtil;
import org.agrona.MutableDirectBuffer;
import org.agrona.concurrent.AtomicBuffer;
import org.agrona.concurrent.MessageHandler;
import org.agrona.concurrent.UnsafeBuffer;
import org.agrona.concurrent.ringbuffer.OneToOneRingBuffer;
import org.agrona.concurrent.ringbuffer.RingBufferDescriptor;
import org.jspecify.annotations.Nullable;

/** Agrona's ring for one producer and one consumer; one in a mapped file for each way. */
final class AgronaContender implements Contender {

  private static final String TO_SERVER = "to-server";
  private static final String TO_CLIENT = "to-client";

  /** Small enough to stay in a processor's cache, and room for thousands of short messages. */
  private static final int CAPACITY_BYTES = 1 << 20;

  @Override
  public String name() {
    return "agrona";
  }

  @Override
  public String version() {
    return "Agrona "
        + OneToOneRingBuffer.class.getPackage().getImplementationVersion()
        + ", OneToOneRingBuffer of "
        + (CAPACITY_BYTES >> 10)
        + " KiB, tryClaim and commit, read";
  }

  @Override
  public Listening listen(Path directory, @Nullable Consumer<byte[]> witness) {
    for (String name : new String[] {TO_SERVER, TO_CLIENT}) {
      IoUtil.unmap(
          IoUtil.mapNewFile(
              directory.resolve(name).toFile(),
              CAPACITY_BYTES + RingBufferDescriptor.TRAILER_LENGTH));
    }
    return new InDirectory(directory, () -> new End(directory, TO_SERVER, TO_CLIENT, witness));
  }

  @Override
  public Transport connect(String address, @Nullable Consumer<byte[]> witness) {
    return new End(Path.of(address), TO_CLIENT, TO_SERVER, witness);
  }

  private static final class End implements Transport, MessageHandler {

    private static final int MESSAGE_TYPE = 1;

    private final MappedByteBuffer incomingFile;
    private final MappedByteBuffer outgoingFile;
    private final OneToOneRingBuffer incoming;
    private final OneToOneRingBuffer outgoing;
    private final AtomicBuffer outgoingMemory;
    private final @Nullable Consumer<byte[]> witness;
    private final DirectBuffer payload = new UnsafeBuffer(Payload.longest());
    private long lastValue;

    End(Path directory, String in, String out, @Nullable Consumer<byte[]> witness) {
      this.witness = witness;
      incomingFile = IoUtil.mapExistingFile(directory.resolve(in).toFile(), in);
      outgoingFile = IoUtil.mapExistingFile(directory.resolve(out).toFile(), out);
      incoming = new OneToOneRingBuffer(new UnsafeBuffer(incomingFile));
      outgoing = new OneToOneRingBuffer(new UnsafeBuffer(outgoingFile));
      outgoingMemory = outgoing.buffer();
    }

    @Override
    public boolean trySend(long value, int length) {
      int index = outgoing.tryClaim(MESSAGE_TYPE, length);
      if (index < 0) {
        return false;
      }
      outgoingMemory.putLong(index, value);
      outgoingMemory.putBytes(index + Long.BYTES, payload, Long.BYTES, length - Long.BYTES);
      outgoing.commit(index);
      return true;
    }

    @Override
    public int poll(int limit) {
      return incoming.read(this, limit);
    }

    @Override
    public void onMessage(int type, MutableDirectBuffer buffer, int index, int length) {
      lastValue = buffer.getLong(index);
      if (witness != null) {
        byte[] bytes = new byte[length];
        buffer.getBytes(index, bytes);
        witness.accept(bytes);
      }
    }

    @Override
    public long lastValue() {
      return lastValue;
    }

    @Override
    public void close() {
      IoUtil.unmap(incomingFile);
      IoUtil.unmap(outgoingFile);
    }
  }
}
