// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.contract;

import java.util.Map;
import org.junit.jupiter.api.extension.ConditionEvaluationResult;
import org.junit.jupiter.api.extension.ExecutionCondition;
import org.junit.jupiter.api.extension.ExtensionContext;

/** Disables the tests that do not apply if one receiver serves all connections of a listener. */
public final class ListenerReceiverDifferences implements ExecutionCondition {

  private static final Map<String, String> TESTS =
      Map.of(
          "connectionsDoNotMix",
          "they do by design; see ManyConnectionsTest",
          "aReceivedMessageNamesItsConnection",
          "it names the connection, not the view of it; see ManyConnectionsTest",
          "holdingAllBufferSpaceFailsInsteadOfHanging",
          "other connections may still send, so it waits",
          "freeingWhileAnotherThreadReceivesFails",
          "only while a message of the same connection is being received");

  /** Called by JUnit. */
  public ListenerReceiverDifferences() {}

  @Override
  public ConditionEvaluationResult evaluateExecutionCondition(ExtensionContext context) {
    String reason = context.getTestMethod().map(method -> TESTS.get(method.getName())).orElse(null);
    return reason == null
        ? ConditionEvaluationResult.enabled("the same for all receivers")
        : ConditionEvaluationResult.disabled(reason);
  }
}
