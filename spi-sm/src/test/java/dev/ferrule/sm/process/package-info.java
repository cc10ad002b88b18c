// SPDX-License-Identifier: Apache-2.0
/** Tests with a second process, which is killed, stopped or simply talked to. */
@NullMarked
package dev.ferrule.sm.process;

import org.jspecify.annotations.NullMarked;
