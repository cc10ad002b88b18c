// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.integration.faults;

import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import java.util.Random;
import java.util.Set;
import java.util.TreeSet;
import org.jspecify.annotations.Nullable;

/**
 * The part of a {@link Schedule} that exposes memory and accesses it, checked against {@link
 * ExposedPiece}.
 */
final class RemoteMemorySteps {

  private static final int MOST_PIECES = 4; // of a connection
  private static final String REFUSED = "RemoteAccessException";
  private static final List<String> RIGHTS = List.of("READ", "WRITE", "ATOMIC");

  /** The operations of one step, and their expected answers. */
  private static final class Operations {
    final List<String> words = new ArrayList<>();
    final List<String> answers = new ArrayList<>();
    @Nullable String refusal; // the exception that the last operation must throw
    boolean mayView; // what a view shows is undefined once the peer has closed
  }

  private final Programs programs;
  private final Random random;

  RemoteMemorySteps(Programs programs, Random random) {
    this.programs = programs;
    this.random = random;
  }

  /**
   * Exposes memory, or accesses, inspects or revokes memory that was exposed.
   *
   * @param failing whether calls of a side fail at random
   */
  void next(Link link, boolean failing) {
    int kind = random.nextInt(12);
    if (link.pieces.isEmpty() || (kind < 2 && link.pieces.size() < MOST_PIECES)) {
      expose(link, failing);
      return;
    }
    ExposedPiece piece = link.pieces.get(random.nextInt(link.pieces.size()));
    boolean exact = link.isOpen() && piece.exposed && !link.mayEnd && !failing;
    if (kind == 2) {
      unexpose(link, piece);
    } else if (kind == 3 && exact && piece.attached) {
      unexposeDuringAccess(link, piece);
    } else if (kind == 4 && exact && link.from[1 - piece.owner].mayBeFirst()) {
      writeAndSend(link, piece);
    } else if (link.open[1 - piece.owner]) {
      access(link, piece, failing);
      if (random.nextBoolean()) {
        inspect(link, piece);
      }
    } else {
      inspect(link, piece);
    }
  }

  private void expose(Link link, boolean failing) {
    if (!link.isOpen()) {
      return;
    }
    int owner = random.nextInt(2);
    boolean allocates = random.nextBoolean();
    int length =
        switch (random.nextInt(4)) {
          case 0 -> 8;
          case 1 -> RmaSteps.LONGEST;
          default -> 8 + random.nextInt(5000);
        };
    Set<String> rights = new TreeSet<>(Set.of(RIGHTS.get(random.nextInt(3))));
    RIGHTS.stream().filter(right -> random.nextInt(3) > 0).forEach(rights::add);
    Answer answer =
        programs.step(
            owner,
            "expose %s %s %d %s"
                .formatted(
                    link.name,
                    allocates ? "allocate" : "expose",
                    length,
                    String.join(",", rights)));
    if (mayPass(link, answer, failing)) {
      String handle = answer.words().getFirst();
      link.pieces.add(new ExposedPiece(owner, handle, rights, allocates, length));
    }
  }

  /** Checks the answer to a call that must not be refused; returns whether it has no exception. */
  private static boolean mayPass(Link link, Answer answer, boolean failing) {
    if (failing) {
      answer.expectFailure();
    } else {
      answer.expectEndOrNothing(link);
    }
    return answer.exception() == null;
  }

  private void unexpose(Link link, ExposedPiece piece) {
    if (!link.open[piece.owner]) {
      return;
    }
    inspect(link, piece);
    programs.step(piece.owner, "unexpose %s %s".formatted(link.name, piece.handle)).expectNothing();
    piece.exposed = false;
    inspect(link, piece);
    forgetOldest(link);
  }

  /** Removes the oldest piece that is not exposed if there are as many pieces as possible. */
  private static void forgetOldest(Link link) {
    Iterator<ExposedPiece> all = link.pieces.iterator();
    while (link.pieces.size() == MOST_PIECES && all.hasNext()) {
      if (!all.next().exposed) {
        all.remove();
        return;
      }
    }
  }

  /** Ends the exposure during an access, and checks that no byte changes afterwards. */
  private void unexposeDuringAccess(Link link, ExposedPiece piece) {
    List<String> words = writes(piece);
    for (int i = 0;
        i < RmaSteps.MOST_RESULTS
            && !piece.rights.contains("WRITE")
            && piece.rights.contains("ATOMIC");
        i++) {
      words.add("add,0,1");
    }
    if (words.isEmpty()) {
      return; // the memory is exposed for reads only
    }
    String step = step(link, piece, words);
    int side = 1 - piece.owner;
    programs.begin(side, step);
    piece.unknown = true;
    programs.step(piece.owner, "unexpose %s %s".formatted(link.name, piece.handle)).expectNothing();
    piece.exposed = false;
    inspect(link, piece);
    Answer answer = programs.answer(side, step);
    if (answer.exception() != null) {
      answer.expectException(REFUSED);
    }
    inspect(link, piece);
  }

