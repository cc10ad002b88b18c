// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.sm;

import dev.ferrule.sm.endpoint.EndpointFiles;
import dev.ferrule.sm.endpoint.EndpointScan;
import dev.ferrule.sm.endpoint.SmAddress;
import dev.ferrule.sm.os.PosixException;
import dev.ferrule.spi.EndpointInfo;
import dev.ferrule.spi.EndpointRegistry;
import java.io.IOException;
import java.io.InputStream;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/** The endpoints in a directory, for people who want to see and remove them. */
final class SmEndpoints implements EndpointRegistry {

  private static final int LONGEST_SIZE = 20;

  @Override
  public List<EndpointInfo> list(URI address) throws IOException {
    List<EndpointInfo> result = new ArrayList<>();
    for (SmAddress endpoint : find(address)) {
      result.add(info(endpoint));
    }
    return result;
  }

  @Override
  public List<EndpointInfo> clean(URI address) throws IOException {
    List<EndpointInfo> removed = new ArrayList<>();
    for (SmAddress endpoint : find(address)) {
      EndpointInfo info = info(endpoint);
      // the state was true a moment ago; whether it still is, is found out by the lock
      if (info.state() == EndpointInfo.State.STALE && EndpointScan.clean(endpoint)) {
        removed.add(info);
      }
    }
    return removed;
  }

  private static List<SmAddress> find(URI uri) throws IOException {
    SmAddress address = SmAddress.parse(uri);
    if (!Files.isDirectory(address.base())) {
      throw new NoSuchFileException(address.base().toString(), null, "there is no such directory");
    }
    return EndpointScan.endpoints(address);
  }

  private static EndpointInfo info(SmAddress endpoint) {
    List<Path> connections = EndpointScan.connections(endpoint);
    return new EndpointInfo(
        endpoint.uri(),
        state(endpoint),
        EndpointScan.description(endpoint),
        connections.size(),
        connections.stream().mapToLong(SmEndpoints::size).sum());
  }

  private static EndpointInfo.State state(SmAddress endpoint) {
    try {
      return EndpointScan.isLive(endpoint) ? EndpointInfo.State.LIVE : EndpointInfo.State.STALE;
    } catch (PosixException e) {
      return EndpointInfo.State.UNKNOWN;
    }
  }

  private static long size(Path connection) {
    try (InputStream memory = Files.newInputStream(connection.resolve(EndpointFiles.MEMORY))) {
      String text = new String(memory.readNBytes(LONGEST_SIZE), StandardCharsets.US_ASCII);
      return Long.parseLong(text.strip());
    } catch (IOException | NumberFormatException e) {
      return 0; // closed meanwhile, or not to be read
    }
  }
}
