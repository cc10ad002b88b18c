// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.integration.containers;

import com.github.dockerjava.api.DockerClient;
import com.github.dockerjava.api.model.Bind;
import com.github.dockerjava.api.model.Volume;
import java.util.Map;
import java.util.UUID;
import org.testcontainers.DockerClientFactory;

/** A tmpfs that several containers can have. It is empty again when the last of them has ended. */
final class SharedVolume implements AutoCloseable {

  /** On all that the tests make, so that build-support/docker.sh can remove what they leave. */
  static final Map<String, String> RUN =
      Map.of("dev.ferrule.tests", System.getProperty("dev.ferrule.tests", ""));

  private final DockerClient engine;
  private final String name;

  private SharedVolume(DockerClient engine, String name) {
    this.engine = engine;
    this.name = name;
  }

  /** Makes one that is as large as the kernel's option {@code size} says, such as 64m. */
  static SharedVolume tmpfs(String size) {
    DockerClient engine = DockerClientFactory.instance().client();
    // By its name alone, in a container's binds, it would be a folder on a disk.
    String name = "ferrule-" + UUID.randomUUID();
    engine
        .createVolumeCmd()
        .withName(name)
        .withLabels(RUN)
        .withDriver("local")
        .withDriverOpts(Map.of("type", "tmpfs", "device", "tmpfs", "o", "mode=1777,size=" + size))
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
