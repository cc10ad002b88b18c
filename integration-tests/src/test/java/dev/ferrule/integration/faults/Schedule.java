// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.integration.faults;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.SplittableRandom;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.locks.LockSupport;
import java.util.function.LongConsumer;
import java.util.stream.IntStream;

/**
 * A random schedule of two programs, checked step by step against {@link Link}. {@code
 * -Dferrule.soak.seeds=N} runs N of them, with the seeds from {@code -Dferrule.soak.seed} on. A
 * schedule that has failed is repeated by setting its number there.
 */
final class Schedule {

  private static final int DEFAULT_SEEDS = 200;
  private static final int SEEDS = Integer.getInteger("ferrule.soak.seeds", DEFAULT_SEEDS);
  private static final long FIRST = Long.getLong("ferrule.soak.seed", 1);
  private static final int STEPS = 60;

  private static final int MOST_LINKS = 4;
  private static final int MOST_SENDERS = 3;
  private static final int FAILING_ACCESSES = 5;
  private static final int MOST_LISTENERS = 8; // one after the other
  private static final int MOST_LANES = 8; // by default, in shared memory
  private static final int FILL = 600;
  private static final int STREAM = 40;
  private static final long UNTIL_ASLEEP_NANOS = 3_000_000;
  private static final int ACCEPT_MILLIS = 20;
  private static final int PATIENCE_MILLIS = 30_000;
  private static final String TIMEOUT = "OperationTimeoutException";
  private static final int SERVER = 1;
  private static final Map<String, AssertionError> FAILURES = new ConcurrentHashMap<>();
  private static final List<String> WAYS = List.of("copy", "stage", "claim", "gather");

  private final Environment environment;
  private final FailedCalls failed;
  private final Random random;
  private final Programs programs;
  private final RemoteMemorySteps memory;
  private final List<Link> links = new ArrayList<>();
  private String address = "";
  private int names;
  private boolean failing; // calls of one of the programs fail at random

  /**
   * Creates a schedule.
   *
   * @param failed where the calls that fail are counted
   */
  Schedule(Environment environment, FailedCalls failed, long seed) {
    this.environment = environment;
    this.failed = failed;
    this.random = random(seed);
    this.programs = new Programs(environment);
    this.memory = new RemoteMemorySteps(programs, random);
  }

  /** Returns random numbers. The first ones of {@code Random} alone are alike for similar seeds. */
  static Random random(long seed) {
    return new Random(new SplittableRandom(seed).nextLong());
  }

  /**
   * Runs an action for each seed; the message of a failure names its seed. If the number of seeds
   * is set, a failed action is not repeated. If there are at least as many seeds as by default,
   * calls of each function must have failed.
   *
   * @param name the name of the schedules, different for each test
   * @param failed the calls that have failed in the schedules
   * @param action runs the schedule of a seed
   */
  static void forEachSeed(String name, FailedCalls failed, LongConsumer action) {
    if (System.getProperty("ferrule.soak.seeds") == null) {
      FAILURES.remove(name);
    }
    forEachSeedUntilOneFails(name, action);
    if (SEEDS >= DEFAULT_SEEDS) {
      runUntilEachFunctionHasFailed(name, failed, action);
    }
  }

  /** Runs further seeds, at most as many as before, until calls of each function have failed. */
  static void runUntilEachFunctionHasFailed(String name, FailedCalls failed, LongConsumer action) {
    for (long more = 0; more < SEEDS && !failed.isComplete(); more++) {
      run(name, FIRST + SEEDS + more, action);
    }
    try {
      failed.expectAll();
    } catch (AssertionError e) {
      FAILURES.put(name, e);
      throw e;
    }
  }

  /**
   * Runs an action for each seed, unless one has failed before: Surefire repeats a failed test in
   * the same process, and would report a rare finding as a flaky test that has passed.
   */
  static void forEachSeedUntilOneFails(String name, LongConsumer action) {
    AssertionError earlier = FAILURES.get(name);
    if (earlier != null) {
      throw new AssertionError(
          "not repeated, since a seed has failed: " + earlier.getMessage(), earlier);
    }
    for (long seed = FIRST; seed < FIRST + SEEDS; seed++) {
      run(name, seed, action);
    }
  }

