// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.integration.messages;

import dev.ferrule.Connection;
import dev.ferrule.Ferrule;
import dev.ferrule.Listener;
import java.io.BufferedReader;
import java.io.IOException;
import java.net.URI;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/** A process that listens, accepts one client, and ends only when it is killed. */
final class LostPeer implements AutoCloseable {

  private final Process process;
  private final BufferedReader output;

  private LostPeer(Process process) {
    this.process = process;
    this.output = process.inputReader();
  }

  static LostPeer start(String address) throws IOException {
    return new LostPeer(
        java(LostPeer.class, "--enable-native-access=ALL-UNNAMED").command(address).start());
  }

  /** The command line of a program, without the program's arguments. */
  record Java(List<String> start) {

    ProcessBuilder command(String... arguments) {
      List<String> all = new ArrayList<>(start);
      all.addAll(List.of(arguments));
      return new ProcessBuilder(all).redirectError(ProcessBuilder.Redirect.INHERIT);
    }
  }

  /** Returns the command line of a program on this class path. */
  static Java java(Class<?> main, String... options) {
    List<String> words = new ArrayList<>();
    words.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
    words.addAll(List.of("-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", "-Xmx128m"));
    words.addAll(List.of(options));
    words.addAll(List.of("-cp", System.getProperty("java.class.path"), main.getName()));
    return new Java(List.copyOf(words));
  }

  /** Returns the address on which it listens. */
  String address() throws IOException {
    String line = output.readLine();
    if (line == null) {
      throw new IOException("the process has ended");
    }
    return line;
  }

  /** Kills the process, and returns when it has ended. */
  void kill() {
    process.destroyForcibly().onExit().join();
  }

  @Override
  public void close() {
    kill();
  }

  /** The process. */
  public static void main(String[] arguments) throws InterruptedException {
    try (Listener listener = Ferrule.listen(URI.create(arguments[0]))) {
      System.out.println(listener.uri());
      try (Connection connection = listener.accept()) {
        connection.receiver().receive();
      }
    }
  }
}
