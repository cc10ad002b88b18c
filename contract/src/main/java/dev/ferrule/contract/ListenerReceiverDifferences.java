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
          "a common receiver returns the messages of all connections; see ManyConnectionsTest",
          "aReceivedMessageNamesItsConnection",
          "the message names the connection, not the test's view of it; see ManyConnectionsTest",
          "holdingAllBufferSpaceFailsInsteadOfHanging",
          "a common receiver waits, as other connections may still send",
          "freeingWhileAnotherThreadReceivesFails",
          "freeing fails only while a message of the same connection is being received");

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
