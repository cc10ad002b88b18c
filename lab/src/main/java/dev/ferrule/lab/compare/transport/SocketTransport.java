// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.lab.compare.transport;

import java.io.EOFException;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.SocketAddress;
import java.net.StandardProtocolFamily;
import java.net.StandardSocketOptions;
import java.net.UnixDomainSocketAddress;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.nio.file.Path;
import java.util.EnumSet;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * A blocking stream socket, as in most programs: a system call for each message or batch written,
 * and one for all available messages when reading. Each message is preceded by its length. Several
 * sending threads take a lock, as a write may be partial.
 */
final class SocketTransport extends TransportUnderTest {

  private static final String FILE = "socket";
  private static final int HEADER_BYTES = Integer.BYTES;

  private final StandardProtocolFamily family;

  SocketTransport(StandardProtocolFamily family) {
    super(
        isUnix(family) ? "unix" : "tcp",
        "java.nio SocketChannel of Java %s, blocking, %s, one write for each batch"
            .formatted(Runtime.version(), isUnix(family) ? "Unix domain" : "loopback, TCP_NODELAY"),
        EnumSet.allOf(Mode.class));
    this.family = family;
  }

  private static boolean isUnix(StandardProtocolFamily family) {
    return family == StandardProtocolFamily.UNIX;
  }

  @Override
  public Listening listen(Mode mode, Path directory, @Nullable Consumer<byte[]> witness) {
    try {
      ServerSocketChannel server = ServerSocketChannel.open(family);
      server.bind(
          isUnix(family)
              ? UnixDomainSocketAddress.of(directory.resolve(FILE))
              : new InetSocketAddress(InetAddress.ofLiteral("127.0.0.1"), 0));
      return new Server(mode, server, witness);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  @Override
  public Transport connect(Mode mode, String address, @Nullable Consumer<byte[]> witness) {
    SocketAddress where =
        isUnix(family)
            ? UnixDomainSocketAddress.of(address)
            : new InetSocketAddress(InetAddress.ofLiteral("127.0.0.1"), Integer.parseInt(address));
    try {
      return new End(mode, SocketChannel.open(where), witness);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private record Server(Mode mode, ServerSocketChannel channel, @Nullable Consumer<byte[]> witness)
      implements Listening {

    @Override
    public String address() {
      try {
        SocketAddress bound = channel.getLocalAddress();
        return bound instanceof InetSocketAddress tcp
            ? Integer.toString(tcp.getPort())
            : bound.toString();
      } catch (IOException e) {
        throw new UncheckedIOException(e);
      }
    }

    @Override
    public Transport accept() {
      try {
        return new End(mode, channel.accept(), witness);
      } catch (IOException e) {
        throw new UncheckedIOException(e);
      }
    }

    @Override
    public void close() {
      try {
        channel.close();
      } catch (IOException e) {
        throw new UncheckedIOException(e);
      }
    }
  }

  private static final class End extends AbstractTransport {

    private static final int READ_BYTES = 256 << 10;

    private final SocketChannel channel;
    private final ByteBuffer incoming =
        ByteBuffer.allocateDirect(READ_BYTES).order(ByteOrder.nativeOrder()).flip();

    End(Mode mode, SocketChannel channel, @Nullable Consumer<byte[]> witness) throws IOException {
      super(mode, witness, () -> new Writer(channel));
      this.channel = channel;
      if (channel.getRemoteAddress() instanceof InetSocketAddress) {
        channel.setOption(StandardSocketOptions.TCP_NODELAY, true);
      }
    }

    @Override
    public int poll(int limit) {
      if (!hasMessage()) {
        read();
      }
      int taken = 0;
      for (; taken < limit && hasMessage(); taken++) {
        take();
      }
      return taken;
    }

    private boolean hasMessage() {
      return incoming.remaining() >= HEADER_BYTES
          && incoming.remaining() >= HEADER_BYTES + incoming.getInt(incoming.position());
    }

    private void read() {
      incoming.compact();
      try {
        if (channel.read(incoming) < 0) {
          throw new EOFException("the peer closed the socket");
        }
      } catch (IOException e) {
        throw new UncheckedIOException(e);
      } finally {
        incoming.flip();
      }
    }

    private void take() {
      int start = incoming.position() + HEADER_BYTES;
      int length = incoming.getInt(start - HEADER_BYTES);
      received(incoming.getLong(start));
      if (witness != null) {
        byte[] bytes = new byte[length];
        incoming.get(start, bytes);
        witness.accept(bytes);
      }
      incoming.position(start + length);
    }

    @Override
    public void close() {
      try {
        channel.close();
      } catch (IOException e) {
        throw new UncheckedIOException(e);
      }
    }
  }

  /** Writes messages, each preceded by its length; several threads may do so on one channel. */
  private static final class Writer implements MessageSender {

    private static final int MOST_BYTES =
        Transport.LARGEST_BATCH * (HEADER_BYTES + Transport.LONGEST);

    private final SocketChannel channel;
    private final ByteBuffer payload = Payload.longest();
    private final ByteBuffer outgoing =
        ByteBuffer.allocateDirect(MOST_BYTES).order(ByteOrder.nativeOrder());

    Writer(SocketChannel channel) {
      this.channel = channel;
    }

    @Override
    public boolean trySend(long value, int length) {
      trySendBatch(value, 1, length);
      return true;
    }

    @Override
    public int trySendBatch(long first, int count, int length) {
      outgoing.clear();
      for (int i = 0; i < count; i++) {
        int start = i * (HEADER_BYTES + length) + HEADER_BYTES;
        outgoing.putInt(start - HEADER_BYTES, length).putLong(start, first + i);
        outgoing.put(start + Long.BYTES, payload, Long.BYTES, length - Long.BYTES);
      }
      outgoing.limit(count * (HEADER_BYTES + length));
      try {
        synchronized (channel) { // a partial write must not be followed by another message
          while (outgoing.hasRemaining()) {
            channel.write(outgoing);
          }
        }
      } catch (IOException e) {
        throw new UncheckedIOException(e);
      }
      return count;
    }
  }
}
