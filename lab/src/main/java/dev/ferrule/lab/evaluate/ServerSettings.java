// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.lab.evaluate;

import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/**
 * How a server of an evaluation is started.
 *
 * @param waiting the wait strategy, such as {@code spin}
 * @param pinned whether its threads are pinned to processors
 */
public record ServerSettings(Map<String, String> options, String waiting, boolean pinned) {

  public ServerSettings {
    options = Collections.unmodifiableMap(new TreeMap<>(options));
  }

  /** {@return the arguments of the command {@code serve}, without the address} */
  public List<String> arguments() {
    List<String> arguments = new ArrayList<>();
    options.forEach((name, value) -> arguments.add("--option=" + name + "=" + value));
    arguments.add("--wait=" + waiting);
    arguments.add(pinned ? "--pin" : "--no-pin");
    return arguments;
  }
}
