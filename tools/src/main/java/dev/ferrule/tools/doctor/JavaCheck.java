// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.tools.doctor;

import dev.ferrule.bindings.libc.LibC;
import java.util.List;

/** The JDK, and whether it lets us call the system's libraries. */
final class JavaCheck implements Check {

  @Override
  public List<Finding> run() {
    String version = "Java " + Runtime.version() + " of " + System.getProperty("java.vendor");
    Module bindings = LibC.class.getModule();
    if (!bindings.isNativeAccessEnabled()) {
      String who = bindings.isNamed() ? bindings.getName() : "ALL-UNNAMED";
      return List.of(
          Finding.warn(
              "java",
              version + " warns of native access, and later releases will refuse it",
              "start Java with --enable-native-access=" + who));
    }
    return List.of(Finding.ok("java", version + ", native access enabled"));
  }
}