  private static void run(String name, long seed, LongConsumer action) {
    try {
      action.accept(seed);
    } catch (AssertionError | RuntimeException e) {
      AssertionError failure =
          new AssertionError("-Dferrule.soak.seed=" + seed + ": " + e.getMessage(), e);
      FAILURES.put(name, failure);
      throw failure;
    }
  }

  /** Runs the schedule; the message of an {@link AssertionError} contains the last steps. */
  void run() {
    try {
      listen();
      if (random.nextInt(4) == 0) {
        withFaults(random.nextInt(2)); // the first connection creates what others share
      }
      for (int i = 0; i < STEPS; i++) {
        next();
      }
      finish();
      programs.step(SERVER, "unlisten").expectNothing();
      environment.expectNothingLeft();
      for (int side = 0; side < 2; side++) {
        failed.add(programs.step(side, "failed"));
      }
    } catch (AssertionError | RuntimeException e) {
      throw new AssertionError(e.getMessage() + "\n" + programs.trail(), e);
    }
  }

  /** Listens, sometimes first while calls fail: what that leaves must not prevent it afterwards. */
  private void listen() {
    String listen = "listen " + environment.listenAddress();
    for (int i = random.nextInt(MOST_LISTENERS); i > 0; i--) {
      beginFaults(SERVER);
      Answer answer = programs.step(SERVER, listen);
      answer.expectFailure();
      if (answer.exception() == null) {
        programs.step(SERVER, "unlisten").expectNothing();
      }
      endFaults(SERVER);
    }
    Answer answer = programs.step(SERVER, listen);
    answer.expectNothing();
    address = environment.connectAddress(answer.words().getFirst());
  }

  private void next() {
    int kind = random.nextInt(100);
    if (links.isEmpty() || (kind < 8 && links.size() < MOST_LINKS)) {
      connect();
      return;
    }
    Link link = links.get(random.nextInt(links.size()));
    int side = random.nextInt(2);
    if (!link.open[side]) {
      side = 1 - side;
    }
    if (random.nextInt(6) == 0) {
      memory.next(link, failing);
    } else if (kind < 34) {
      send(link, side);
    } else if (kind < 40) {
      sendToWaiting(link, side, random.nextInt(3) == 0);
    } else if (kind < 66) {
      receive(link, side);
    } else if (kind < 76) {
      free(link, side, random.nextBoolean() ? "first" : "all");
    } else if (kind < 80) {
      newSender(link, side);
    } else if (kind < 82) {
      replaceSenders(link, side);
    } else if (kind < 84) {
      fill(link, side);
    } else if (kind < 85) {
      fillBoth(link, side);
    } else if (kind < 88) {
      awaitLast(link, side);
    } else if (kind < 90) {
      close(link, side);
    } else if (kind < 91) {
      closeToWaiting(link, side);
    } else if (kind < 92) {
      endMessages(link, side);
    } else if (kind < 96) {
      withFaults(side);
    } else if (kind < 97) {
      whileStopped(side);
    } else if (kind < 98) {
      disturb();
    } else if (random.nextInt(4) == 0) {
      kill(side);
    }
  }

  private void connect() {
    List<Environment.Variant> variants = environment.variants();
    Environment.Variant variant = variants.get(random.nextInt(variants.size()));
    Link link = new Link("c" + names++, variant);
    String faults = !failing ? "" : "&connectTimeout=300ms";
    String connect = "connect %s %s%s%s".formatted(link.name, address, variant.options(), faults);
    programs.begin(0, connect);
    Answer accepted = accept(link);
    while (accepted.isException(TIMEOUT) && !environment.host(0).isDone()) {
      accepted = accept(link);
    }
    Answer connected = programs.answer(0, connect);
    // the listener accepts a connected client, unless it cannot create its own side
    int more = connected.exception() == null ? PATIENCE_MILLIS / ACCEPT_MILLIS : 1;
    while (accepted.isException(TIMEOUT) && more > 0) {
      accepted = accept(link);
      more--;
    }
    if (!failing) {
      accepted.expectNothing();
      connected.expectNothing();
    } else {
      accepted.expectFailure();
      connected.expectFailure();
    }
    link.open[0] = connected.exception() == null;
    link.open[1] = accepted.exception() == null;
    if (link.isOpen()) {
      links.add(link);
    } else if (!link.isOver()) {
      // the side that has a connection observes the end of the other, and closes
      expectEnd(link, link.open[0] ? 0 : 1);
    }
  }

