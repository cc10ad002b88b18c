// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.lab.evaluate;

import dev.ferrule.lab.model.FitResult;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;

/** The fitted models by provider. */
public final class Models {

  private final Map<String, FitResult> fits = new LinkedHashMap<>();

  /** Creates an empty collection. */
  public Models() {}

  void add(String provider, FitResult fit) {
    fits.put(provider, fit);
  }

  /** Returns a provider's model; empty if there are too few measurements for one. */
  public Optional<FitResult> of(String provider) {
    return Optional.ofNullable(fits.get(provider));
  }

  /** Returns all models by the provider's scheme. */
  Map<String, FitResult> all() {
    return fits;
  }
}
