// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.tools;

import dev.ferrule.spi.ConnectionProvider;
import dev.ferrule.spi.EndpointInfo;
import dev.ferrule.spi.EndpointRegistry;
import dev.ferrule.tools.support.ConfiguredAddress;
import dev.ferrule.tools.support.ExitCode;
import dev.ferrule.tools.support.ToolException;
import java.io.IOException;
import java.net.URI;
import java.nio.file.AccessDeniedException;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.List;
import java.util.ServiceLoader;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/** The endpoints on which {@code ferrule ls}, {@code top} and {@code clean} operate. */
final class EndpointsOperand {

  private static final String DEFAULT_SCHEME = "sm";

  @Parameters(
      paramLabel = "PATH",
      description =
          "A directory with endpoints, or one endpoint: /dev/shm/app, sm:///dev/shm/app, or"
              + " sm:///dev/shm/app/4567/1.")
  private String path = "";

  @Spec(Spec.Target.MIXEE)
  private CommandSpec spec;

  private boolean warned;

  /** An operation on a registry. */
  interface Action<T> {
    T on(EndpointRegistry registry, URI address) throws IOException;
  }

  List<EndpointInfo> perform(Action<List<EndpointInfo>> action) {
    return perform(action, List.of());
  }

  /** Performs an operation; returns a given result if the directory does not exist. */
  <T> T perform(Action<T> action, T missing) {
    URI address = address();
    ConnectionProvider provider =
        ServiceLoader.load(ConnectionProvider.class).stream()
            .map(ServiceLoader.Provider::get)
            .filter(candidate -> candidate.scheme().equals(address.getScheme()))
            .findFirst()
            .orElseThrow(() ->
                new ToolException(
                    ExitCode.NO_PROVIDER,
                    "no provider for '"
                        + address.getScheme()
                        + "'; 'ferrule providers' lists them"));
    EndpointRegistry registry =
        provider
            .endpointRegistry()
            .orElseThrow(() ->
                new ToolException(
                    ExitCode.USAGE,
                    provider.scheme()
                        + " has no endpoints to list or remove: they end with their process"));
    try {
      return action.on(registry, address);
    } catch (NoSuchFileException e) { // for example, after the last process has ended
      if (!warned) {
        warned = true;
        spec.commandLine().getErr().println("ferrule: " + address + ": no such directory");
      }
      return missing;
    } catch (AccessDeniedException e) { // its message is only the path
      throw new ToolException(
          ExitCode.FAILED,
          "%s: permission denied for %s; run the command as its owner, or as root"
              .formatted(address, e.getMessage()),
          e);
    } catch (IOException e) {
      throw new ToolException(ExitCode.FAILED, address + ": " + e.getMessage(), e);
    }
  }

  private URI address() {
    if (path.contains(":")) {
      URI uri = ConfiguredAddress.parse(path);
      if (uri.getScheme() != null) {
        return uri;
      }
    }
    URI file = Path.of(path).toAbsolutePath().normalize().toUri();
    String text = file.getRawPath();
    boolean isDirectory = text.length() > 1 && text.endsWith("/");
    return URI.create(
        DEFAULT_SCHEME + "://" + (isDirectory ? text.substring(0, text.length() - 1) : text));
  }
}
