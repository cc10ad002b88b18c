// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.tools;

import java.io.PrintWriter;
import java.io.StringWriter;

/**
 * A command that was run in this process.
 *
 * @param exitCode what it ended with
 * @param out what it wrote to standard output
 * @param err what it wrote to standard error
 */
record Run(int exitCode, String out, String err) {

  static Run of(String... arguments) {
    StringWriter out = new StringWriter();
    StringWriter err = new StringWriter();
    int code = Main.run(new PrintWriter(out), new PrintWriter(err, true), arguments);
    return new Run(code, out.toString(), err.toString());
  }
}
