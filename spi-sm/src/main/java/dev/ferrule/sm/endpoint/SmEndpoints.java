// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.sm.endpoint;

import dev.ferrule.posix.PosixException;
import dev.ferrule.spi.ConnectionSample;
import dev.ferrule.spi.EndpointInfo;
import dev.ferrule.spi.EndpointRegistry;
import dev.ferrule.support.Threads;
import java.io.IOException;
import java.io.InputStream;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.NotDirectoryException;
import java.nio.file.Path;
import java.nio.file.attribute.BasicFileAttributes;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;

/** The endpoints in a directory, for tools that list and remove them. */
public final class SmEndpoints implements EndpointRegistry {

  private static final int LONGEST_SIZE = 20;

  /** How long a process may take to write its counters. */
  private static final long ANSWER_NANOS = 500_000_000;

  private static final long PAUSE_NANOS = 1_000_000;

  /** Creates a registry, which accesses nothing yet. */
  public SmEndpoints() {}

  @Override
  public List<EndpointInfo> list(URI address) throws IOException {
    List<EndpointInfo> result = new ArrayList<>();
    find(address).forEach(endpoint -> result.add(info(endpoint)));
    EndpointScan.unreadable(SmAddress.parse(address))
        .forEach((directory, user) -> result.add(unreadable(directory, user)));
    return result;
  }

  @Override
  public Map<URI, List<ConnectionSample>> sample(URI address) throws IOException {
    Map<SmAddress, CountersRequest> pending = new TreeMap<>(Comparator.comparing(SmAddress::uri));
    for (SmAddress endpoint : find(address)) {
      CountersRequest.send(endpoint).ifPresent(request -> pending.put(endpoint, request));
    }
    Map<URI, List<ConnectionSample>> samples = new HashMap<>();
    long start = System.nanoTime();
    while (!pending.isEmpty() && System.nanoTime() - start < ANSWER_NANOS) {
      Threads.pause(PAUSE_NANOS);
      pending
          .entrySet()
          .removeIf(entry -> {
            Optional<List<ConnectionSample>> answer = entry.getValue().answer();
            answer.ifPresent(found -> samples.put(entry.getKey().uri(), found));
            return answer.isPresent();
          });
    }
    return samples;
  }

  @Override
  public List<EndpointInfo> removable(URI address) throws IOException {
    return find(address).stream().filter(EndpointScan::isRemovable).map(SmEndpoints::info).toList();
  }

  @Override
  public List<EndpointInfo> clean(URI address) throws IOException {
    List<EndpointInfo> removed = new ArrayList<>();
    for (SmAddress endpoint : find(address)) {
      EndpointInfo info = info(endpoint);
      // a check may be outdated at once; the lock decides
      if (EndpointScan.isRemovable(endpoint) && EndpointScan.clean(endpoint)) {
        removed.add(info);
      }
    }
    return removed;
  }

  private static List<SmAddress> find(URI uri) throws IOException {
    SmAddress address = SmAddress.parse(uri);
    Path base = address.base();
    try {
      // not Files.isDirectory, which does not report the reason
      if (!Files.readAttributes(base, BasicFileAttributes.class).isDirectory()) {
        throw new NotDirectoryException(base + " is a file, not a directory");
      }
    } catch (NoSuchFileException e) {
      throw new NoSuchFileException(base.toString(), null, "no such directory");
    }
    return EndpointScan.endpoints(address);
  }

  private static EndpointInfo unreadable(Path directory, int user) {
    return new EndpointInfo(
        new SmAddress(directory, null).uri(),
        EndpointInfo.State.UNKNOWN,
        "endpoints of user id " + user + ": permission denied",
        0,
        0);
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
      return 0; // closed meanwhile, or not readable
    }
  }
}