  /** Accepts a client. Connections of earlier clients, which have given up, must have ended. */
  private Answer accept(Link link) {
    Answer accepted = programs.step(SERVER, "accept " + ACCEPT_MILLIS);
    String name = accepted.words().isEmpty() ? link.name : accepted.words().getFirst();
    if (name.equals(link.name)) {
      return accepted;
    }
    Link other = new Link(name, link.variant);
    other.open[0] = false;
    expectEnd(other, SERVER);
    return accept(link);
  }

  private String place(Link link, int index) {
    // messages of further senders must be distinguishable
    int shortest = index == 0 ? 0 : 8;
    int longest = link.variant.longest();
    int length =
        switch (random.nextInt(4)) {
          case 0 -> shortest;
          case 1 -> longest;
          case 2 -> Math.min(longest, shortest + random.nextInt(64));
          default -> shortest + random.nextInt(longest - shortest + 1);
        };
    return random.nextInt(Contents.SIZE - longest) + ":" + length;
  }

  private int openSender(Link link, int side) {
    List<Link.Queue> queues = link.from[side].queues;
    int[] open = IntStream.range(0, queues.size()).filter(i -> queues.get(i).open).toArray();
    return open[random.nextInt(open.length)];
  }

  private void send(Link link, int side) {
    Link.Direction direction = link.from[side];
    if (direction.ended) {
      return;
    }
    int count = Math.min(1 + random.nextInt(4), link.variant.inFlight() - direction.inFlight());
    if (count > 0) {
      int index = openSender(link, side);
      List<String> places = new ArrayList<>();
      for (int i = 0; i < count; i++) {
        places.add(place(link, index));
      }
      send(link, side, index, WAYS.get(random.nextInt(WAYS.size())), places, count);
    }
    if (random.nextBoolean()) {
      flush(link, side);
    }
  }

  /**
   * Sends to a program that waits: a few messages, or more than there is room for at a time, so
   * that both programs wait.
   */
  private void sendToWaiting(Link link, int side, boolean many) {
    Link.Direction direction = link.from[side];
    boolean moves = environment.returnsRoomAtOnce() || direction.inFlight() == direction.sent();
    int most = link.variant.inFlight() - direction.inFlight();
    if (!link.isOpen() || link.mayEnd || direction.ended || most <= 0 || !moves) {
      return;
    }
    int count = many ? STREAM : Math.min(most, 1 + random.nextInt(3));
    int index = openSender(link, side);
    List<String> places = new ArrayList<>();
    for (int i = 0; i < count; i++) {
      places.add(place(link, index));
    }
    String wait = "wait %s %d".formatted(link.name, direction.sent() + count);
    programs.begin(1 - side, wait);
    if (random.nextBoolean()) {
      LockSupport.parkNanos(UNTIL_ASLEEP_NANOS);
    }
    boolean gathers = random.nextBoolean() && !failing; // it registers memory, which may fail
    send(link, side, index, gathers ? "gather" : "copy", places, count);
    Answer answer = programs.answer(1 - side, wait);
    answer.expectNothing();
    expectMessages(link, 1 - side, answer);
  }

  private void fill(Link link, int side) {
    if (link.from[side].ended) {
      return;
    }
    int index = openSender(link, side);
    String place = place(link, index);
    if (place.endsWith(":0")) {
      place = place.replace(":0", ":9");
    }
    List<String> places = new ArrayList<>();
    for (int i = 0; i < FILL; i++) {
      places.add(place);
    }
    int least = Math.max(0, link.variant.inFlight() - link.from[side].inFlight());
    send(link, side, index, "claim", places, least);
  }

  /**
   * Both sides send until there is no room. Then one receives all, and the other receives nothing.
   */
  private void fillBoth(Link link, int side) {
    if (!link.isOpen()) {
      return;
    }
    fill(link, 1 - side);
    fill(link, side);
    int count = link.from[1 - side].sent();
    if (count > 0) {
      Answer answer = programs.step(side, "wait %s %d".formatted(link.name, count));
      answer.expectEndOfStreamOrNothing(link, side);
      expectMessages(link, side, answer);
    }
  }

