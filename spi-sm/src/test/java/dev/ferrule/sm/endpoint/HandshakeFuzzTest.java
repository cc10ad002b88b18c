// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.sm.endpoint;

import static org.assertj.core.api.Assertions.assertThat;

import dev.ferrule.FerruleException;
import dev.ferrule.OperationTimeoutException;
import dev.ferrule.VersionMismatchException;
import dev.ferrule.posix.DatagramSocket;
import dev.ferrule.posix.EventPoll;
import dev.ferrule.posix.SealedFile;
import dev.ferrule.posix.SharedMapping;
import dev.ferrule.sm.endpoint.HandshakeMessage.Type;
import dev.ferrule.sm.os.Access;
import dev.ferrule.sm.ring.RingLayout;
import dev.ferrule.support.Fuzzer;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.ref.Reference;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.EnumSet;
import java.util.HexFormat;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.function.UnaryOperator;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Datagrams of the handshake, and the memory passed with them, as any process may send them. */
class HandshakeFuzzTest {

  private static final RingLayout LAYOUT = new RingLayout(12, 0, 100);
  private static final int BACKLOG = 8;
  private static final URI NAME = URI.create("sm:///test");
  private static final SmAddress.Id PEER = new SmAddress.Id(77, 1);
  private static final int CLIENT_ID = 5;
  private static final Set<Type> OF_CLIENT = EnumSet.of(Type.CONNECT, Type.ACK, Type.CANCEL);

  @TempDir Path directory = Path.of("");

  private static List<byte[]> messages() {
    List<byte[]> result = new ArrayList<>();
    byte[] reason = "the listener lacks a resource".getBytes(StandardCharsets.UTF_8);
    for (Type type : Type.values()) {
      result.add(new HandshakeMessage(type, CLIENT_ID, 9, reason).encode());
    }
    int anotherVersion = HandshakeMessage.VERSION + 1;
    result.add(new HandshakeMessage(Type.ACCEPT, anotherVersion, CLIENT_ID, 9, reason).encode());
    result.add(new HandshakeMessage(Type.REFUSE, anotherVersion, CLIENT_ID, 0, reason).encode());
    result.add(
        new HandshakeMessage(Type.CONNECT, 1, 0, new byte[HandshakeMessage.MAX_PAYLOAD]).encode());
    result.add(
        new HandshakeMessage(Type.ACK, HandshakeMessage.MAX_ID, HandshakeMessage.MAX_ID, reason)
            .encode());
    return result;
  }

  @Test
  void aDatagramIsAMessageWithinTheLimitsOrNone() {
    new Fuzzer("datagrams of sm", 20_000)
        .allocates(4 << 10)
        .bytes(
            messages(),
            bytes -> {
              Optional<HandshakeMessage> decoded = HandshakeMessage.decode(bytes);
              decoded.ifPresent(message -> {
                assertThat(message.clientId()).isBetween(1, HandshakeMessage.MAX_ID);
                assertThat(message.serverId()).isBetween(0, HandshakeMessage.MAX_ID);
                if (message.version() == HandshakeMessage.VERSION) {
                  assertThat(message.payload()).hasSizeLessThan(HandshakeMessage.MAX_PAYLOAD + 1);
                  assertThat(message.encode()).isEqualTo(bytes);
                }
              });
              return decoded.isPresent();
            });
  }

