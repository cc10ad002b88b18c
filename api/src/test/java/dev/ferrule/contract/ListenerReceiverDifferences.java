// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.contract;

import java.util.Map;
import org.junit.jupiter.api.extension.ConditionEvaluationResult;
import org.junit.jupiter.api.extension.ExecutionCondition;
import org.junit.jupiter.api.extension.ExtensionContext;

/** Leaves out what is otherwise when one receiver is that of all connections. */
public final class ListenerReceiverDifferences implements ExecutionCondition {

  private static final Map<String, String> TESTS =
      Map.of(
          "connectionsDoNotMix",
          "they do here; see ManyConnectionsTest",
          "aReceivedMessageKnowsTheConnectionThatItCameOver",
          "it does not know of the view of it; see ManyConnectionsTest",
          "holdingSoMuchThatNothingCanArriveIsAnErrorAndNoHang",
          "other connections can always send something; so it waits",
          "freeingWhileAnotherThreadReceivesFails",
          "only while the message of that very connection is being received");

  /** Made by JUnit. */
  public ListenerReceiverDifferences() {}

  @Override
  public ConditionEvaluationResult evaluateExecutionCondition(ExtensionContext context) {
    String reason = context.getTestMethod().map(method -> TESTS.get(method.getName())).orElse(null);
    return reason == null
        ? ConditionEvaluationResult.enabled("the same for all receivers")
        : ConditionEvaluationResult.disabled(reason);
  }
}
