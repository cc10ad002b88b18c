// SPDX-License-Identifier: Apache-2.0
package consumer;

import dev.ferrule.Ferrule;
import dev.ferrule.ProviderInfo;

/** Prints the providers, and whether each of them works on this machine. */
public final class ListProviders {
  private ListProviders() {}

  /**
   * Runs the program.
   *
   * @param args the first one is printed at the start of each line
   */
  public static void main(String[] args) {
    for (ProviderInfo provider : Ferrule.providers()) {
      System.out.printf("%s: %s is %s%n", args[0], provider.scheme(), provider.availability());
    }
  }
}
