// SPDX-License-Identifier: Apache-2.0
package dev.ferrule;

/**
 * Whether a provider works on this machine and, if not, why and how to fix it; see {@link
 * ProviderInfo}.
 */
public sealed interface Availability {

  /** The provider can open connections on this machine. */
  record Available() implements Availability {
    @Override
    public String toString() {
      return "available";
    }
  }

  /**
   * The provider cannot open connections on this machine.
   *
   * @param reason why it cannot, in one sentence
   * @param remedy how to fix it (a package to install, a limit to raise)
   */
  record Unavailable(String reason, String remedy) implements Availability {
    @Override
    public String toString() {
      return "not available: " + reason + "; " + remedy;
    }
  }

  /** {@return whether the provider works on this machine} */
  default boolean available() {
    return this instanceof Available;
  }
}
