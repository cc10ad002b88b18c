// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.sm;

import java.util.Map;
import org.junit.jupiter.api.extension.ConditionEvaluationResult;
import org.junit.jupiter.api.extension.ExecutionCondition;
import org.junit.jupiter.api.extension.ExtensionContext;

/** Skips the contract tests whose behaviour differs when several threads may send. */
final class ConcurrentSendersDifferences implements ExecutionCondition {

  private static final String AT_ONCE = "what is staged leaves at once";

  private static final Map<String, String> TESTS =
      Map.of(
          "aFlushedBatchArrivesInOrder",
          AT_ONCE,
          "afterAFlushFurtherMessagesCanBeStaged",
          AT_ONCE,
          "copiesBecomeVisibleOnlyWhenFlushed",
          AT_ONCE,
          "idsAreAssignedWhenStagedAndCompleteAfterTheFlush",
          AT_ONCE,
          "aBatchToAPeerThatHasClosedFails",
          AT_ONCE,
          "unflushedMessagesAreNotSentByTheClose",
          AT_ONCE,
          "holdingAllBufferSpaceFailsInsteadOfHanging",
          "claims use lines only, so a receiver that holds them all receives no more",
          "aSecondThreadThatUsesASenderFails",
          "it may");

  @Override
  public ConditionEvaluationResult evaluateExecutionCondition(ExtensionContext context) {
    String reason = context.getTestMethod().map(method -> TESTS.get(method.getName())).orElse(null);
    return reason == null
        ? ConditionEvaluationResult.enabled("the same for one thread and for several")
        : ConditionEvaluationResult.disabled(reason);
  }
}
