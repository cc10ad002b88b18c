// SPDX-License-Identifier: Apache-2.0
package dev.ferrule;

/**
 * Whether a provider works on this machine and, if not, why and how to fix it.
 *
 * @param available whether the provider can open connections on this machine
 * @param reason why it cannot, in one sentence; empty if available
 * @param remedy how to fix it (a package to install, a limit to raise); empty if available
 */
public record Availability(boolean available, String reason, String remedy) {

  private static final Availability AVAILABLE = new Availability(true, "", "");

  /**
   * Returns the value for a provider that works on this machine.
   *
   * @return an available Availability
   */
  public static Availability yes() {
    return AVAILABLE;
  }

  /**
   * Returns a value for a provider that does not work on this machine.
   *
   * @param reason why it does not, in one sentence
   * @param remedy how to fix it
   * @return an unavailable Availability
   */
  public static Availability no(String reason, String remedy) {
    return new Availability(false, reason, remedy);
  }

  @Override
  public String toString() {
    return available ? "available" : "not available: " + reason + "; " + remedy;
  }
}
