// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.integration;

import java.util.function.Predicate;
import java.util.regex.Pattern;
import org.junit.platform.engine.FilterResult;
import org.junit.platform.engine.TestDescriptor;
import org.junit.platform.launcher.PostDiscoveryFilter;

/**
 * Selects tests by a regular expression that is found in their {@link TestName}, if the system
 * property {@value #PROPERTY} is set. JUnit's own filters select neither one nested class of a
 * subclass nor one method of it. A {@code $} before a letter is literal, as in the names of nested
 * classes.
 */
public final class TestPick implements PostDiscoveryFilter {

  private static final String PROPERTY = "ferrule.tests.pick";

  private final Predicate<String> pick = matching(System.getProperty(PROPERTY, ""));

  /** Called by the service loader. */
  public TestPick() {}

  /** Returns whether an expression is found in a name. */
  static Predicate<String> matching(String expression) {
    boolean isQuoted = expression.contains("\\Q");
    return Pattern.compile(
            isQuoted ? expression : expression.replaceAll("(?<!\\\\)\\$(?=\\w)", "\\\\\\$"))
        .asPredicate();
  }

  @Override
  public FilterResult apply(TestDescriptor test) {
    // JUnit removes a container whose last child was excluded.
    boolean isContainer = !test.getChildren().isEmpty();
    return FilterResult.includedIf(
        isContainer || pick.test(TestName.of(test.getUniqueId()).toString()));
  }
}
