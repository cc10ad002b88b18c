// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.integration.messages;

/**
 * A row of a table: a mistake of the user, or a failure, and what is reported.
 *
 * @param name the mistake
 * @param action the call that fails, which uses the parts of a fixture
 * @param message the type of the exception and its whole message, as {@link Fixture#readable}
 *     writes it
 */
record Mistake(String name, Action action, String message) {

  /** The call that fails. */
  interface Action {

    /** Throws the exception with the message. */
    void run(Fixture fixture) throws Exception;
  }

  @Override
  public String toString() {
    return name;
  }
}
