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
 * A container with a {@link PeerProgram}, which executes commands, one per line, and answers each
 * with a line.
 */
final class PeerContainer implements AutoCloseable {

  /** Longer than any operation takes on a busy machine. */
  private static final long PATIENCE_SECONDS = 60;

  /** Enough for a JVM and 100 MiB more. */
  static final long LIMIT = 320 << 20;

  /** Marks the end of the program's output. The program never prints it. */
  private static final String END = "end of output";

  private final GenericContainer<?> container = new GenericContainer<>(PeerImage.INSTANCE);
  private final List<Bind> binds = new ArrayList<>(PeerImage.machine());
  private final List<Consumer<CreateContainerCmd>> settings = new ArrayList<>();
  private CommandStream input = new CommandStream();
  private BlockingQueue<String> output = new LinkedBlockingQueue<>();

  PeerContainer() {
    container.withCommand(PeerImage.command().toArray(String[]::new));
    container.withLabels(SharedVolume.RUN);
    container.withStartupCheckStrategy(new WithoutStartupCheck());
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

  /** Limits its memory to {@link #LIMIT}, without swap. */
  PeerContainer memoryLimit() {
    settings.add(command -> host(command).withMemory(LIMIT).withMemorySwap(LIMIT));
    return this;
  }

  /** Shares the PID namespace of another container. */
  PeerContainer pidOf(PeerContainer other) {
    settings.add(command -> host(command).withPidMode("container:" + other.id()));
    return this;
  }

  /** Makes its /dev/shm shareable with other containers. */
  PeerContainer shareable() {
    settings.add(command -> host(command).withIpcMode("shareable"));
    return this;
  }

  /** Shares the /dev/shm of another container. */
  PeerContainer shmOf(PeerContainer other) {
    settings.add(command -> host(command).withIpcMode("container:" + other.id()));
    return this;
  }

  PeerContainer capability(Capability capability) {
    settings.add(command -> host(command).withCapAdd(capability));
    return this;
  }

  /** Replaces the engine's seccomp profile. */
  PeerContainer seccomp(String profile) {
    settings.add(command -> host(command).withSecurityOpts(List.of("seccomp=" + profile)));
    return this;
  }

  /** Runs as a user and a group, by their numbers. */
  PeerContainer user(int user, int group) {
    settings.add(command -> command.withUser(user + ":" + group));
    return this;
  }

  PeerContainer start() {
    container.start();
    attach();
    return this;
  }

  /** Restarts the container after it has ended, with the same identity and configuration. */
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

  /** Sends the program a command. */
  void send(String command) {
    input.add(command);
  }

  /** Waits until the command has succeeded, and returns its answer. */
  String answer() {
    return reply(PeerProgram.OK);
  }

  /** Waits until the command has failed, and returns the failure. */
  String failure() {
    return reply(PeerProgram.FAILED);
  }

  String ask(String command) {
    send(command);
    return answer();
  }

  String failureOf(String command) {
    send(command);
    return failure();
  }

  private String reply(String wanted) {
    try {
      String line = output.poll(PATIENCE_SECONDS, TimeUnit.SECONDS);
      if (line == null || line.equals(END)) {
        throw new AssertionError(
            (line == null ? "no answer" : "the program has ended")
                + "; its log:\n"
                + container.getLogs());
      }
      assertThat(line).startsWith(wanted);
      return line.substring(wanted.length());
    } catch (InterruptedException e) {
      throw new AssertionError(e);
    }
  }

  /** Kills the container with SIGKILL. */
  void kill() {
    engine().killContainerCmd(id()).withSignal("KILL").exec();
    exitCode();
  }

  /** Lets the program exit, and returns its exit code. */
  int exit() {
    send("exit");
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

  /** The program's output lines; its error output is copied to this JVM's. */
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
   * Omits the check whether the program has started, which would take a second. A test that waits
   * for an answer detects a program that has ended.
   */
  private static final class WithoutStartupCheck extends StartupCheckStrategy {

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
