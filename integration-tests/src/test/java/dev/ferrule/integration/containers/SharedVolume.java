// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.integration.containers;

import com.github.dockerjava.api.DockerClient;
import com.github.dockerjava.api.model.Bind;
import com.github.dockerjava.api.model.Volume;
import java.util.Map;
import java.util.UUID;
import org.testcontainers.DockerClientFactory;

/** A tmpfs for several containers. It is emptied when the last of them has ended. */
final class SharedVolume implements AutoCloseable {

  /**
   * A label on all resources of the tests, by which build-support/docker.sh removes remaining ones.
   */
  static final Map<String, String> RUN =
      Map.of("dev.ferrule.tests", System.getProperty("dev.ferrule.tests", ""));

  private final DockerClient engine;
  private final String name;

  private SharedVolume(DockerClient engine, String name) {
    this.engine = engine;
    this.name = name;
  }

  /** Creates a tmpfs of a size, in the format of the kernel's option {@code size}, such as 64m. */
  static SharedVolume tmpfs(String size) {
    return of(Map.of("type", "tmpfs", "device", "tmpfs", "o", "mode=1777,size=" + size));
  }

  /** Creates a volume by options of the engine's local driver. */
  static SharedVolume of(Map<String, String> options) {
    DockerClient engine = DockerClientFactory.instance().client();
    // A container's bind to a name that is no volume would create a folder on disk.
    String name = "ferrule-" + UUID.randomUUID();
    engine
        .createVolumeCmd()
        .withName(name)
        .withLabels(RUN)
        .withDriver("local")
        .withDriverOpts(options)
        .exec();
    return new SharedVolume(engine, name);
  }

  Bind at(String path) {
    return new Bind(name, new Volume(path));
  }

  @Override
  public void close() {
    engine.removeVolumeCmd(name).exec();
  }
}