  private List<String> writes(ExposedPiece piece) {
    List<String> words = new ArrayList<>();
    for (int i = 0; i < 10 && piece.rights.contains("WRITE"); i++) {
      words.add("write,0," + place(piece.bytes.length));
    }
    return words;
  }

  /** Begins to write to memory of the other side, if it exposes any; returns the step. */
  @Nullable String beginWrites(Link link, int side) {
    for (ExposedPiece piece : link.pieces) {
      boolean possible = link.isOpen() && piece.attached && piece.exposed;
      if (possible && piece.owner != side && piece.rights.contains("WRITE")) {
        String step = step(link, piece, writes(piece));
        programs.begin(side, step);
        piece.unknown = true;
        return step;
      }
    }
    return null;
  }

  private void inspect(Link link, ExposedPiece piece) {
    if (link.open[piece.owner] && (piece.exposed || !piece.allocated)) {
      Answer answer =
          programs.step(piece.owner, "inspect %s %s".formatted(link.name, piece.handle));
      answer.expectNothing();
      piece.expectContent(answer.words().getFirst());
    }
  }

  private String place(int length) {
    return random.nextInt(Contents.SIZE - length) + ":" + length;
  }

  private static String step(Link link, ExposedPiece piece, List<String> words) {
    return "access %s %s %s".formatted(link.name, piece.handle, String.join(" ", words));
  }

  /** Attaches memory; returns whether it is attached. */
  private boolean attach(Link link, ExposedPiece piece, boolean failing) {
    if (!piece.attached) {
      Answer answer =
          programs.step(1 - piece.owner, "attach %s %s".formatted(link.name, piece.handle));
      // a fault may have prevented the owner from announcing the end of the exposure
      boolean unannounced = link.mayEnd && answer.exception() == null;
      piece.attached = unannounced || mayBeRefused(link, piece, answer, failing);
    }
    return piece.attached;
  }

  /**
   * Checks the answer of an access that must be refused if the memory is no longer exposed; returns
   * whether it has no exception.
   */
  private static boolean mayBeRefused(
      Link link, ExposedPiece piece, Answer answer, boolean failing) {
    if (piece.exposed) {
      return mayPass(link, answer, failing);
    }
    if (answer.exception() == null) {
      throw new AssertionError("an access to memory that is no longer exposed has succeeded");
    }
    if (!answer.isException(REFUSED)) {
      mayPass(link, answer, failing);
    }
    return false;
  }

  /** Accesses memory that the other side exposes, or has exposed. */
  void access(Link link, ExposedPiece piece, boolean failing) {
    if (!attach(link, piece, failing)) {
      return;
    }
    Operations operations = new Operations();
    operations.mayView = link.isOpen();
    byte[] before = piece.bytes.clone();
    if (piece.exposed) {
      for (int i = random.nextInt(RmaSteps.MOST_RESULTS); i >= 0; i--) {
        add(operations, piece);
        operations.words.add(List.of("fence", "await", "poll").get(random.nextInt(3)));
      }
      if (random.nextInt(8) == 0) {
        addRefused(operations, piece);
      }
    } else {
      operations.words.add("fence"); // prevents a view, which is never refused
      add(operations, piece);
    }
    Answer answer = programs.step(1 - piece.owner, step(link, piece, operations.words));
    String refusal = operations.refusal;
    if (piece.exposed && refusal != null && answer.isException(refusal)) {
      if (!piece.unknown && refusal.startsWith("Index")) {
        expectAnswers(answer, operations);
      }
    } else if (piece.exposed && refusal != null && answer.exception() == null) {
      throw new AssertionError("expected " + refusal);
    } else if (mayBeRefused(link, piece, answer, failing)) {
      if (!piece.unknown) {
        expectAnswers(answer, operations);
      }
    } else if (piece.exposed) {
      piece.unknown = true;
    } else {
      System.arraycopy(before, 0, piece.bytes, 0, before.length);
    }
  }

  private static void expectAnswers(Answer answer, Operations operations) {
    if (!answer.words().equals(operations.answers)) {
      throw new AssertionError(
          "accesses answered %s, not %s".formatted(answer.words(), operations.answers));
    }
  }

