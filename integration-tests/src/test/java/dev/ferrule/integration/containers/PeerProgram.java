// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.integration.containers;

import dev.ferrule.Connection;
import dev.ferrule.Ferrule;
import dev.ferrule.FerruleException;
import dev.ferrule.Listener;
import dev.ferrule.ReceiveRegion;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.MethodHandle;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.nio.file.FileStore;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.FutureTask;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * The program in a container. It executes each line of standard input as a command, and answers it
 * with a line. A test thereby observes remotely what a program that uses Ferrule observes.
 * Connections are numbered from 1 in the order of their creation by the program.
 */
public final class PeerProgram {

  /** The prefix of a successful answer. */
  static final String OK = "ok ";

  /** The prefix of a failure, followed by the exception's class and message. */
  static final String FAILED = "failed ";

  private static final int MADV_REMOVE = 9;

  private final List<Connection> connections = new ArrayList<>();
  private final List<SharedMemory> memories = new ArrayList<>();
  private @Nullable Listener listener;
  private @Nullable FutureTask<String> background;

  private PeerProgram() {}

  /**
   * Runs until standard input ends, or the command {@code exit} is read.
   *
   * @param arguments unused
   * @throws IOException if standard input cannot be read
   */
  public static void main(String[] arguments) throws IOException {
    PeerProgram program = new PeerProgram();
    BufferedReader commands =
        new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
    for (String line = commands.readLine(); line != null; line = commands.readLine()) {
      List<String> words = Arrays.asList(line.split(" "));
      if (words.get(0).equals("exit")) {
        break;
      }
      System.out.println(program.reply(words).replace('\n', ' '));
      System.out.flush();
    }
    System.exit(0); // regardless of the connections' state
  }

  private String reply(List<String> words) {
    try {
      return OK + perform(words.get(0), words.subList(1, words.size()));
    } catch (FerruleException e) {
      return FAILED + e.getClass().getSimpleName() + " " + e.getMessage();
    } catch (Throwable e) {
      return FAILED + e;
    }
  }

  private String perform(String command, List<String> words) throws Throwable {
    return switch (command) {
      case "whoami" ->
          ProcessHandle.current().pid()
              + " "
              + Files.getAttribute(Path.of("/proc/self"), "unix:uid");
      case "listen" -> {
        listener = Ferrule.listen(URI.create(words.get(0)));
        yield listener.uri().toString();
      }
      case "accept" -> add(listening().accept());
      case "connect" -> add(Ferrule.connect(URI.create(words.get(0))));
      case "exchange" -> Traffic.exchange(connection(words)).toString();
      case "send" -> {
        byte[] text = words.get(1).getBytes(StandardCharsets.UTF_8);
        connection(words).sender().send(MemorySegment.ofArray(text));
        yield "";
      }
      case "receive" -> {
        try (ReceiveRegion message = connection(words).receiver().receive()) {
          byte[] text = message.segment().toArray(ValueLayout.JAVA_BYTE);
          yield new String(text, StandardCharsets.UTF_8);
        }
      }
      case "send-long" ->
          sendLong(connection(words), Integer.parseInt(words.get(1)), Long.parseLong(words.get(2)));
      case "punch" -> punch(Long.parseLong(words.get(0)));
      case "charged" -> String.valueOf(chargedSharedMemory());
      case "flood" -> flood(connection(words));
      case "stalled" -> awaitStall(connection(words));
      case "drain" -> drain(connection(words), Long.parseLong(words.get(1)));
      case "path" -> {
        Connection connection = connection(words);
        connection.rma(); // fails if the chosen mechanism does not work here
        yield connection.counters().rmaPath().orElse("none");
      }
      case "share" -> {
        memories.add(new SharedMemory(connection(words)));
        yield "";
      }
      case "memory" -> memory(words).ownChecksum();
      case "read" -> memory(words).readChecksum();
      case "write" -> memory(words).write();
      case "state" -> connection(words).state().toString();
      case "close" -> {
        connection(words).close();
        yield "";
      }
      case "serve" -> serve();
      case "visit" -> visit(URI.create(words.get(0)), Integer.parseInt(words.get(1)));
      case "attack" ->
          HostileMember.attack(URI.create(words.get(0)), Integer.parseInt(words.get(1)));
      case "unlisten" -> {
        listening().close();
        yield "";
      }
      case "files" -> files(Path.of(words.get(0)));
      case "room" -> {
        FileStore store = Files.getFileStore(Path.of(words.get(0)));
        yield store.type() + " " + store.getTotalSpace();
      }
      case "begin" -> {
        FutureTask<String> begun = new FutureTask<>(() -> reply(words));
        Thread.ofPlatform().daemon().start(begun);
        background = begun;
        yield "";
      }
      case "finish" -> {
        FutureTask<String> begun = background;
        yield begun == null ? "nothing was begun" : begun.get();
      }
      default -> throw new IllegalArgumentException(command);
    };
  }

