// SPDX-License-Identifier: Apache-2.0
package dev.ferrule;

/**
 * Whether a provider works on this machine and, if not, why and how to fix it.
 *
 * {@snippet lang=java :
 * for (ProviderInfo provider : Ferrule.providers()) {
 *   if (provider.availability() instanceof Availability.Unavailable(String reason, String remedy)) {
 *     System.out.println(provider.scheme() + ": " + reason + "; " + remedy);
 *   }
 * }
 * }
 */
public sealed interface Availability {

  /** The provider can open connections on this machine. */
  record Available() implements Availability {
    private static final Available HERE = new Available();

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

  /** {@return the value for a provider that works on this machine} */
  static Availability yes() {
    return Available.HERE;
  }

  /**
   * Returns a value for a provider that does not work on this machine.
   *
   * @param reason why it does not, in one sentence
   * @param remedy how to fix it
   * @return {@link Unavailable}
   */
  static Availability no(String reason, String remedy) {
    return new Unavailable(reason, remedy);
  }

  /** {@return whether the provider works on this machine} */
  default boolean available() {
    return this instanceof Available;
  }
}
