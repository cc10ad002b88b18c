// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.integration.faults;

import java.util.Arrays;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** The answer to a step. */
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

  /** Checks that there is no exception, or one that faults may cause, with a message. */
  void expectFailure() {
    if (exception != null && !exception.matches(FAILURES)) {
      throw new AssertionError("faults do not cause this failure: " + exception);
    }
  }

  /** Checks that there is no exception, or that of the end of the other side. */
  void expectEndOrNothing(Link link) {
    if (link.mayEnd) {
      expectFailure();
    } else if (exception != null && (link.end == null || !isException(link.end))) {
      throw new AssertionError("expected " + link.end + ", not " + exception);
    }
  }

  /** Checks that there is no exception, or that of the end of the other side's messages. */
  void expectEndOfStreamOrNothing(Link link, int side) {
    String end = link.endOfStream(side);
    if (link.mayEnd) {
      expectFailure();
    } else if (exception != null && (end == null || !isException(end))) {
      throw new AssertionError("expected " + end + ", not " + exception);
    }
  }

  /** Checks that the step has failed with an exception of this name. */
  void expectException(String name) {
    if (exception == null || !exception.matches("(?s)" + name + ": .*")) {
      throw new AssertionError("expected " + name + ", not " + exception);
    }
  }
}
