// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.integration.faults;

import static java.util.Objects.requireNonNull;

import dev.ferrule.Connection;
import dev.ferrule.ConnectionOptions;
import dev.ferrule.Ferrule;
import dev.ferrule.FerruleException;
import dev.ferrule.Listener;
import dev.ferrule.OperationTimeoutException;
import dev.ferrule.ReceiveRegion;
import dev.ferrule.RegisteredMemory;
import dev.ferrule.SendRegion;
import dev.ferrule.Sender;
import dev.ferrule.contract.SystemResources;
import dev.ferrule.posix.FailingCalls;
import dev.ferrule.posix.PosixException;
import dev.ferrule.posix.SealedFile;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.logging.Handler;
import java.util.logging.Logger;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * A program with connections. It reads steps, each a line of words, and answers each with a line of
 * what it has observed. If the step throws an exception, this follows at the end of the line, after
 * a {@code !}.
 *
 * <p>A message is named by its place in {@link Contents}, as in {@code 17:100}: offset and length.
 * A received one is described by its length and checksum.
 */
public final class Program {

  /** How long a step waits for an event that must occur. */
  static final Duration PATIENCE = Duration.ofSeconds(30);

  /** The provider that a program uses, and the injection of faults. */
  interface ProviderAccess {
    Listener listen(URI address);

    Connection connect(URI address, ConnectionOptions options);

    /** Makes calls of these functions, of the system or the device, fail at random. */
    void beginFaults(long seed, int percent, Set<String> functions);

    void endFaults();

    /** Returns how many calls have failed by these faults since the last call of this method. */
    Map<String, Integer> takeFailedCalls();
  }

  /** One side of a connection, with the objects that the program has obtained from it. */
  private static final class End {
    final Connection connection;
    final List<@Nullable Sender> senders = new ArrayList<>();
    final ArrayDeque<Held> held = new ArrayDeque<>();
    final RmaSteps rma;
    private final MemorySegment contents;
    private @Nullable RegisteredMemory registered;
    long last; // id of the first sender's last message

    End(Connection connection, MemorySegment contents) {
      this.connection = connection;
      this.contents = contents;
      this.rma = new RmaSteps(connection, this::registered);
      senders.add(connection.sender());
    }

    RegisteredMemory registered() {
      RegisteredMemory memory = registered;
      if (memory == null) {
        memory = connection.register(contents);
        registered = memory;
      }
      return memory;
    }

    Sender sender(String index) {
      return requireNonNull(senders.get(Integer.parseInt(index)));
    }
  }

  private record Held(ReceiveRegion region, String description) {}

  private final ProviderAccess provider;
  private final MemorySegment contents = Contents.in(Arena.ofAuto());
  private final Map<String, End> ends = new HashMap<>();
  private @Nullable Listener listener;
  private StringBuilder answer = new StringBuilder();

  Program(ProviderAccess provider) {
    this.provider = provider;
  }

  /**
   * Runs the steps that are read from standard input.
   *
   * @param arguments unused
   * @throws IOException if the input cannot be read
   */
  public static void main(String[] arguments) throws IOException {
    hideFailedCalls();
    Program program =
        new Program(
            new ProviderAccess() {
              @Override
              public Listener listen(URI address) {
                return Ferrule.listen(address);
              }

              @Override
              public Connection connect(URI address, ConnectionOptions options) {
                return Ferrule.connect(address, options);
              }

              @Override
              public void beginFaults(long seed, int percent, Set<String> functions) {
                FailingCalls.begin(seed, percent, functions);
              }

              @Override
              public void endFaults() {
                FailingCalls.end();
              }

              @Override
              public Map<String, Integer> takeFailedCalls() {
                return FailingCalls.takeCounts();
              }
            });
    BufferedReader steps =
        new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
    for (String step = steps.readLine(); step != null; step = steps.readLine()) {
      System.out.println(program.run(step));
    }
  }

