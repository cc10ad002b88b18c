// SPDX-License-Identifier: Apache-2.0
package dev.ferrule;

/**
 * Whether a provider can work on this machine and, if it cannot, why and what to do about it.
 *
 * @param available whether connections can be made here
 * @param reason why not, in one sentence; empty if available
 * @param remedy what to do about it (a package to install, a limit to raise); empty if available
 */
public record Availability(boolean available, String reason, String remedy) {

  /** The one value that says "works here". */
  private static final Availability AVAILABLE = new Availability(true, "", "");

  /**
   * Says that the provider works here.
   *
   * @return an available Availability
   */
  public static Availability yes() {
    return AVAILABLE;
  }

  /**
   * Says that the provider cannot work here.
   *
   * @param reason why not, in one sentence
   * @param remedy what to do about it
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
