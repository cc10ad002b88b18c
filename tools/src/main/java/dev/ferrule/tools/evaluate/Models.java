// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.tools.evaluate;

import dev.ferrule.tools.model.FitResult;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;

/** The model of each provider for which there is one. */
public final class Models {

  private final Map<String, FitResult> fits = new LinkedHashMap<>();

  /** Creates models of nothing. */
  public Models() {}

  void add(String provider, FitResult fit) {
    fits.put(provider, fit);
  }

  /**
   * Returns a provider's model.
   *
   * @param provider its scheme
   * @return what was fitted; empty if too little was measured for that
   */
  public Optional<FitResult> of(String provider) {
    return Optional.ofNullable(fits.get(provider));
  }

  /** Returns all models by the provider's scheme. */
  Map<String, FitResult> all() {
    return fits;
  }
}