  /** Adds an operation that the rights permit, and applies it to the model. */
  private void add(Operations operations, ExposedPiece piece) {
    List<String> rights = List.copyOf(piece.rights);
    int length = random.nextInt(4) == 0 ? piece.bytes.length : random.nextInt(piece.bytes.length);
    int offset = random.nextInt(piece.bytes.length - length + 1);
    switch (rights.get(random.nextInt(rights.size()))) {
      case "WRITE" -> {
        String place = place(length);
        operations.words.add("write,%d,%s".formatted(offset, place));
        piece.write(offset, place);
      }
      case "READ" -> {
        operations.answers.add(piece.describe(offset, length));
        if (piece.rights.contains("WRITE") && random.nextBoolean()) {
          int to = random.nextInt(piece.bytes.length - length + 1);
          operations.words.add("relay,%d,%d,%d".formatted(offset, length, to));
          piece.relay(offset, length, to);
          return;
        }
        boolean complete = operations.words.isEmpty(); // all earlier operations
        boolean views = complete && random.nextBoolean() && operations.mayView;
        String way = views ? "view" : "read";
        operations.words.add("%s,%d,%d".formatted(way, offset, length));
      }
      default -> addAtomic(operations, piece);
    }
  }

  private void addAtomic(Operations operations, ExposedPiece piece) {
    int offset = random.nextInt(piece.bytes.length / Long.BYTES) * Long.BYTES;
    long previous = piece.word(offset);
    operations.answers.add(Long.toString(previous));
    long operand = random.nextLong();
    if (random.nextBoolean()) {
      operations.words.add("add,%d,%d".formatted(offset, operand));
      piece.setWord(offset, previous + operand);
    } else {
      boolean swaps = random.nextBoolean();
      long expected = swaps ? previous : previous + 1;
      operations.words.add("swap,%d,%d,%d".formatted(offset, expected, operand));
      piece.setWord(offset, swaps ? operand : previous);
    }
  }

  /** Adds an operation beyond the memory, or one that the rights do not permit. */
  private void addRefused(Operations operations, ExposedPiece piece) {
    int end = piece.bytes.length;
    boolean beyond = random.nextBoolean();
    operations.refusal = beyond ? "IndexOutOfBoundsException" : REFUSED;
    if (!beyond && piece.rights.containsAll(RIGHTS)) {
      operations.refusal = null; // all is permitted
    } else if (!beyond && !piece.rights.contains("WRITE")) {
      operations.words.add("write,0,0:8");
    } else if (!beyond && !piece.rights.contains("READ")) {
      operations.words.add("read,0,8");
    } else if (!beyond) {
      operations.words.add("add,0,1");
    } else {
      operations.words.add(
          switch (random.nextInt(3)) {
            case 0 -> "write,%d,0:8".formatted(end - random.nextInt(8));
            case 1 -> "read,%d,8".formatted(end - random.nextInt(8));
            default -> "add,%d,1".formatted(end & -Long.BYTES);
          });
    }
  }

  /** Checks that a message that is sent after a write arrives after it. */
  private void writeAndSend(Link link, ExposedPiece piece) {
    if (!piece.rights.contains("WRITE") || !attach(link, piece, false)) {
      return;
    }
    String place = place(piece.bytes.length);
    String message = place(1 + random.nextInt(64));
    String receive = "receiveAndInspect %s %s".formatted(link.name, piece.handle);
    programs.begin(piece.owner, receive);
    String send = step(link, piece, List.of("send,0,%s,%s".formatted(place, message)));
    programs.step(1 - piece.owner, send).expectNothing();
    piece.write(0, place);
    piece.unknown = false;
    Answer answer = programs.answer(piece.owner, receive);
    answer.expectNothing();
    if (!answer.words().getFirst().equals(Contents.describe(message))) {
      throw new AssertionError("the message is not " + Contents.describe(message));
    }
    piece.expectContent(answer.words().get(1));
  }

  /** Accesses allocated memory of a stopped program, which need not take part in that. */
  void whileStopped(Link link, int stopped) {
    for (ExposedPiece piece : link.pieces) {
      if (piece.owner == stopped && piece.allocated && piece.exposed && link.isOpen()) {
        access(link, piece, false);
      }
    }
  }

  /**
   * Checks that a side that has observed the end of its peer can neither expose nor access memory.
   */
  void expectEnded(Link link, int side, String end) {
    List<String> steps = new ArrayList<>(List.of("expose %s expose 8 READ".formatted(link.name)));
    for (ExposedPiece piece : link.pieces) {
      if (piece.owner != side && piece.attached) {
        Operations operations = new Operations();
        operations.words.add("fence");
        add(operations, piece);
        steps.add(step(link, piece, operations.words));
      } else if (piece.owner == side) {
        inspect(link, piece);
      }
    }
    Answer answer = programs.step(side, steps.get(random.nextInt(steps.size())));
    if (link.mayEnd && answer.exception() != null) {
      answer.expectFailure();
    } else {
      answer.expectException(end);
    }
  }
}
