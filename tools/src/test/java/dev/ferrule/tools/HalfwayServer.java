// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.tools;

import dev.ferrule.Connection;
import dev.ferrule.Ferrule;
import dev.ferrule.Listener;
import dev.ferrule.tools.support.CommandHandshake;
import java.io.IOException;
import java.net.URI;

/** A program that starts like {@code ferrule serve}, and does nothing after the first message. */
final class HalfwayServer {

  private HalfwayServer() {}

  public static void main(String[] arguments) throws IOException {
    try (Listener listener = Ferrule.listen(URI.create(arguments[0]))) {
      System.out.println(listener.uri());
      try (Connection connection =
          listener.nextRequest().accept(CommandHandshake.BENCHMARK.payload())) {
        connection.receiver().receive().close();
        System.out.println("in the middle");
        System.in.read(); // until it is killed, or its standard input ends
      }
    }
  }
}
