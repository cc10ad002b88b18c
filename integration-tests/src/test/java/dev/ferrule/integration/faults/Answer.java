// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.integration.faults;

import java.util.Arrays;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** What a step answered. */
record Answer(List<String> words, @Nullable String exception) {

  private static final String FAILURES =
      "(?s)(ResourceExhausted|ConnectionRefused|OperationTimeout|PeerLost|ConnectionClosed|EndOfStream"
          + "|Protocol|Ferrule|ProviderUnavailable)Exception: .{10,}";

  static Answer of(String text) {
    int end = text.indexOf(" !");
    String said = end < 0 ? text : text.substring(0, end);
    List<String> words = Arrays.stream(said.split(" ")).skip(1).toList();
    return new Answer(words, end < 0 ? null : text.substring(end + 2));
  }

  boolean isException(String name) {
    return exception != null && exception.startsWith(name + ":");
  }

  void expectNothing() {
    if (exception != null) {
      throw new AssertionError("unexpected: " + exception);
    }
  }

  /** A failure that faults may cause names itself. */
  void expectFailure() {
    if (exception != null && !exception.matches(FAILURES)) {
      throw new AssertionError("not a failure that a program expects: " + exception);
    }
  }

  /** An operation of a connection whose other side has ended may observe that. */
  void expectEndOrNothing(Link link) {
    if (link.mayEnd) {
      expectFailure();
    } else if (exception != null && (link.end == null || !isException(link.end))) {
      throw new AssertionError("expected " + link.end + ", not " + exception);
    }
  }

  /** A call that receives may observe that the other side has ended its messages. */
  void expectEndOfStreamOrNothing(Link link, int side) {
    String end = link.endOfStream(side);
    if (link.mayEnd) {
      expectFailure();
    } else if (exception != null && (end == null || !isException(end))) {
      throw new AssertionError("expected " + end + ", not " + exception);
    }
  }

  /** The operation fails, by an exception of that name. */
  void expectException(String name) {
    if (exception == null || !exception.matches("(?s)" + name + ": .*")) {
      throw new AssertionError("expected " + name + ", not " + exception);
    }
  }
}
