// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.integration.faults;

import static java.util.Objects.requireNonNull;

import dev.ferrule.Connection;
import dev.ferrule.ConnectionClosedException;
import dev.ferrule.ExposedMemory;
import dev.ferrule.PeerLostException;
import dev.ferrule.RegisteredMemory;
import dev.ferrule.RemoteAccessException;
import dev.ferrule.RemoteMemory;
import dev.ferrule.Rma;
import dev.ferrule.RmaHandle;
import dev.ferrule.RmaRight;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Consumer;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * The remote memory access of a {@link Program}'s connection. Memory is named by the bytes of its
 * handle, in hexadecimal digits. An operation is a word whose parts are separated by commas, as in
 * {@code write,100,17:20}, which writes to offset 100 the 20 bytes at offset 17 of {@link
 * Contents}.
 */
final class RmaSteps {

  /** The length of the longest memory. */
  static final int LONGEST = 100_000;

  /** The most operations of a step that store something in local memory. */
  static final int MOST_RESULTS = 3;

  private final Connection connection;
  private final Supplier<RegisteredMemory> contents;
  private final Map<String, ExposedMemory> exposed = new HashMap<>();
  private final Map<String, RemoteMemory> attached = new HashMap<>();
  private @Nullable RegisteredMemory results;

  // of the current step
  private final List<Supplier<String>> answers = new ArrayList<>();
  private long last;
  private long place; // in the results

  RmaSteps(Connection connection, Supplier<RegisteredMemory> contents) {
    this.connection = connection;
    this.contents = contents;
  }

  /** Runs a step, the second word of which is the connection's name. */
  void perform(String[] words, Consumer<String> answer) {
    switch (words[0]) {
      case "expose" -> answer.accept(expose(words[2], Long.parseLong(words[3]), words[4]));
      case "unexpose" -> exposed(words[2]).close();
      case "inspect" -> answer.accept(Contents.describe(exposed(words[2]).segment()));
      case "attach" -> {
        RmaHandle handle = RmaHandle.of(HexFormat.of().parseHex(words[2]));
        attached.put(words[2], connection.rma().attach(handle));
      }
      case "access" ->
          access(
              requireNonNull(attached.get(words[2])),
              Arrays.asList(words).subList(3, words.length),
              answer);
      default -> throw new IllegalArgumentException(words[0]);
    }
  }

  private ExposedMemory exposed(String name) {
    return requireNonNull(exposed.get(name));
  }

  private String expose(String way, long length, String rightsOfPeer) {
    RmaRight[] rights =
        Arrays.stream(rightsOfPeer.split(",")).map(RmaRight::valueOf).toArray(RmaRight[]::new);
    ExposedMemory memory =
        way.equals("allocate")
            ? connection.rma().allocate(length, rights)
            : connection.rma().expose(Arena.ofAuto().allocate(length, 8), rights);
    String name = HexFormat.of().formatHex(memory.handle().toBytes());
    exposed.put(name, memory);
    return name;
  }

  /**
   * Begins operations and waits for their end. Answers with what they have read, unless one of
   * those that were begun has failed.
   */
  private void access(RemoteMemory memory, List<String> operations, Consumer<String> answer) {
    answers.clear();
    last = 0;
    place = 0;
    RuntimeException failure = null;
    try {
      operations.forEach(operation -> begin(memory, operation.split(",")));
    } catch (RuntimeException e) {
      failure = e;
    }
    failure = awaitAll(failure);
    if (failure == null || failure instanceof IndexOutOfBoundsException) {
      answers.forEach(each -> answer.accept(each.get()));
    }
    if (failure != null) {
      throw failure;
    }
  }

  /**
   * Waits for the operations that were begun. Each one that is refused throws its exception once.
   * Returns the first exception, or one that is no refusal, which ends the wait.
   */
  private @Nullable RuntimeException awaitAll(@Nullable RuntimeException before) {
    RuntimeException first = before;
    while (last > 0) {
      try {
        connection.rma().await(last, Program.PATIENCE);
        return first;
      } catch (RemoteAccessException e) {
        first = first == null ? e : first;
      } catch (RuntimeException e) {
        return e;
      }
    }
    return first;
  }

