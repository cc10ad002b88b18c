// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.integration.containers;

import static org.assertj.core.api.Assertions.assertThat;

import com.github.dockerjava.api.model.AccessMode;
import com.github.dockerjava.api.model.Bind;
import com.github.dockerjava.api.model.Volume;
import dev.ferrule.integration.ExamplesPage;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.testcontainers.containers.GenericContainer;
import org.testcontainers.containers.output.OutputFrame;
import org.testcontainers.containers.output.WaitingConsumer;
import org.testcontainers.containers.startupcheck.OneShotStartupCheckStrategy;
import org.testcontainers.containers.wait.strategy.Wait;
import org.yaml.snakeyaml.LoaderOptions;
import org.yaml.snakeyaml.Yaml;
import org.yaml.snakeyaml.constructor.SafeConstructor;

/**
 * The services of {@code examples/compose/compose.yaml}, with its commands, mounts, volume and
 * network mode. The image, the JVM and the class path are those of the other tests, as there may be
 * no registry and no {@code docker compose}.
 */
class ComposeExampleTest extends ContainerTest {

  private static final Path FILE = ExamplesPage.FOLDER.resolve("compose/compose.yaml");

  @Test
  void theProgramsOfTheComposeFileExchangeMessagesThroughItsVolume() throws Exception {
    Map<String, Object> file =
        new Yaml(new SafeConstructor(new LoaderOptions())).load(Files.readString(FILE));
    Map<String, Object> services = map(get(file, "services"));
    Map<String, Object> volumes = map(get(file, "volumes"));
    assertThat(services).containsOnlyKeys("server", "client");
    assertThat(volumes).containsOnlyKeys("shared");
    SharedVolume shared =
        closedAfterTest(SharedVolume.of(options(get(map(get(volumes, "shared")), "driver_opts"))));

    GenericContainer<?> server = container(map(get(services, "server")), shared);
    server.waitingFor(Wait.forLogMessage("listening at sm:///shared/app.*\\n", 1)).start();
    WaitingConsumer output = new WaitingConsumer();
    server.followOutput(output, OutputFrame.OutputType.STDOUT);
    GenericContainer<?> client = container(map(get(services, "client")), shared);
    // Waits until the container has ended with exit code 0.
    client
        .withStartupCheckStrategy(
            new OneShotStartupCheckStrategy().withTimeout(Duration.ofMinutes(1)))
        .start();

    assertThat(client.getLogs(OutputFrame.OutputType.STDOUT))
        .contains("one -> ONE\ntwo -> TWO\nthree -> THREE\n");
    output.waitUntil(
        frame -> frame.getUtf8String().contains("a client has closed"), 60, TimeUnit.SECONDS);
  }

  private GenericContainer<?> container(Map<String, Object> service, SharedVolume shared) {
    List<Bind> binds = new ArrayList<>(PeerImage.machine());
    for (Object one : list(get(service, "volumes"))) {
      String[] parts = one.toString().split(":");
      if (parts[0].equals("shared")) {
        binds.add(shared.at(parts[1]));
      } else {
        Path folder = FILE.resolveSibling(parts[0]).normalize();
        binds.add(new Bind(folder.toString(), new Volume(parts[1]), AccessMode.valueOf(parts[2])));
      }
    }
    List<String> command = new ArrayList<>(PeerImage.java());
    List<?> written = list(get(service, "command"));
    assertThat(written.getFirst()).isEqualTo("java");
    for (int i = 1; i < written.size(); i++) {
      boolean classPath = written.get(i - 1).equals("-cp");
      command.add(classPath ? PeerImage.classPathInImage() : written.get(i).toString());
    }
    GenericContainer<?> container = closedAfterTest(new GenericContainer<>(PeerImage.INSTANCE));
    return container
        .withLabels(SharedVolume.RUN)
        .withWorkingDirectory(get(service, "working_dir").toString())
        .withCommand(command.toArray(String[]::new))
        .withCreateContainerCmdModifier(create ->
            Objects.requireNonNull(create.getHostConfig())
                .withBinds(binds)
                .withNetworkMode(get(service, "network_mode").toString()));
  }

  private static Object get(Map<String, Object> map, String key) {
    return Objects.requireNonNull(map.get(key), key);
  }

  @SuppressWarnings("unchecked") // the keys of a compose file are strings
  private static Map<String, Object> map(Object value) {
    return (Map<String, Object>) value;
  }

  private static List<?> list(Object value) {
    return (List<?>) value;
  }

  @SuppressWarnings("unchecked") // so are the values of these options
  private static Map<String, String> options(Object value) {
    return (Map<String, String>) value;
  }
}
