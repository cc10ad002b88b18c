// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.spi;

import dev.ferrule.Ferrule;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.Iterator;
import java.util.List;
import java.util.ServiceConfigurationError;
import java.util.ServiceLoader;

/** Loads the providers once. A provider that fails to load does not hide the others. */
public final class Providers {

  private record Found(List<ConnectionProvider> providers, List<String> problems) {}

  private static final Found FOUND = find();

  private Providers() {}

  /** {@return the providers on the class path or module path, sorted by scheme} */
  public static List<ConnectionProvider> all() {
    return FOUND.providers;
  }

  /**
   * {@return the failures of loading providers, as a suffix to an error message; empty if there
   * were none}
   */
  public static String problems() {
    return FOUND.problems.isEmpty()
        ? ""
        : " (not loaded: " + String.join("; ", FOUND.problems) + ")";
  }

  private static Found find() {
    List<ConnectionProvider> providers = new ArrayList<>();
    List<String> problems = new ArrayList<>();
    load(Ferrule.class.getClassLoader(), providers, problems);
    ClassLoader context = Thread.currentThread().getContextClassLoader();
    if (providers.isEmpty() && context != null) {
      // in an application server, only the application's class loader may see the providers
      load(context, providers, problems);
    }
    providers.sort(Comparator.comparing(ConnectionProvider::scheme));
    return new Found(List.copyOf(providers), List.copyOf(problems));
  }

  private static void load(
      ClassLoader loader, List<ConnectionProvider> providers, List<String> problems) {
    Iterator<ConnectionProvider> iterator =
        ServiceLoader.load(ConnectionProvider.class, loader).iterator();
    while (true) {
      try {
        if (!iterator.hasNext()) {
          return;
        }
        providers.add(iterator.next());
      } catch (ServiceConfigurationError | LinkageError e) {
        problems.add(String.valueOf(e.getMessage()));
        if (problems.size() > 16) {
          return; // a class loader that fails repeatedly without progress
        }
      }
    }
  }
}