  private void send(Link link, int side, int index, String way, List<String> places, int least) {
    Link.Queue queue = link.from[side].queues.get(index);
    boolean mayFail = !link.isOpen();
    Answer answer =
        programs.step(
            side, "send %s %d %s %s".formatted(link.name, index, way, String.join(" ", places)));
    if (!answer.words().equals(places.subList(0, answer.words().size()))) {
      throw new AssertionError("the program has sent other messages than requested");
    }
    if (mayFail) {
      answer.expectEndOrNothing(link);
      return; // there is no receiver
    }
    boolean registers = way.equals("gather") && failing;
    if (registers) {
      answer.expectFailure();
    } else if (link.mayEnd) {
      answer.expectEndOrNothing(link);
    } else {
      answer.expectNothing();
    }
    boolean hasRoom = environment.returnsRoomAtOnce() || !way.equals("claim");
    if (answer.words().size() < least && answer.exception() == null && hasRoom) {
      throw new AssertionError(
          "room for %d messages instead of %d".formatted(answer.words().size(), least));
    }
    if (way.equals("stage")) {
      queue.staged.addAll(answer.words());
    } else if (!answer.words().isEmpty()) {
      queue.publish();
      queue.sent.addAll(answer.words());
    }
  }

  private void flush(Link link, int side) {
    List<Link.Queue> queues = link.from[side].queues;
    for (int i = 0; i < queues.size(); i++) {
      if (!queues.get(i).staged.isEmpty()) {
        programs.step(side, "flush " + link.name + " " + i).expectEndOrNothing(link);
        queues.get(i).publish();
      }
    }
  }

  private void receive(Link link, int side) {
    if (!link.isOpen() && random.nextBoolean()) {
      expectEnd(link, side);
      return;
    }
    Link.Direction direction = link.from[1 - side];
    boolean take = random.nextInt(3) == 0;
    if (random.nextInt(8) == 0) {
      interrupt(link, side);
      return;
    }
    boolean await = !take && random.nextInt(3) == 0 && link.isOpen();
    int most = await ? Math.min(direction.sent(), 5) : 1 + random.nextInt(8);
    if (take) {
      most =
          Math.min(random.nextBoolean() ? 1 : most, link.variant.inFlight() - 1 - direction.held);
    }
    if (most > 0) {
      String way = take ? "take" : await ? "wait" : "poll";
      Answer answer = programs.step(side, "%s %s %d".formatted(way, link.name, most));
      int taken = take ? answer.words().size() : 0;
      boolean exhausted = isExhausted(link, side, taken, answer);
      if (!exhausted) {
        answer.expectEndOfStreamOrNothing(link, side);
      }
      expectMessages(link, side, answer);
      if (exhausted || answer.exception() == null) {
        direction.held += taken;
      }
      if (take && answer.exception() == null) {
        sendPastHeldMessages(link, 1 - side);
      }
      if (answer.exception() != null && direction.sent() > 0 && !link.mayEnd) {
        throw new AssertionError("messages were lost: " + direction.sent());
      }
    }
  }

  /**
   * Sends enough to overwrite the messages that the other side holds, if they were not protected.
   */
  private void sendPastHeldMessages(Link link, int side) {
    boolean moves = environment.returnsRoomAtOnce(); // a ring over RDMA waits until they are freed
    if (moves && link.isOpen() && !link.mayEnd && !failing && random.nextInt(4) == 0) {
      if (random.nextBoolean()) {
        fill(link, side);
      } else {
        sendToWaiting(link, side, true);
      }
    }
  }

  /** Returns whether no message can arrive before this side frees some of those that it holds. */
  private boolean isExhausted(Link link, int side, int taken, Answer answer) {
    Link.Direction direction = link.from[1 - side];
    return answer.isException("IllegalStateException")
        && !environment.returnsRoomAtOnce()
        && direction.held + taken > 0
        && direction.held + taken + direction.behind >= link.variant.inFlight();
  }

  /** Checks that an interrupted wait ends, with or without a message. */
  private void interrupt(Link link, int side) {
    Answer answer = programs.step(side, "interrupt " + link.name);
    if (!answer.isException("OperationInterruptedException")
        && !isExhausted(link, side, 0, answer)) {
      answer.expectEndOfStreamOrNothing(link, side);
    }
    expectMessages(link, side, answer);
  }

  private static void expectMessages(Link link, int side, Answer answer) {
    for (String word : answer.words()) {
      if (!link.from[1 - side].receive(word)) {
        throw new AssertionError("not the next message: " + word);
      }
    }
  }

