// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.tools;

import dev.ferrule.tools.doctor.CmaProbe;
import dev.ferrule.tools.support.ChildProcess;
import dev.ferrule.tools.support.ExitCode;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/** The child process that {@code doctor} starts to read the memory of its parent. */
@Command(name = "cma-probe", hidden = true)
final class CmaProbeCommand implements Callable<Integer> {

  @Spec private CommandSpec spec;

  @Parameters(index = "0", paramLabel = "PID")
  private int pid;

  @Parameters(index = "1", paramLabel = "ADDRESS")
  private long address;

  @Override
  public Integer call() {
    ChildProcess.answer(spec.commandLine().getOut(), CmaProbe.read(pid, address));
    return ExitCode.OK;
  }
}
