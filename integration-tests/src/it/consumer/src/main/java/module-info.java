// SPDX-License-Identifier: Apache-2.0

/** A program that uses Ferrule independently of the provider. */
module consumer {
  requires dev.ferrule;
}
