// SPDX-License-Identifier: Apache-2.0

/** The {@code ferrule} command. */
@SuppressWarnings("requires-automatic") // HdrHistogram has no descriptor
module dev.ferrule.tools {
  requires com.google.gson;
  requires dev.ferrule;
  requires dev.ferrule.posix;
  requires HdrHistogram;
  requires info.picocli;
  requires java.desktop;
  requires java.logging;
  requires java.management;
  requires static org.jspecify;

  uses dev.ferrule.spi.ConnectionProvider;
  uses dev.ferrule.tools.EvaluationServer;
  uses dev.ferrule.tools.Subcommand;

  exports dev.ferrule.tools.support to
      java.logging;

  opens dev.ferrule.tools to
      info.picocli;
}
