// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.peers.transport;

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
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * A blocking stream socket, as most programs have one: a system call for each message that is
 * written, and one for as many as have come when some are read. Each message has its length before
 * it.
 */
final class SocketContender implements Contender {

  private static final String FILE = "socket";

  private final StandardProtocolFamily family;

  SocketContender(StandardProtocolFamily family) {
    this.family = family;
  }

  private boolean isUnix() {
    return family == StandardProtocolFamily.UNIX;
  }

  @Override
  public String name() {
    return isUnix() ? "unix" : "tcp";
  }

  @Override
  public String version() {
    return "java.nio SocketChannel of Java "
        + Runtime.version()
        + (isUnix() ? ", blocking, Unix domain" : ", blocking, loopback, TCP_NODELAY");
  }

  @Override
  public Listening listen(Path directory, @Nullable Consumer<byte[]> witness) {
    try {
      ServerSocketChannel server = ServerSocketChannel.open(family);
      server.bind(
          isUnix()
              ? UnixDomainSocketAddress.of(directory.resolve(FILE))
              : new InetSocketAddress(InetAddress.ofLiteral("127.0.0.1"), 0));
      return new Server(server, witness);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  @Override
  public Transport connect(String address, @Nullable Consumer<byte[]> witness) {
    SocketAddress where =
        isUnix()
            ? UnixDomainSocketAddress.of(address)
            : new InetSocketAddress(InetAddress.ofLiteral("127.0.0.1"), Integer.parseInt(address));
    try {
      return new End(SocketChannel.open(where), witness);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private record Server(ServerSocketChannel channel, @Nullable Consumer<byte[]> witness)
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
        return new End(channel.accept(), witness);
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

  private static final class End implements Transport {

    private static final int READ_BYTES = 256 << 10;
    private static final int HEADER_BYTES = Integer.BYTES;

    private final SocketChannel channel;
    private final @Nullable Consumer<byte[]> witness;
    private final ByteBuffer outgoing =
        ByteBuffer.allocateDirect(HEADER_BYTES + LONGEST).order(ByteOrder.nativeOrder());
    private final ByteBuffer incoming =
        ByteBuffer.allocateDirect(READ_BYTES).order(ByteOrder.nativeOrder()).flip();
    private long lastValue;

    End(SocketChannel channel, @Nullable Consumer<byte[]> witness) throws IOException {
      this.channel = channel;
      this.witness = witness;
      if (channel.getRemoteAddress() instanceof InetSocketAddress) {
        channel.setOption(StandardSocketOptions.TCP_NODELAY, true);
      }
      outgoing.put(HEADER_BYTES, Payload.longest(), 0, LONGEST);
    }

    @Override
    public boolean trySend(long value, int length) {
      outgoing.putInt(0, length).putLong(HEADER_BYTES, value);
      outgoing.limit(HEADER_BYTES + length).position(0);
      try {
        while (outgoing.hasRemaining()) {
          channel.write(outgoing);
        }
      } catch (IOException e) {
        throw new UncheckedIOException(e);
      } finally {
        outgoing.clear();
      }
      return true;
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
          throw new EOFException("the peer has closed the socket");
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
      lastValue = incoming.getLong(start);
      if (witness != null) {
        byte[] bytes = new byte[length];
        incoming.get(start, bytes);
        witness.accept(bytes);
      }
      incoming.position(start + length);
    }

    @Override
    public long lastValue() {
      return lastValue;
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
}
