// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.tools;

import java.util.concurrent.Callable;

/**
 * A command that another module adds to {@code ferrule}. Implementations are annotated with
 * picocli's {@code @Command}, return the exit code, and are found by {@link
 * java.util.ServiceLoader}.
 */
public interface Subcommand extends Callable<Integer> {}
