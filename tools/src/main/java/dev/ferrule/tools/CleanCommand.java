// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.tools;

import dev.ferrule.spi.EndpointInfo;
import dev.ferrule.spi.EndpointRegistry;
import dev.ferrule.tools.support.ExitCode;
import java.io.PrintWriter;
import java.net.URI;
import java.util.List;
import java.util.Set;
import java.util.concurrent.Callable;
import java.util.stream.Collectors;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

/** Removes the endpoints of dead processes. */
@Command(
    name = "clean",
    mixinStandardHelpOptions = true,
    description = {
      "Removes the stale endpoints of killed processes, and lists them. Never removes an endpoint"
          + " of a live process, or a file that Ferrule did not create. Each process that listens"
          + " or connects in the directory also removes stale endpoints.",
      ""
    },
    footer = {"", "Example: ferrule clean --dry-run /dev/shm/app"})
final class CleanCommand implements Callable<Integer> {

  @Spec private CommandSpec spec;

  @Mixin private EndpointsOperand operand = new EndpointsOperand();

  @Option(
      names = {"-n", "--dry-run"},
      description = "Only show what would be removed.")
  private boolean dryRun;

  @Override
  public Integer call() {
    PrintWriter out = spec.commandLine().getOut();
    List<EndpointInfo> before = operand.perform(EndpointRegistry::list);
    List<EndpointInfo> removed =
        operand.perform(dryRun ? EndpointRegistry::removable : EndpointRegistry::clean);
    if (removed.isEmpty()) {
      out.println("nothing to remove");
    } else {
      out.println(dryRun ? "would be removed:" : "removed:");
      out.print(LsCommand.toTable(removed));
    }
    Set<URI> addresses = removed.stream().map(EndpointInfo::address).collect(Collectors.toSet());
    List<EndpointInfo> left =
        before.stream()
            .filter(endpoint -> endpoint.state() != EndpointInfo.State.LIVE)
            .filter(endpoint -> !addresses.contains(endpoint.address()))
            .toList();
    if (!left.isEmpty()) {
      out.println("not removed (owned by another user, or without a lock file):");
      out.print(LsCommand.toTable(left));
    }
    return ExitCode.OK;
  }
}
