// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.tools;

import dev.ferrule.tools.support.Commit;
import java.lang.module.ModuleDescriptor;
import java.util.Optional;
import picocli.CommandLine.IVersionProvider;

/** The version that the build wrote into the jar. */
public final class VersionProvider implements IVersionProvider {

  /** Called by picocli. */
  public VersionProvider() {}

  @Override
  public String[] getVersion() {
    return new String[] {"ferrule " + build(), "Java " + Runtime.version()};
  }

  /** {@return the version of this program, or {@code (not from a jar)}} */
  public static String version() {
    return Optional.ofNullable(VersionProvider.class.getModule().getDescriptor())
        .flatMap(ModuleDescriptor::rawVersion)
        .or(() ->
            Optional.ofNullable(VersionProvider.class.getPackage().getImplementationVersion()))
        .orElse("(not from a jar)");
  }

  /**
   * {@return the version and, if known, the commit that it was built from, such as {@code 1.0.0
   * (c8055d04dc42)}}
   */
  public static String build() {
    return Commit.name().isEmpty() ? version() : version() + " (" + Commit.name() + ")";
  }
}
