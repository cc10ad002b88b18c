// SPDX-License-Identifier: Apache-2.0

/** The {@code ferrule} command. */
@SuppressWarnings("requires-automatic") // HdrHistogram and XChart are not modules of their own yet.
module dev.ferrule.tools {
  requires dev.ferrule;
  requires dev.ferrule.bindings;
  requires com.google.gson;
  requires HdrHistogram;
  requires info.picocli;
  requires me.tongfei.progressbar;
  requires xchart;
}
