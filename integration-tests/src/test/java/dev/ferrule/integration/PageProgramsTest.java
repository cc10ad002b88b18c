// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.integration;

import static dev.ferrule.integration.JavaPrograms.outputOf;
import static org.assertj.core.api.Assertions.assertThat;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.Writer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.io.TempDir;

/** The complete programs of the README and of the guide, run as the README says. */
@Tag("long")
class PageProgramsTest {

  @TempDir Path directory;
  @RegisterExtension final JavaPrograms programs = new JavaPrograms();

  /** Starts a program, with the directory in its address replaced by one of the test. */
  private Process start(Page page, String name, String... arguments) throws IOException {
    Path source =
        Files.writeString(
            directory.resolve(name),
            page.program(name).replace("sm:///dev/shm/", "sm://" + directory + "/"));
    return programs.start(source, List.of(arguments));
  }

  /** Starts a program that listens, and waits until it does. */
  private Process startServer(Page page, String name, String... arguments) throws IOException {
    return JavaPrograms.awaitListening(start(page, name, arguments));
  }

  @Test
  void everyProgramIsRunHere() throws IOException {
    assertThat(Page.of("README.md").programs()).isEqualTo(2);
    assertThat(Page.of("docs/guide.md").programs()).isEqualTo(4);
  }

  @Test
  void theServerOfTheReadmeReturnsTheMessageOfItsClient() throws Exception {
    Page readme = Page.of("README.md");
    Process server = startServer(readme, "Server.java");

    assertThat(outputOf(start(readme, "Client.java"))).containsExactly("hello");
    assertThat(outputOf(server)).isEmpty();
  }

  @Test
  void aClientContinuesWithTheNextServerIfTheFirstOneIsKilled() throws Exception {
    Page guide = Page.of("docs/guide.md");
    Process first = startServer(guide, "Squares.java");
    Process client = start(guide, "Square.java");
    Writer numbers = client.outputWriter();
    BufferedReader squares = client.inputReader();
    numbers.append("3\n").flush();
    assertThat(squares.readLine()).isEqualTo("9");

    first.destroyForcibly().waitFor();
    numbers.append("4\n").flush();
    assertThat(squares.readLine()).startsWith("the server was lost: ");
    Process second = startServer(guide, "Squares.java");
    assertThat(squares.readLine()).isEqualTo("16");

    numbers.close();
    assertThat(outputOf(client)).isEmpty();
    assertThat(second.inputReader().readLine()).isEqualTo("a client has closed");
  }

  @Test
  void theServerContinuesAfterAClientIsKilled() throws Exception {
    Page guide = Page.of("docs/guide.md");
    Process server = startServer(guide, "Squares.java");
    Process killed = start(guide, "Square.java");
    killed.outputWriter().append("3\n").flush();
    assertThat(killed.inputReader().readLine()).isEqualTo("9");

    killed.destroyForcibly().waitFor();
    assertThat(server.inputReader().readLine()).startsWith("a client was lost: ");

    Process next = start(guide, "Square.java");
    next.outputWriter().append("5\n").close();
    assertThat(outputOf(next)).containsExactly("25");
  }

  @Test
  void aFileIsTransferredIntoExposedMemory() throws Exception {
    Page guide = Page.of("docs/guide.md");
    byte[] bytes = new byte[5_000_001];
    new Random(1).nextBytes(bytes);
    Path original = Files.write(directory.resolve("original"), bytes);
    Path copy = directory.resolve("copy");
    Process server = startServer(guide, "Receive.java", copy.toString());

    assertThat(outputOf(start(guide, "Send.java", original.toString()))).containsExactly("stored");
    assertThat(outputOf(server)).isEmpty();
    assertThat(copy).hasBinaryContent(bytes);
  }
}