  private void begin(RemoteMemory memory, String[] parts) {
    Rma rma = connection.rma();
    long at = parts.length > 1 ? Long.parseLong(parts[1]) : 0;
    switch (parts[0]) {
      case "fence" -> rma.fence();
      case "await" -> {
        if (last > 0) {
          rma.await(last, Program.PATIENCE);
        }
      }
      case "poll" -> {
        while (last > 0 && !rma.isComplete(last)) {
          Thread.onSpinWait();
        }
      }
      case "write" -> {
        String[] slice = parts[2].split(":");
        int length = Integer.parseInt(slice[1]);
        last = rma.write(contents.get(), Long.parseLong(slice[0]), memory, at, length);
      }
      case "send" -> {
        String[] slice = parts[2].split(":");
        String[] message = parts[3].split(":");
        RegisteredMemory from = contents.get();
        last =
            rma.writeAndSend(
                from,
                Long.parseLong(slice[0]),
                memory,
                at,
                Integer.parseInt(slice[1]),
                from.segment().asSlice(Long.parseLong(message[0]), Long.parseLong(message[1])));
      }
      case "view" -> { // shows the completed operations
        long length = Long.parseLong(parts[2]);
        Optional<MemorySegment> view = memory.view();
        if (view.isPresent()) {
          String seen = Contents.describe(view.get().asSlice(at, length));
          answers.add(() -> seen);
        } else {
          begin(memory, new String[] {"read", parts[1], parts[2]});
        }
      }
      case "read" -> {
        long length = Long.parseLong(parts[2]);
        RegisteredMemory to = results();
        MemorySegment read = to.segment().asSlice(place, length);
        last = rma.read(to, place, memory, at, length);
        place += (length + 7) & -8;
        answers.add(() -> Contents.describe(read));
      }
      case "relay" -> { // writes what it has read
        int length = Integer.parseInt(parts[2]);
        long from = place;
        begin(memory, new String[] {"read", parts[1], parts[2]});
        rma.fence();
        last = rma.write(results(), from, memory, Long.parseLong(parts[3]), length);
      }
      case "add" -> {
        last = rma.fetchAndAdd(results(), place, memory, at, Long.parseLong(parts[2]));
        answerPrevious();
      }
      case "swap" -> {
        long expected = Long.parseLong(parts[2]);
        long desired = Long.parseLong(parts[3]);
        last = rma.compareAndSwap(results(), place, memory, at, expected, desired);
        answerPrevious();
      }
      default -> throw new IllegalArgumentException(parts[0]);
    }
  }

  private void answerPrevious() {
    long at = place;
    place += Long.BYTES;
    answers.add(() -> Long.toString(results().segment().get(ValueLayout.JAVA_LONG, at)));
  }

  private RegisteredMemory results() {
    RegisteredMemory memory = results;
    if (memory == null) {
      memory =
          connection.register(Arena.ofAuto().allocate(MOST_RESULTS * (LONGEST + 8L), Long.BYTES));
      results = memory;
    }
    return memory;
  }

  /** Checks that no operation is possible after the connection was closed. */
  void expectClosed() {
    expectClosed(() -> connection.rma().fence());
    expectClosed(() -> {
      try (ExposedMemory memory = connection.rma().allocate(8, RmaRight.READ)) {
        throw new AssertionError("memory was exposed over a closed connection: " + memory.handle());
      }
    });
    for (RemoteMemory memory : attached.values()) {
      if (results != null) {
        RegisteredMemory local = results;
        expectClosed(() -> connection.rma().write(local, 0, memory, 0, 0));
      }
    }
  }

  private static void expectClosed(Runnable access) {
    try {
      access.run();
    } catch (ConnectionClosedException | PeerLostException e) {
      return;
    }
    throw new AssertionError("an access over a closed connection has succeeded");
  }
}
