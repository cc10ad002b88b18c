// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.sm;

import com.google.auto.service.AutoService;
import dev.ferrule.Availability;
import dev.ferrule.Connection;
import dev.ferrule.ConnectionOptions;
import dev.ferrule.Listener;
import dev.ferrule.Option;
import dev.ferrule.posix.Architecture;
import dev.ferrule.posix.Membarrier;
import dev.ferrule.sm.endpoint.SmAddress;
import dev.ferrule.sm.endpoint.SmEndpoints;
import dev.ferrule.sm.os.Knem;
import dev.ferrule.sm.os.KnemDevice;
import dev.ferrule.sm.rma.CopyPath;
import dev.ferrule.spi.ConnectionProvider;
import dev.ferrule.spi.EndpointRegistry;
import dev.ferrule.spi.ResolvedOptions;
import java.net.URI;
import java.util.List;
import java.util.Optional;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/** Connections between the processes of one host, over shared memory. */
@AutoService(ConnectionProvider.class)
public final class SmProvider implements ConnectionProvider {

  private final Supplier<@Nullable Knem> knem;

  /** Created by {@link java.util.ServiceLoader}; accesses no system resource. */
  public SmProvider() {
    this(KnemDevice::instance);
  }

  /** Creates a provider with a substitute for the KNEM driver, requested on first use. */
  SmProvider(Supplier<@Nullable Knem> knem) {
    this.knem = knem;
  }

  private Facilities facilities(ResolvedOptions options) {
    Knem driver = knem.get();
    boolean exposes = options.get(SmOptions.RMA) == CopyPath.Choice.KNEM;
    return new Facilities(driver, exposes ? driver : null);
  }

  @Override
  public String scheme() {
    return SmAddress.SCHEME;
  }

  @Override
  public String description() {
    return "shared memory between the processes (or containers with a common tmpfs) of one host";
  }

  @Override
  public String exampleAddress() {
    return "sm:///dev/shm/app";
  }

  @Override
  public Availability availability() {
    if (!System.getProperty("os.name").equals("Linux")) {
      return new Availability.Unavailable(
          "sm needs Linux, and this is " + System.getProperty("os.name"), "run it on Linux");
    }
    if (!Architecture.isSupported()) {
      return new Availability.Unavailable(
          "sm needs x86-64 or aarch64, and this is " + Architecture.name(),
          "run it on one of these");
    }
    return Linked.AVAILABILITY;
  }

  /**
   * Whether the C functions can be called, determined once: only the first use of a class that
   * cannot be initialized reports the reason.
   */
  private static final class Linked {

    static final Availability AVAILABILITY = link();

    private static Availability link() {
      try {
        Membarrier.global(); // links the C functions
        return new Availability.Available();
      } catch (IllegalCallerException | LinkageError e) {
        return new Availability.Unavailable(
            "the JVM does not let sm call C functions (" + cause(e) + ")",
            "start it with --enable-native-access=ALL-UNNAMED, or on the module path with"
                + " --enable-native-access=dev.ferrule.posix");
      }
    }

    private static Throwable cause(Throwable failure) {
      Throwable last = failure;
      for (Throwable next = last.getCause(); next != null; next = next.getCause()) {
        last = next;
      }
      return last;
    }
  }

  @Override
  public List<Option<?>> options() {
    return SmOptions.all();
  }

  @Override
  public Optional<EndpointRegistry> endpointRegistry() {
    return Optional.of(new SmEndpoints());
  }

  @Override
  public Connection connect(URI address, ConnectionOptions options) {
    ResolvedOptions resolved = ResolvedOptions.of(options, address, options());
    return SmConnector.connect(address, resolved, facilities(resolved));
  }

  @Override
  public Listener listen(URI address, ConnectionOptions options) {
    ResolvedOptions resolved = ResolvedOptions.of(options, address, options());
    return SmListener.listen(address, resolved, facilities(resolved));
  }
}
