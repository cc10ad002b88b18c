// SPDX-License-Identifier: Apache-2.0
package consumer;

import dev.ferrule.Ferrule;
import dev.ferrule.ProviderInfo;

/** Prints which providers there are, and whether they work on this machine. */
public final class ListProviders {
  private ListProviders() {}

  /**
   * Runs the program.
   *
   * @param args the first one begins each line
   */
  public static void main(String[] args) {
    for (ProviderInfo provider : Ferrule.providers()) {
      System.out.printf("%s: %s is %s%n", args[0], provider.scheme(), provider.availability());
    }
  }
}
