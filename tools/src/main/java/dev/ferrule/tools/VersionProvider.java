// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.tools;

import java.lang.module.ModuleDescriptor;
import java.util.Optional;
import picocli.CommandLine.IVersionProvider;

/** The version that the build wrote into the jar. */
final class VersionProvider implements IVersionProvider {

  @Override
  public String[] getVersion() {
    return new String[] {"ferrule " + version(), "Java " + Runtime.version()};
  }

  static String version() {
    return Optional.ofNullable(VersionProvider.class.getModule().getDescriptor())
        .flatMap(ModuleDescriptor::rawVersion)
        .or(
            () ->
                Optional.ofNullable(VersionProvider.class.getPackage().getImplementationVersion()))
        .orElse("(not from a jar)");
  }
}
