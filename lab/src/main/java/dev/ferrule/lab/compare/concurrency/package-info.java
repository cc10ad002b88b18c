// SPDX-License-Identifier: Apache-2.0

/** Many concurrent connections, each with a thread of its own, on few processors. */
@NullMarked
package dev.ferrule.lab.compare.concurrency;

import org.jspecify.annotations.NullMarked;