  /** Runs a step, and returns its answer. */
  String run(String step) {
    answer = new StringBuilder("=");
    try {
      perform(step.split(" "));
    } catch (Throwable e) { // the model decides which exceptions are permitted
      answer.append(" !").append(e.getClass().getSimpleName()).append(": ").append(e.getMessage());
      if (!(e instanceof FerruleException)) {
        answer.append(" at ").append(Arrays.stream(e.getStackTrace()).limit(6).toList());
      }
    }
    return answer.toString().replace('\n', ' ');
  }

  private void perform(String[] words) throws IOException {
    String name = words.length > 1 ? words[1] : "";
    switch (words[0]) {
      case "listen" -> {
        Listener opened = provider.listen(URI.create(name));
        listener = opened;
        report(opened.uri().toString());
      }
      case "unlisten" -> {
        requireNonNull(listener).close();
        listener = null;
      }
      case "connect" -> {
        ConnectionOptions options =
            ConnectionOptions.builder().payload(name.getBytes(StandardCharsets.UTF_8)).build();
        ends.put(name, new End(provider.connect(URI.create(words[2]), options), contents));
      }
      case "accept" -> {
        Duration timeout = Duration.ofMillis(Long.parseLong(name));
        Connection accepted = requireNonNull(listener).accept(timeout);
        String peer = new String(accepted.peerPayload(), StandardCharsets.UTF_8);
        ends.put(peer, new End(accepted, contents));
        report(peer);
      }
      case "faults" -> {
        Set<String> functions = Set.copyOf(Arrays.asList(words).subList(3, words.length));
        provider.beginFaults(Long.parseLong(words[1]), Integer.parseInt(words[2]), functions);
      }
      case "repair" -> provider.endFaults();
      case "failed" ->
          provider.takeFailedCalls().forEach((call, count) -> report(call + ":" + count));
      case "files" -> report(openFiles());
      case "mappings" -> report(String.join(",", mappings()));
      default -> perform(words, requireNonNull(ends.get(name), name));
    }
  }

  /** Keeps the log free of failed system calls: most fail by injected faults. */
  private static void hideFailedCalls() {
    for (Handler handler : Logger.getLogger("").getHandlers()) {
      handler.setFilter(logged -> !(logged.getThrown() instanceof PosixException));
    }
  }

  /** Returns the open files of the kinds that Ferrule opens. */
  private static String openFiles() throws IOException {
    List<String> files = new ArrayList<>();
    try (Stream<Path> descriptors = Files.list(Path.of("/proc/self/fd"))) {
      for (Path descriptor : descriptors.toList()) {
        if (Integer.parseInt(descriptor.getFileName().toString()) > 2
            && Files.isSymbolicLink(descriptor)) { // that of the listing itself is closed by now
          files.add(Files.readSymbolicLink(descriptor).toString());
        }
      }
    }
    files.removeIf(file -> !file.matches("(socket:|anon_inode:|pipe:|/memfd:|/dev/shm/).*"));
    return String.join(",", files);
  }

  /**
   * Returns the mappings of files of the kinds that Ferrule maps. If there are any, the garbage
   * collector runs: where a fault prevents their replacement, they stay until they are unreachable.
   */
  private static List<String> mappings() {
    List<String> mappings = new ArrayList<>(SystemResources.mappings("/memfd:" + SealedFile.NAME));
    mappings.addAll(SystemResources.mappings("/dev/shm/"));
    if (!mappings.isEmpty()) {
      System.gc();
    }
    return mappings;
  }

  private void perform(String[] words, End end) {
    switch (words[0]) {
      case "newSender" -> end.senders.add(end.connection.newSender());
      case "closeSender" -> {
        end.sender(words[2]).close();
        end.senders.set(Integer.parseInt(words[2]), null);
      }
      case "end" -> endMessages(end);
      case "awaitEnd" -> awaitEnd(end.connection);
      case "send" -> send(end, words);
      case "flush" -> end.sender(words[2]).flush();
      case "await" -> {
        if (end.last > 0) {
          end.connection.sender().await(end.last, PATIENCE);
        }
      }
      case "poll" -> poll(end, Integer.parseInt(words[2]));
      case "take" -> take(end, Integer.parseInt(words[2]));
      case "wait" -> awaitMessages(end, Integer.parseInt(words[2]));
      case "interrupt" -> {
        Thread.currentThread().interrupt();
        try {
          awaitMessages(end, 1);
        } finally {
          Thread.interrupted();
        }
      }
      case "free" -> free(end, words[2].equals("first"));
      case "close" -> {
        end.connection.close();
        end.rma.expectClosed();
        ends.remove(words[1]);
      }
      case "receiveAndInspect" -> {
        awaitMessages(end, 1);
        end.rma.perform(new String[] {"inspect", words[1], words[2]}, this::report);
      }
      case "expose", "unexpose", "inspect", "attach", "access" ->
          end.rma.perform(words, this::report);
      default -> throw new IllegalArgumentException(words[0]);
    }
  }

