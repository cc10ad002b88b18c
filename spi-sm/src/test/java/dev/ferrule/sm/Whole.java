// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.sm;

import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;
import org.junit.jupiter.api.Tag;

/**
 * Marks tests that run only on demand, by the tag {@code whole}: what they cover is covered by
 * faster tests as well, in each build.
 */
@Tag("whole")
@Retention(RetentionPolicy.RUNTIME)
@Target({ElementType.TYPE, ElementType.METHOD})
public @interface Whole {

  /**
   * Returns the reason.
   *
   * @return which tests cover the same in each build
   */
  String value();
}