  /** Checks that the messages arrive and that the end is observed, and closes this side. */
  private void expectEnd(Link link, int side) {
    programs.step(side, "free " + link.name + " all");
    expectEnd(link, side, programs.step(side, waitForEnd(link)));
  }

  private static String waitForEnd(Link link) {
    return "wait %s %d".formatted(link.name, FILL * MOST_SENDERS * 2);
  }

  private void expectEnd(Link link, int side, Answer answer) {
    expectMessages(link, side, answer);
    if (answer.exception() == null) {
      throw new AssertionError("the end was not observed");
    }
    String endOfStream = link.endOfStream(side);
    if (link.mayEnd) {
      answer.expectFailure();
    } else {
      answer.expectException(endOfStream == null ? "(PeerLost|EndOfStream)Exception" : endOfStream);
    }
    if (link.from[1 - side].sent() > 0 && !link.mayEnd) {
      throw new AssertionError("messages were lost: " + link.from[1 - side].sent());
    }
    if (link.from[1 - side].ended) { // the end of the messages precedes that of the connection
      programs.step(side, "awaitEnd " + link.name).expectNothing();
    }
    memory.expectEnded(
        link, side, link.end == null ? "(PeerLost|ConnectionClosed)Exception" : link.end);
    close(link, side);
  }

  private void free(Link link, int side, String which) {
    Answer answer = programs.step(side, "free " + link.name + " " + which);
    answer.expectNothing();
    Link.Direction direction = link.from[1 - side];
    direction.held -= answer.words().size();
    direction.behind = direction.held == 0 ? 0 : direction.behind;
  }

  private void newSender(Link link, int side) {
    List<Link.Queue> queues = link.from[side].queues;
    if (!link.from[side].ended
        && queues.stream().filter(queue -> queue.open).count() < MOST_SENDERS) {
      Answer answer = programs.step(side, "newSender " + link.name);
      if (failing) {
        answer.expectFailure();
      } else {
        answer.expectEndOrNothing(link);
      }
      if (answer.exception() == null) {
        queues.add(new Link.Queue());
      }
    }
  }

  /** Closes a sender. Sometimes opens and closes more than may be open at a time. */
  private void replaceSenders(Link link, int side) {
    closeSender(link, side);
    for (int i = random.nextInt(4) == 0 ? MOST_LANES : 0; i > 0 && link.isOpen(); i--) {
      newSender(link, side);
      closeSender(link, side);
    }
  }

  private void closeSender(Link link, int side) {
    if (link.from[side].ended) {
      return;
    }
    int index = openSender(link, side);
    Link.Queue queue = link.from[side].queues.get(index);
    if (index > 0 && queue.staged.isEmpty()) {
      programs.step(side, "closeSender " + link.name + " " + index).expectNothing();
      queue.open = false;
    }
  }

  /** Closes all senders of a side, which sends what is staged; the connection stays open. */
  private void endMessages(Link link, int side) {
    Link.Direction direction = link.from[side];
    if (!link.isOpen() || link.mayEnd || direction.ended) {
      return;
    }
    boolean waits = random.nextBoolean();
    if (waits) {
      free(link, 1 - side, "all");
      programs.begin(1 - side, waitForEnd(link));
    }
    programs.step(side, "end " + link.name).expectNothing();
    direction.queues.forEach(queue -> {
      queue.publish();
      queue.open = false;
    });
    direction.ended = true;
    if (waits) {
      Answer answer = programs.answer(1 - side, waitForEnd(link));
      expectMessages(link, 1 - side, answer);
      answer.expectException("EndOfStreamException");
      if (direction.sent() > 0) {
        throw new AssertionError("messages were lost: " + direction.sent());
      }
    }
  }

  private void awaitLast(Link link, int side) {
    if (link.from[side].ended) {
      return;
    }
    flush(link, side);
    programs.step(side, "await " + link.name).expectEndOrNothing(link);
  }

  private void close(Link link, int side) {
    programs.step(side, "close " + link.name).expectNothing();
    link.end(side, "ConnectionClosedException");
    if (link.isOver()) {
      links.remove(link);
    }
  }

  /** Sends the last messages, and closes, while the other side waits for more. */
  private void closeToWaiting(Link link, int side) {
    if (!link.isOpen() || link.mayEnd) {
      return;
    }
    free(link, 1 - side, "all");
    programs.begin(1 - side, waitForEnd(link));
    send(link, side);
    close(link, side);
    Answer answer = programs.answer(1 - side, waitForEnd(link));
    expectEnd(link, 1 - side, answer);
  }

