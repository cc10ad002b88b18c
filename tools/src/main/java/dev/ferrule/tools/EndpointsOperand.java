// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.tools;

import dev.ferrule.spi.ConnectionProvider;
import dev.ferrule.spi.EndpointInfo;
import dev.ferrule.spi.EndpointRegistry;
import dev.ferrule.tools.support.Endpoint;
import dev.ferrule.tools.support.ExitCode;
import dev.ferrule.tools.support.ToolException;
import java.io.IOException;
import java.net.URI;
import java.nio.file.AccessDeniedException;
import java.nio.file.Path;
import java.util.List;
import picocli.CommandLine.Parameters;

/** Which endpoints {@code ferrule ls} and {@code ferrule clean} are about. */
final class EndpointsOperand {

  private static final String DEFAULT_SCHEME = "sm";

  @Parameters(
      paramLabel = "PATH",
      description =
          "The directory that endpoints were made in, or one of them: /dev/shm/app, or"
              + " sm:///dev/shm/app, or sm:///dev/shm/app/4567/1.")
  private String path = "";

  /** What is done with a registry. */
  interface Action {
    List<EndpointInfo> on(EndpointRegistry registry, URI address) throws IOException;
  }

  List<EndpointInfo> perform(Action action) {
    URI address = address();
    ConnectionProvider provider =
        Endpoint.provider(address.getScheme())
            .orElseThrow(
                () ->
                    new ToolException(
                        ExitCode.NO_PROVIDER,
                        "there is no provider for '" + address.getScheme() + "'"));
    EndpointRegistry registry =
        provider
            .endpointRegistry()
            .orElseThrow(
                () ->
                    new ToolException(
                        ExitCode.USAGE,
                        "endpoints of "
                            + provider.scheme()
                            + " end with their process, so there is nothing to list or remove"));
    try {
      return action.on(registry, address);
    } catch (AccessDeniedException e) { // whose message is but the path
      throw new ToolException(
          ExitCode.FAILED,
          address
              + ": permission denied for "
              + e.getMessage()
              + "; run the command as the user who owns it, or as root",
          e);
    } catch (IOException e) {
      throw new ToolException(ExitCode.FAILED, address + ": " + e.getMessage(), e);
    }
  }

  private URI address() {
    if (path.contains(":")) {
      URI uri = Endpoint.parse(path);
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
