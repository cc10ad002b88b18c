// SPDX-License-Identifier: Apache-2.0

/** The {@code ferrule} command. */
module dev.ferrule.tools {
  requires dev.ferrule;
  requires dev.ferrule.bindings;
}
