// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.integration.containers;

import com.github.dockerjava.api.model.AccessMode;
import com.github.dockerjava.api.model.Bind;
import com.github.dockerjava.api.model.Volume;
import dev.ferrule.Ferrule;
import dev.ferrule.posix.Posix;
import dev.ferrule.spi.ConnectionProvider;
import dev.ferrule.support.Lifecycle;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.URISyntaxException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.ServiceLoader;
import java.util.Set;
import java.util.UUID;
import java.util.stream.Stream;
import org.jspecify.annotations.NullMarked;
import org.testcontainers.images.builder.ImageFromDockerfile;

/**
 * The containers' image. It contains only Ferrule and the tests' program, as there may be no
 * registry from which to download more. The JDK and the C library are this machine's, mounted
 * read-only.
 */
final class PeerImage {

  private static final String FOLDER = "/image";

  /** Readable by any user, whatever the umask. */
  private static final int READABLE = 0755;

  private static final Path JAVA_HOME = Path.of(System.getProperty("java.home"));

  /** Possible places of the C library and those that Java needs, in different distributions. */
  private static final List<String> LIBRARIES = List.of("/lib", "/lib64", "/usr/lib", "/usr/lib64");

  /**
   * Created once, and removed when this JVM exits. Its name is unique, so that two runs on the same
   * engine have different images.
   */
  static final ImageFromDockerfile INSTANCE = make();

  private PeerImage() {}

  private static ImageFromDockerfile make() {
    ImageFromDockerfile image =
        new ImageFromDockerfile("ferrule-container-tests-" + UUID.randomUUID())
            .withDockerfileFromBuilder(
                builder -> builder.from("scratch").copy("ferrule", FOLDER).build())
            .withBuildImageCmdModifier(command -> command.withLabels(SharedVolume.RUN));
    int part = 0;
    for (Path place : classPath()) {
      String name = "ferrule/" + part++ + (Files.isDirectory(place) ? "" : ".jar");
      image.withFileFromPath(name, place, READABLE);
    }
    return image;
  }

  /** The entries of this JVM's class path that the program needs, each a jar or a folder. */
  private static List<Path> classPath() {
    List<Path> result = new ArrayList<>();
    try {
      for (Class<?> one :
          List.of(
              Ferrule.class,
              Lifecycle.class,
              Posix.class,
              provider(),
              NullMarked.class,
              PeerProgram.class)) {
        result.add(Path.of(one.getProtectionDomain().getCodeSource().getLocation().toURI()));
      }
    } catch (URISyntaxException e) {
      throw new AssertionError(e);
    }
    return result;
  }

  private static Class<?> provider() {
    return ServiceLoader.load(ConnectionProvider.class).stream()
        .map(ServiceLoader.Provider::get)
        .filter(provider -> provider.scheme().equals("sm"))
        .findFirst()
        .orElseThrow()
        .getClass();
  }

  /** Returns the command that runs the program. */
  static List<String> command() {
    List<String> command = new ArrayList<>(java());
    command.addAll(
        List.of(
            "--enable-native-access=ALL-UNNAMED",
            "-cp",
            classPathInImage(),
            PeerProgram.class.getName()));
    return command;
  }

  /** Returns the command of a JVM with options for a container. */
  static List<String> java() {
    return List.of(
        JAVA_HOME.resolve("bin/java").toString(),
        "-XX:+UseSerialGC",
        "-XX:TieredStopAtLevel=1",
        "-XX:-UsePerfData", // there is no /tmp
        "-XX:+ErrorFileToStderr", // there is no writable directory
        "-Xmx128m");
  }

  static String classPathInImage() {
    List<Path> places = classPath();
    List<String> parts = new ArrayList<>();
    for (int i = 0; i < places.size(); i++) {
      parts.add(FOLDER + "/" + i + (Files.isDirectory(places.get(i)) ? "" : ".jar"));
    }
    return String.join(":", parts);
  }

  /** Returns the bind mounts of this machine's files. */
  static List<Bind> machine() {
    Set<Path> places = new LinkedHashSet<>();
    LIBRARIES.stream().map(Path::of).filter(Files::isDirectory).forEach(places::add);
    places.add(JAVA_HOME);
    places.addAll(placesOfLinkedFiles());
    return places.stream()
        .map(place -> new Bind(place.toString(), new Volume(place.toString()), AccessMode.ro))
        .toList();
  }

  /**
   * Returns the folders of linked files: some distributions have Java's configuration elsewhere.
   */
  private static Set<Path> placesOfLinkedFiles() {
    Set<Path> places = new LinkedHashSet<>();
    try (Stream<Path> files = Files.walk(JAVA_HOME.resolve("conf"))) {
      for (Path link : files.filter(Files::isSymbolicLink).toList()) {
        Path target = link.toRealPath();
        if (!target.startsWith(JAVA_HOME.toRealPath())) {
          places.add(Files.isDirectory(target) ? target : target.getParent());
        }
      }
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
    return places;
  }
}
