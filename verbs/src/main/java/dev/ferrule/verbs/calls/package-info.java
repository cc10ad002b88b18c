// SPDX-License-Identifier: Apache-2.0

/**
 * The C functions that this module calls, as two interfaces: {@link
 * dev.ferrule.verbs.calls.VerbsCalls} for libibverbs and {@link dev.ferrule.verbs.calls.CmCalls}
 * for librdmacm. Tests implement them to replace the device.
 */
@NullMarked
package dev.ferrule.verbs.calls;

import org.jspecify.annotations.NullMarked;
