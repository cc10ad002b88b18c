// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.rdma.simulation;

import dev.ferrule.verbs.CompletionStatus;
import dev.ferrule.verbs.calls.CmCalls;
import dev.ferrule.verbs.calls.VerbsCalls;
import java.lang.reflect.Method;
import java.util.Arrays;
import java.util.Map;
import java.util.Set;
import java.util.SplittableRandom;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentHashMap;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/** The faults to inject: failing calls by name, and completions with an error. */
final class FabricFaults {

  /** Failures of a function: their probability and maximum number. */
  private record Failure(int errno, double probability, int times) {}

  private static final Set<String> NAMES =
      Stream.of(VerbsCalls.class, CmCalls.class)
          .flatMap(type -> Arrays.stream(type.getMethods()))
          .map(Method::getName)
          .collect(Collectors.toSet());

  private final SplittableRandom random;
  private final Map<String, Failure> functions = new ConcurrentHashMap<>();
  private final Map<String, Integer> failed = new TreeMap<>();
  private CompletionStatus sends = CompletionStatus.SUCCESS;
  private double sendProbability;
  private CompletionStatus receives = CompletionStatus.SUCCESS;
  private double receiveProbability;

  FabricFaults(SplittableRandom random) {
    this.random = random;
  }

  void fail(String function, int errno, double probability, int times) {
    if (!NAMES.contains(function)) {
      throw new IllegalArgumentException("the libraries have no function " + function);
    }
    functions.put(function, new Failure(errno, probability, times));
  }

  void failSends(CompletionStatus status, double probability) {
    sends = status;
    sendProbability = probability;
  }

  void failReceives(CompletionStatus status, double probability) {
    receives = status;
    receiveProbability = probability;
  }

  void repair() {
    functions.clear();
    sendProbability = 0;
    receiveProbability = 0;
  }

  boolean mayFail(String function) {
    return functions.containsKey(function);
  }

  /** Returns the errno of this call; 0 if it does not fail. */
  int errno(String function) {
    Failure failure = functions.get(function);
    if (failure == null || random.nextDouble() >= failure.probability) {
      return 0;
    }
    failed.merge(function, 1, Integer::sum);
    if (failure.times == 1) {
      functions.remove(function);
    } else {
      fail(function, failure.errno, failure.probability, failure.times - 1);
    }
    return failure.errno;
  }

  /** Returns how many calls of each function have failed since the last call of this method. */
  Map<String, Integer> takeFailed() {
    Map<String, Integer> counts = new TreeMap<>(failed);
    failed.clear();
    return counts;
  }

  int sendStatus() {
    return random.nextDouble() < sendProbability ? sends.ordinal() : 0;
  }

  int receiveStatus() {
    return random.nextDouble() < receiveProbability ? receives.ordinal() : 0;
  }
}