  /**
   * The datagrams go through a socket to the endpoint's own code, in this thread. Of each input the
   * first bytes are the descriptor of the memory that is passed.
   */
  @Test
  void aListenerOutlivesEveryDatagram() throws Exception {
    Endpoint endpoint =
        Endpoint.open(
            new SmAddress(directory, null), Access.USER, UnaryOperator.identity(), EventPoll::new);
    assertThat(endpoint).isNotNull();
    List<Throwable> failures = new ArrayList<>();
    Guard guard =
        new Guard(endpoint.address()) {
          @Override
          void warn(Throwable problem) {
            failures.add(problem);
          }
        };
    Path client = Files.createDirectories(directory.resolve(PEER.toString())).resolve("sock");
    Path server = directory.resolve("server");
    long size = LAYOUT.ringSize();
    try (SealedFile file = SealedFile.create(size, size);
        DatagramSocket from = new DatagramSocket(client);
        DatagramSocket to = new DatagramSocket(server)) {
      SharedMapping mapping = file.map(size);
      MemorySegment descriptor = mapping.view().asSlice(0, RingLayout.DESCRIPTOR_SIZE);
      LAYOUT.writeDescriptor(descriptor, 0, 7, 0, 0);
      byte[] valid = descriptor.toArray(ValueLayout.JAVA_BYTE);
      List<byte[]> samples = messages().stream().map(message -> joined(valid, message)).toList();
      Datagrams datagrams = new Datagrams(endpoint, to, guard);
      Acceptor acceptor = endpoint.listen(BACKLOG);
      ClientHandshake connecting =
          endpoint.connect(CLIENT_ID, endpoint.address().with(PEER), new byte[0], file);

      new Fuzzer("datagrams and memory at a listener of sm", 3_000)
          .permits(FerruleException.class)
          .explainsIn(6 * HandshakeMessage.MAX_PAYLOAD + 1_000) // as each byte may be escaped
          .allocates(1 << 20) // by the escaping
          .bytes(
              samples,
              bytes -> {
                int head = Math.min(bytes.length, RingLayout.DESCRIPTOR_SIZE);
                MemorySegment.copy(bytes, 0, descriptor, ValueLayout.JAVA_BYTE, 0, head);
                byte[] datagram = Arrays.copyOfRange(bytes, head, bytes.length);
                int choice = Arrays.hashCode(bytes); // not by the length, as that of most is valid
                boolean hasMemory = choice % 5 != 0;
                int sent = from.send(datagram, hasMemory ? file : null, server);
                datagrams.read(1);
                assertThat(failures).isEmpty();
                List<Type> answers = answers(from);
                ServerHandshake waiting = acceptor.next(System.nanoTime());
                if (sent != 0 || !isRequest(datagram)) {
                  assertThat(waiting).isNull();
                } else if (hasMemory && RingLayout.readDescriptor(descriptor).isPresent()) {
                  assertThat(waiting != null || !answers.isEmpty()).isTrue();
                } else {
                  assertThat(waiting).isNull();
                  assertIsRefusal(answers);
                }
                if (waiting != null && choice % 2 == 0) {
                  waiting.refuse("no");
                  assertIsRefusal(answers(from));
                } else if (waiting != null) {
                  waiting.abandon();
                }
                if (isAnswer(datagram)) {
                  awaitAnswer(connecting, datagram);
                }
                return sent == 0 && (!answers.isEmpty() || waiting != null);
              });
      Reference.reachabilityFence(mapping);
    } finally {
      endpoint.release();
    }
  }

  /** Returns the types of the answers, which must be messages with plain text. */
  private static List<Type> answers(DatagramSocket socket) {
    List<Type> types = new ArrayList<>();
    for (DatagramSocket.Datagram answer = socket.receive();
        answer != null;
        answer = socket.receive()) {
      if (answer.file() != null) {
        answer.file().close();
      }
      Optional<HandshakeMessage> message = HandshakeMessage.decode(answer.bytes());
      assertThat(message).as(HexFormat.of().formatHex(answer.bytes())).isPresent();
      assertThat(new String(message.get().payload(), StandardCharsets.UTF_8))
          .doesNotContainPattern("\\p{Cntrl}");
      types.add(message.get().type());
    }
    return types;
  }

  /** Checks the answers of the listener; the endpoint's own client sends to the same socket. */
  private static void assertIsRefusal(List<Type> answers) {
    assertThat(answers).filteredOn(type -> !OF_CLIENT.contains(type)).containsExactly(Type.REFUSE);
  }

  private static boolean isRequest(byte[] datagram) {
    return HandshakeMessage.decode(datagram)
        .filter(message -> message.type() == Type.CONNECT)
        .filter(message -> message.version() == HandshakeMessage.VERSION)
        .isPresent();
  }

  private static boolean isAnswer(byte[] datagram) {
    return HandshakeMessage.decode(datagram)
        .filter(message -> message.clientId() == CLIENT_ID)
        .filter(message -> !OF_CLIENT.contains(message.type()))
        .isPresent();
  }

  private static void awaitAnswer(ClientHandshake connecting, byte[] datagram) {
    boolean isOfThisVersion =
        HandshakeMessage.decode(datagram)
            .filter(message -> message.version() == HandshakeMessage.VERSION)
            .isPresent();
    try {
      Object ignored =
          connecting.await(NAME, System.nanoTime(), accepted -> accepted.memory().file().fd() >= 0);
      assertThat(isOfThisVersion).isTrue();
    } catch (FerruleException e) {
      if (!isOfThisVersion) {
        assertThat(e)
            .isInstanceOfAny(VersionMismatchException.class, OperationTimeoutException.class);
      }
      throw e;
    }
  }

  private static byte[] joined(byte[] first, byte[] second) {
    byte[] result = Arrays.copyOf(first, first.length + second.length);
    System.arraycopy(second, 0, result, first.length, second.length);
    return result;
  }
}
