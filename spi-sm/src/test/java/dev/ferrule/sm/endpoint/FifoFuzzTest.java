// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.sm.endpoint;

import static org.assertj.core.api.Assertions.assertThat;

import dev.ferrule.posix.EventPoll;
import dev.ferrule.posix.Fifo;
import dev.ferrule.spi.ConnectionSample;
import dev.ferrule.support.Fuzzer;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Headers in an endpoint's FIFO, to which any process of the user may write. */
class FifoFuzzTest {

  private static final int CONNECTION = 3;

  @TempDir Path directory = Path.of("");

  private static byte[] headers(int... headers) {
    ByteBuffer bytes = ByteBuffer.allocate(headers.length * Integer.BYTES);
    bytes.order(ByteOrder.nativeOrder()).asIntBuffer().put(headers);
    return bytes.array();
  }

  @Test
  void everyHeaderBelongsToAConnectionOrCausesACheckOfAll() throws Exception {
    SmAddress own = new SmAddress(directory, new SmAddress.Id(1, 1));
    SmAddress peers = new SmAddress(directory, new SmAddress.Id(2, 1));
    Files.createDirectories(own.directory());
    Files.createDirectories(peers.directory());
    Path path = own.directory().resolve(EndpointFiles.FIFO);
    CountingLink link = new CountingLink();
    try (Fifo.Reader fifo = new Fifo.Reader(path);
        Fifo.Reader atPeer = new Fifo.Reader(peers.directory().resolve(EndpointFiles.FIFO));
        FileChannel written = FileChannel.open(path, StandardOpenOption.WRITE);
        Peer peer = new Peer(EndpointFiles.openFifo(peers.directory()), CONNECTION, () -> {});
        EventPoll poll = new EventPoll()) {
      Links links = new Links(poll, new Guard(own));
      links.add(CONNECTION, link, peer, Duration.ofHours(1));
      new Fuzzer("headers in a FIFO of sm", 10_000)
          .bytes(
              List.of(
                  headers(FifoHeader.of(FifoHeader.WAKEUP, CONNECTION)),
                  headers(FifoHeader.of(FifoHeader.RMA, CONNECTION)),
                  headers(
                      FifoHeader.of(FifoHeader.KEEPALIVE, CONNECTION),
                      FifoHeader.of(FifoHeader.CLOSED, CONNECTION),
                      FifoHeader.of(FifoHeader.RMA_ACK, 7))),
              bytes -> {
                link.calls = 0;
                written.write(ByteBuffer.wrap(bytes));
                int headers = 0;
                for (int count = fifo.read(); count > 0; count = fifo.read()) {
                  for (int i = 0; i < count; i++) {
                    links.handleHeader(fifo.header(i));
                  }
                  headers += count;
                }
                links.work();
                assertThat(headers).isLessThanOrEqualTo(bytes.length / Integer.BYTES + 1);
                assertThat(link.calls).isLessThanOrEqualTo(2 * headers + 4);
                int answers = 0;
                for (int count = atPeer.read(); count > 0; count = atPeer.read()) {
                  answers += count;
                }
                assertThat(answers).isLessThanOrEqualTo(headers);
                return link.calls > 0;
              });
    }
  }

  /** A connection that has nothing to do. */
  private static final class CountingLink implements Link {

    private int calls;

    @Override
    public void onWakeup() {
      calls++;
    }

    @Override
    public void onPeerClosed() {
      calls++;
    }

    @Override
    public void onPeerGone() {
      calls++;
    }

    @Override
    public boolean onFragments() {
      calls++;
      return false;
    }

    @Override
    public boolean hasFragments() {
      return false;
    }

    @Override
    public ConnectionSample sample(int number, long nanos) {
      throw new UnsupportedOperationException();
    }

    @Override
    public void onPeerSilent() {
      calls++;
    }
  }
}
