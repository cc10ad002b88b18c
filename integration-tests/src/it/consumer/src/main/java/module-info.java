// SPDX-License-Identifier: Apache-2.0

/** A program that uses Ferrule and doesn't know which provider it gets. */
module consumer {
  requires dev.ferrule;
}