  private void kill(int side) {
    Link accessed = links.get(random.nextInt(links.size()));
    int accessor = random.nextInt(2);
    String access = memory.beginWrites(accessed, accessor);
    boolean killed = environment.replace(side);
    if (killed) {
      endLinks(side);
    }
    if (access != null && !(killed && accessor == side)) {
      programs.answer(accessor, access).expectEndOrNothing(accessed);
    }
    if (killed && side == SERVER) {
      listen();
    }
  }

  private void endLinks(int side) {
    programs.note(Programs.name(side) + " is killed");
    for (Link link : List.copyOf(links)) {
      if (link.open[side]) {
        link.end(side, "PeerLostException");
        if (link.isOver()) {
          links.remove(link);
        }
      }
    }
  }

  /** Injects a fault, after which each existing connection may end at any time. */
  private void disturb() {
    programs.note("a disturbance");
    if (environment.disturb(random)) {
      links.forEach(link -> link.mayEnd = true);
      for (int i = 0; i < 5; i++) {
        Link link = links.get(random.nextInt(links.size()));
        int side = link.open[0] ? 0 : 1;
        send(link, side);
        if (random.nextBoolean()) {
          memory.next(link, failing);
        }
        receive(link, link.isOpen() ? 1 - side : side);
        if (links.isEmpty()) {
          break; // it was closed when its end was observed
        }
      }
      environment.calm();
    }
  }

  /**
   * Makes calls of one side fail at random. Connections made before or after that are not affected.
   */
  private void withFaults(int side) {
    beginFaults(side);
    failing = true;
    for (int i = random.nextInt(3); i >= 0; i--) {
      if (links.size() < MOST_LINKS + 1) {
        connect();
      }
      if (!links.isEmpty()) {
        Link link = links.get(random.nextInt(links.size()));
        if (link.isOpen()) {
          newSender(link, side);
          send(link, side);
          receive(link, 1 - side);
          sendToWaiting(link, random.nextInt(2), random.nextInt(3) == 0);
          for (int accesses = 0; accesses < FAILING_ACCESSES; accesses++) {
            memory.next(link, failing);
          }
          if (link.isOpen() && random.nextInt(4) == 0) {
            beginFaults(side, "write"); // a close that finds the FIFO full is detected much later
            close(link, side);
            beginFaults(side);
          }
        }
      }
    }
    failing = false;
    endFaults(side);
  }

  /**
   * Makes calls of all functions fail, or those of one: some functions are seldom called, or only
   * after others that must succeed.
   */
  private void beginFaults(int side, String... except) {
    boolean one = random.nextBoolean();
    int percent = one || random.nextInt(4) == 0 ? 50 : 5;
    List<String> functions = new ArrayList<>(failed.functions());
    functions.removeAll(List.of(except));
    if (one) {
      functions = List.of(functions.get(random.nextInt(functions.size())));
    }
    String step =
        "faults %d %d %s".formatted(random.nextLong(), percent, String.join(" ", functions));
    programs.step(side, step).expectNothing();
  }

  private void endFaults(int side) {
    programs.step(side, "repair").expectNothing();
  }

  private void whileStopped(int side) {
    programs.note(Programs.name(side) + " is stopped");
    environment.host(side).stop();
    for (Link link : links) {
      if (link.isOpen()) {
        send(link, 1 - side);
        free(link, 1 - side, "all");
        memory.whileStopped(link, side);
      }
    }
    programs.note(Programs.name(side) + " is resumed");
    environment.host(side).resume();
  }

  /** Checks that all messages arrive, and closes both sides of each connection. */
  private void finish() {
    for (Link link : List.copyOf(links)) {
      int first = random.nextInt(2);
      if (link.isOpen()) {
        for (int side = 0; side < 2; side++) {
          flush(link, side);
          free(link, 1 - side, "all");
          int count = link.from[side].sent();
          Answer answer = programs.step(1 - side, "wait %s %d".formatted(link.name, count));
          answer.expectEndOfStreamOrNothing(link, 1 - side);
          expectMessages(link, 1 - side, answer);
        }
        close(link, first);
      }
      expectEnd(link, link.open[0] ? 0 : 1);
    }
  }
}
