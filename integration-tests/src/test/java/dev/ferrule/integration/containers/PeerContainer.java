// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.integration.containers;

import static org.assertj.core.api.Assertions.assertThat;

import com.github.dockerjava.api.DockerClient;
import com.github.dockerjava.api.async.ResultCallback;
import com.github.dockerjava.api.command.CreateContainerCmd;
import com.github.dockerjava.api.command.WaitContainerResultCallback;
import com.github.dockerjava.api.model.Bind;
import com.github.dockerjava.api.model.Capability;
import com.github.dockerjava.api.model.Frame;
import com.github.dockerjava.api.model.HostConfig;
import com.github.dockerjava.api.model.StreamType;
import java.io.ByteArrayOutputStream;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import org.testcontainers.containers.GenericContainer;
import org.testcontainers.containers.startupcheck.StartupCheckStrategy;

/**
 * A container with a {@link PeerProgram}, which does what it is told, one line after the other, and
 * answers each with a line.
 */
final class PeerContainer implements AutoCloseable {

  /** Longer than anything takes on a busy machine, and far from for ever. */
  private static final long PATIENCE_SECONDS = 60;

  /** What the program's output ends with, which the program does not say. */
  private static final String END = "end of output";

  private final GenericContainer<?> container = new GenericContainer<>(PeerImage.INSTANCE);
  private final List<Bind> binds = new ArrayList<>(PeerImage.machine());
  private final List<Consumer<CreateContainerCmd>> settings = new ArrayList<>();
  private CommandStream input = new CommandStream();
  private BlockingQueue<String> output = new LinkedBlockingQueue<>();

  PeerContainer() {
    container.withCommand(PeerImage.command().toArray(String[]::new));
    container.withLabels(SharedVolume.RUN);
    container.withStartupCheckStrategy(new WhateverBecomesOfIt());
    container.withCreateContainerCmdModifier(this::set);
  }

  private void set(CreateContainerCmd command) {
    command.withStdinOpen(true);
    host(command).withBinds(binds).withNetworkMode("none");
    settings.forEach(setting -> setting.accept(command));
  }

  private static HostConfig host(CreateContainerCmd command) {
    return Objects.requireNonNull(command.getHostConfig());
  }

  PeerContainer volume(SharedVolume volume, String path) {
    binds.add(volume.at(path));
    return this;
  }

  /** In the PID namespace of another container. */
  PeerContainer pidOf(PeerContainer other) {
    settings.add(command -> host(command).withPidMode("container:" + other.id()));
    return this;
  }

  /** With a /dev/shm that other containers may have as well. */
  PeerContainer shareable() {
    settings.add(command -> host(command).withIpcMode("shareable"));
    return this;
  }

  /** With the /dev/shm of another container. */
  PeerContainer shmOf(PeerContainer other) {
    settings.add(command -> host(command).withIpcMode("container:" + other.id()));
    return this;
  }

  PeerContainer capability(Capability capability) {
    settings.add(command -> host(command).withCapAdd(capability));
    return this;
  }

  /** With other rules than the engine's for which system calls are allowed. */
  PeerContainer seccomp(String profile) {
    settings.add(command -> host(command).withSecurityOpts(List.of("seccomp=" + profile)));
    return this;
  }

  /** As a user and a group, by their numbers. */
  PeerContainer user(int user, int group) {
    settings.add(command -> command.withUser(user + ":" + group));
    return this;
  }

  PeerContainer start() {
    container.start();
    attach();
    return this;
  }

  /** Starts the container anew, after it has ended, with all that it is and has. */
  void restart() {
    engine().startContainerCmd(id()).exec();
    attach();
  }

  private DockerClient engine() {
    return container.getDockerClient();
  }

  private String id() {
    return container.getContainerId();
  }

  private void attach() {
    input = new CommandStream();
    output = new LinkedBlockingQueue<>();
    try {
      engine()
          .attachContainerCmd(id())
          .withStdIn(input)
          .withStdOut(true)
          .withStdErr(true)
          .withFollowStream(true)
          .exec(new Lines(output))
          .awaitStarted(PATIENCE_SECONDS, TimeUnit.SECONDS);
    } catch (InterruptedException e) {
      throw new AssertionError(e);
    }
  }

  /** Tells the program to do something. */
  void tell(String command) {
    input.add(command);
  }

  /** Waits until it has done what it was told, and returns what it has to say about it. */
  String answer() {
    return reply(PeerProgram.OK);
  }

  /** Waits until it has failed to do what it was told, and returns how. */
  String failure() {
    return reply(PeerProgram.FAILED);
  }

  String ask(String command) {
    tell(command);
    return answer();
  }

  String failureOf(String command) {
    tell(command);
    return failure();
  }

  private String reply(String wanted) {
    try {
      String line = output.poll(PATIENCE_SECONDS, TimeUnit.SECONDS);
      if (line == null || line.equals(END)) {
        throw new AssertionError(
            (line == null ? "no answer" : "it has ended") + "; it said:\n" + container.getLogs());
      }
      assertThat(line).startsWith(wanted);
      return line.substring(wanted.length());
    } catch (InterruptedException e) {
      throw new AssertionError(e);
    }
  }

  /** Kills it, as the kernel or an administrator would: nothing of it runs any more. */
  void kill() {
    engine().killContainerCmd(id()).withSignal("KILL").exec();
    exitCode();
  }

  /** Has the program exit as programs do, and returns with what. */
  int exit() {
    tell("exit");
    return exitCode();
  }

  private int exitCode() {
    return engine()
        .waitContainerCmd(id())
        .exec(new WaitContainerResultCallback())
        .awaitStatusCode(PATIENCE_SECONDS, TimeUnit.SECONDS);
  }

  @Override
  public void close() {
    input.close();
    container.stop();
  }

  /** The program's lines; what it writes as errors goes to this JVM's. */
  private static final class Lines extends ResultCallback.Adapter<Frame> {

    private final BlockingQueue<String> lines;
    private final ByteArrayOutputStream begun = new ByteArrayOutputStream();

    Lines(BlockingQueue<String> lines) {
      this.lines = lines;
    }

    @Override
    public void onNext(Frame frame) {
      if (frame.getStreamType() != StreamType.STDOUT) {
        System.err.print(new String(frame.getPayload(), StandardCharsets.UTF_8));
        return;
      }
      for (byte one : frame.getPayload()) {
        if (one == '\n') {
          lines.add(begun.toString(StandardCharsets.UTF_8));
          begun.reset();
        } else {
          begun.write(one);
        }
      }
    }

    @Override
    public void onComplete() {
      lines.add(END);
      super.onComplete();
    }

    @Override
    public void onError(Throwable problem) {
      lines.add(END);
      super.onError(problem);
    }
  }

  /**
   * A program that ends soon is a matter for the test, which waits for what it has to say; and to
   * look takes a second each time.
   */
  private static final class WhateverBecomesOfIt extends StartupCheckStrategy {

    @Override
    public boolean waitUntilStartupSuccessful(DockerClient engine, String id) {
      return true;
    }

    @Override
    public StartupStatus checkStartupState(DockerClient engine, String id) {
      return StartupStatus.SUCCESSFUL;
    }
  }
}
