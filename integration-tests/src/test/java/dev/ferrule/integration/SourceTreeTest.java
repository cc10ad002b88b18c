// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.integration;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Set;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import javax.xml.parsers.DocumentBuilderFactory;
import org.junit.jupiter.api.Test;
import org.w3c.dom.Document;
import org.w3c.dom.NodeList;

/** What must hold of the source tree as a whole. */
class SourceTreeTest {
  private static final Path ROOT = Path.of("").toAbsolutePath().getParent();
  private static final Set<String> NOT_FOR_USERS =
      Set.of("bom", "benchmarks", "integration-tests", "peers");

  @Test
  void everyArtifactAUserMayDependOnIsInTheBom() throws Exception {
    List<String> artifacts =
        texts(ROOT.resolve("pom.xml"), "module").stream()
            .filter(module -> !NOT_FOR_USERS.contains(module))
            .map(module -> "ferrule-" + module)
            .toList();
    assertThat(artifacts).isNotEmpty();
    assertThat(texts(ROOT.resolve("bom/pom.xml"), "artifactId")).containsAll(artifacts);
  }

  @Test
  void everyJavaFileButTheGeneratedStatesTheLicence() throws Exception {
    // Spotless sees to most, but passes module-info and package-info by.
    try (Stream<Path> files = Files.walk(ROOT)) {
      List<Path> unlicensed =
          files
              .filter(file -> file.toString().endsWith(".java"))
              .map(ROOT::relativize)
              .filter(file -> file.toString().contains("src/"))
              .filter(file -> !file.toString().contains("target/"))
              .filter(file -> !file.startsWith("bindings/src/main/java/dev"))
              .filter(file -> !firstLine(file).equals("// SPDX-License-Identifier: Apache-2.0"))
              .toList();
      assertThat(unlicensed).isEmpty();
    }
  }

  private static String firstLine(Path file) {
    try (Stream<String> lines = Files.lines(ROOT.resolve(file))) {
      return lines.findFirst().orElse("");
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private static List<String> texts(Path pom, String element) throws Exception {
    Document document =
        DocumentBuilderFactory.newInstance().newDocumentBuilder().parse(pom.toFile());
    NodeList nodes = document.getElementsByTagName(element);
    return IntStream.range(0, nodes.getLength())
        .mapToObj(i -> nodes.item(i).getTextContent())
        .toList();
  }
}