  /** Closes all senders, and checks that none can send and that no other one can be opened. */
  private static void endMessages(End end) {
    for (Sender sender : end.senders) {
      if (sender != null) {
        sender.close();
      }
    }
    expectRefused(() -> end.connection.sender().tryClaim(0));
    expectRefused(end.connection::newSender);
  }

  private static void awaitEnd(Connection connection) {
    CompletableFuture<Connection> ended = new CompletableFuture<>();
    connection.onClose(ended::complete);
    ended.orTimeout(PATIENCE.toMillis(), TimeUnit.MILLISECONDS).join();
  }

  private static void expectRefused(Runnable call) {
    try {
      call.run();
    } catch (IllegalStateException e) {
      return;
    }
    throw new AssertionError("a call has succeeded after the end of the messages");
  }

  private void report(String word) {
    answer.append(' ').append(word);
  }

  /** Sends messages one after the other, and answers with each that was sent. */
  private void send(End end, String[] words) {
    Sender sender = end.sender(words[2]);
    for (int i = 4; i < words.length; i++) {
      String[] place = words[i].split(":");
      int offset = Integer.parseInt(place[0]);
      int length = Integer.parseInt(place[1]);
      long id =
          switch (words[3]) {
            case "copy" -> sender.send(contents, offset, length);
            case "stage" -> sender.stage(contents, offset, length);
            case "claim" -> claim(sender, offset, length);
            case "gather" -> {
              int header = length / 3;
              MemorySegment head = contents.asSlice(offset, header);
              yield sender.sendRegistered(head, end.registered(), offset + header, length - header);
            }
            default -> throw new IllegalArgumentException(words[3]);
          };
      if (id < 0) {
        return; // there is no room
      }
      if (words[2].equals("0")) {
        end.last = id;
      }
      report(words[i]);
    }
  }

  private long claim(Sender sender, int offset, int length) {
    SendRegion region = sender.tryClaim(length);
    if (region == null) {
      return -1;
    }
    if (offset % 5 == 0) { // aborts some claims
      region.abort();
      region = sender.tryClaim(length);
      if (region == null) {
        return -1;
      }
    }
    MemorySegment.copy(contents, offset, region.buffer(), region.offset(), length);
    return region.commit();
  }

  private void poll(End end, int limit) {
    end.connection
        .receiver()
        .poll(
            (buffer, offset, length) -> report(Contents.describe(buffer.asSlice(offset, length))),
            limit);
  }

  private void take(End end, int limit) {
    for (int i = 0; i < limit; i++) {
      ReceiveRegion region = end.connection.receiver().tryReceive();
      if (region == null) {
        return;
      }
      String description = Contents.describe(region.segment());
      end.held.add(new Held(region, description));
      report(description);
    }
  }

  private void awaitMessages(End end, int count) {
    for (int i = 0; i < count; i++) {
      try (ReceiveRegion region = end.connection.receiver().receive(PATIENCE)) {
        report(Contents.describe(region.segment()));
      } catch (OperationTimeoutException e) {
        throw new AssertionError("a message did not arrive", e);
      }
    }
  }

  /** Frees the first held message, or all in reverse order, and checks that they are unchanged. */
  private void free(End end, boolean first) {
    do {
      Held held = first ? end.held.pollFirst() : end.held.pollLast();
      if (held == null) {
        return;
      }
      String now = Contents.describe(held.region.segment());
      if (!now.equals(held.description)) {
        throw new AssertionError("a held message has changed: " + held.description + ", " + now);
      }
      held.region.close();
      report(now);
    } while (!first);
  }
}
