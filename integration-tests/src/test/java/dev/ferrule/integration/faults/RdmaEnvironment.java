// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.integration.faults;

import dev.ferrule.Connection;
import dev.ferrule.ConnectionOptions;
import dev.ferrule.Listener;
import dev.ferrule.posix.Errno;
import dev.ferrule.rdma.simulation.SimulatedFabric;
import dev.ferrule.rdma.simulation.StepKind;
import dev.ferrule.spi.ConnectionProvider;
import dev.ferrule.verbs.AsyncEvent;
import dev.ferrule.verbs.CompletionStatus;
import dev.ferrule.verbs.VerbsLibrary;
import java.net.URI;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.function.Function;

/** Two threads of this process, and a simulated device. */
final class RdmaEnvironment implements Environment {

  /** The calls that create resources. */
  static final List<String> CREATING =
      List.of("regMr", "regMrIova", "createCq", "createQp", "createCompChannel", "allocPd");

  private final ConnectionProvider provider;
  private final ConnectionOptions listening;
  private final List<Variant> variants;
  private final SimulatedFabric fabric;
  private final List<Host> hosts;
  private boolean disturbed;

  RdmaEnvironment(
      Function<VerbsLibrary, ConnectionProvider> provider,
      ConnectionOptions listening,
      List<Variant> variants,
      long seed) {
    this.listening = listening;
    this.variants = variants;
    this.fabric = new SimulatedFabric(seed);
    this.provider = provider.apply(fabric.library());
    fabric.setRetryTime(Duration.ofMillis(100));
    Random random = Schedule.random(seed);
    for (StepKind kind : StepKind.values()) {
      fabric.delay(kind, random.nextInt(3) * 0.1, 1 + random.nextInt(20));
    }
    this.hosts = List.of(newHost(), newHost());
  }

  private Host newHost() {
    return new LocalHost(
        new Program(
            new Program.ProviderAccess() {
              @Override
              public Listener listen(URI address) {
                return provider.listen(address, listening);
              }

              @Override
              public Connection connect(URI address, ConnectionOptions options) {
                return provider.connect(address, options);
              }

              @Override
              public void beginFaults(long seed, int percent, Set<String> functions) {
                fabric.repair();
                functions.forEach(name -> fabric.failRandomly(name, Errno.ENOMEM, percent / 100.0));
              }

              @Override
              public void endFaults() {
                fabric.repair();
              }

              @Override
              public Map<String, Integer> takeFailedCalls() {
                return fabric.takeFailedCalls();
              }
            }));
  }

  @Override
  public List<Variant> variants() {
    return variants;
  }

  @Override
  public String listenAddress() {
    return provider.scheme() + "://127.0.0.1:0";
  }

  @Override
  public boolean returnsRoomAtOnce() {
    return false;
  }

  @Override
  public String connectAddress(String listening) {
    return listening;
  }

  @Override
  public Host host(int side) {
    return hosts.get(side);
  }

  @Override
  public boolean replace(int side) {
    return false;
  }

  @Override
  public boolean disturb(Random random) {
    disturbed = true;
    switch (random.nextInt(6)) {
      case 0 -> {
        return fabric.cutOne();
      }
      case 1 -> {
        return fabric.disconnectOne();
      }
      case 2 -> fabric.failNext("postSend", Errno.ENOMEM);
      case 3 -> fabric.failNext("postRecv", Errno.ENOMEM);
      case 4 -> {
        return fabric.report(AsyncEvent.Type.QUEUE_PAIR_FATAL);
      }
      default -> fabric.failSends(CompletionStatus.REMOTE_OPERATION_ERROR, 0.2);
    }
    return true;
  }

  @Override
  public void calm() {
    fabric.repair();
  }

  @Override
  public void expectNothingLeft() {
    fabric.awaitReleased();
    if (!disturbed && fabric.receiverNotReady() > 0) {
      throw new AssertionError(fabric.receiverNotReady() + " messages found no receive posted");
    }
  }

  @Override
  public void close() {
    hosts.forEach(Host::close);
    fabric.close();
  }
}