  private Listener listening() {
    Listener known = listener;
    if (known == null) {
      throw new IllegalStateException("not listening");
    }
    return known;
  }

  private String add(Connection connection) {
    connections.add(connection);
    return connection.uri().toString();
  }

  private Connection connection(List<String> words) {
    return connections.get(Integer.parseInt(words.get(0)) - 1);
  }

  private SharedMemory memory(List<String> words) {
    return memories.get(Integer.parseInt(words.get(0)) - 1);
  }

  private static String sendLong(Connection connection, int count, long length) {
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment message = arena.allocate(length);
      for (int i = 0; i < count; i++) {
        connection.sender().send(message);
      }
    }
    return "";
  }

  /**
   * Frees the pages of the memory in which this process receives messages, except for the first
   * MiB, which contains the ring. The memory is found by its length.
   */
  private static String punch(long buffer) throws Throwable {
    Linker linker = Linker.nativeLinker();
    MethodHandle madvise =
        linker.downcallHandle(
            linker.defaultLookup().findOrThrow("madvise"),
            FunctionDescriptor.of(
                ValueLayout.JAVA_INT,
                ValueLayout.JAVA_LONG,
                ValueLayout.JAVA_LONG,
                ValueLayout.JAVA_INT));
    for (String mapping : Files.readAllLines(Path.of("/proc/self/maps"))) {
      String[] bounds = mapping.substring(0, mapping.indexOf(' ')).split("-");
      long from = Long.parseUnsignedLong(bounds[0], 16);
      long length = Long.parseUnsignedLong(bounds[1], 16) - from;
      if (mapping.contains("/memfd:") && length >= buffer) {
        long ring = 1 << 20;
        int result = (int) madvise.invokeExact(from + ring, buffer - ring, MADV_REMOVE);
        if (result != 0) {
          throw new IllegalStateException("madvise has failed on " + mapping);
        }
        return mapping;
      }
    }
    throw new IllegalStateException("no shared memory of at least " + buffer + " bytes");
  }

  /** Returns how much shared memory the container is charged for, in bytes. */
  private static long chargedSharedMemory() throws IOException {
    Path version1 = Path.of("/sys/fs/cgroup/memory/memory.stat");
    Path file = Files.exists(version1) ? version1 : Path.of("/sys/fs/cgroup/memory.stat");
    return Files.readAllLines(file).stream()
        .filter(line -> line.startsWith("shmem "))
        .mapToLong(line -> Long.parseLong(line.split(" ")[1]))
        .findFirst()
        .orElseThrow();
  }

  /** Sends messages until a send fails. */
  private static String flood(Connection connection) {
    for (long i = 0; ; i++) {
      connection.sender().send(MemorySegment.ofArray(new long[] {i}));
    }
  }

  /** Answers the first message of each client, until the listener is closed. */
  private String serve() {
    while (true) {
      Connection accepted = listening().accept();
      Thread.ofPlatform().daemon().start(() -> answer(accepted));
    }
  }

  private static void answer(Connection accepted) {
    try (accepted;
        ReceiveRegion message = accepted.receiver().receive()) {
      accepted.sender().send(message.segment());
      accepted.receiver().receive().close(); // fails when the client closes
    } catch (FerruleException e) {
      return; // the client has closed, or was lost
    }
  }

  /** Connects several times, and each time sends a message and receives the answer. */
  private static String visit(URI address, int times) {
    for (int i = 0; i < times; i++) {
      try (Connection connection = Ferrule.connect(address)) {
        connection.sender().send(MemorySegment.ofArray(new int[] {i}));
        try (ReceiveRegion message = connection.receiver().receive()) {
          int value = message.segment().get(ValueLayout.JAVA_INT_UNALIGNED, 0);
          if (value != i) {
            throw new IllegalStateException(value + " instead of " + i);
          }
        }
      }
    }
    return "";
  }

  /** Waits until a sending thread has stalled. */
  private static String awaitStall(Connection connection) {
    while (connection.counters().backPressureStalls() == 0) {
      Thread.onSpinWait();
    }
    return "";
  }

  /** Receives the messages of {@link #flood}. */
  private static String drain(Connection connection, long count) {
    for (long i = 0; i < count; i++) {
      connection.receiver().receive().close();
    }
    return "";
  }

  private static String files(Path base) throws IOException {
    if (Files.notExists(base)) {
      return "";
    }
    try (Stream<Path> files = Files.walk(base)) {
      return files
          .map(base::relativize)
          .map(Path::toString)
          .filter(name -> !name.isEmpty())
          .sorted()
          .collect(Collectors.joining(" "));
    }
  }
}
