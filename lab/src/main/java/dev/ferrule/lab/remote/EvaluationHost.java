// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.lab.remote;

import com.google.gson.JsonElement;
import com.google.gson.JsonObject;
import dev.ferrule.lab.evaluate.Servers;
import dev.ferrule.tools.support.Affinity;
import dev.ferrule.tools.support.ExitCode;
import dev.ferrule.tools.support.ToolException;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.time.Duration;
import java.util.concurrent.Semaphore;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Consumer;
import java.util.function.Supplier;

/**
 * Starts servers for evaluations on other hosts, for one of them at a time. Any host that reaches
 * the port can connect; only one that knows the token is admitted.
 */
public final class EvaluationHost implements AutoCloseable {

  /** The version of the messages. */
  static final int VERSION = 1;

  /** The maximum number of clients that have not answered the challenge. */
  static final int MAX_UNKNOWN = 16;

  private static final int BACKLOG = 16;

  /** Enough for an answer to a challenge, in bytes. */
  private static final int LONGEST_ANSWER = 256;

  /** The time limits for clients, and the delay after a wrong answer. */
  record Patience(Duration untilAnswer, Duration afterWrongAnswer, Duration untilMessage) {
    static final Patience USUAL =
        // a JVM that has just started on emulated processors takes more than 5 s to answer
        new Patience(Duration.ofSeconds(30), Duration.ofSeconds(1), Duration.ofSeconds(60));
  }

  private final ServerSocket listening;
  private final Token token;
  private final Supplier<JsonObject> machine;
  private final Servers servers;
  private final Consumer<String> problems;
  private final Patience patience;
  private final Semaphore unknown = new Semaphore(MAX_UNKNOWN);
  private final AtomicBoolean busy = new AtomicBoolean();

  /**
   * Listens for evaluations on an address, whose port may be 0. {@code problems} receives one line
   * about each client, and the servers' error output.
   */
  public EvaluationHost(
      InetSocketAddress address,
      Token token,
      Supplier<JsonObject> machine,
      Servers servers,
      Consumer<String> problems) {
    this(address, token, machine, servers, problems, Patience.USUAL);
  }

  EvaluationHost(
      InetSocketAddress address,
      Token token,
      Supplier<JsonObject> machine,
      Servers servers,
      Consumer<String> problems,
      Patience patience) {
    this.token = token;
    this.machine = machine;
    this.servers = servers;
    this.problems = problems;
    this.patience = patience;
    try {
      this.listening = new ServerSocket(address.getPort(), BACKLOG, address.getAddress());
    } catch (IOException e) {
      throw new ToolException(
          ExitCode.NO_RESOURCE,
          "cannot listen on " + text(address) + ": " + e.getMessage() + "; use another address",
          e);
    }
  }

  /** Returns the host and port to pass to {@code evaluate --server}. */
  public String address() {
    return text((InetSocketAddress) listening.getLocalSocketAddress());
  }

  private static String text(InetSocketAddress address) {
    String host = address.getAddress().getHostAddress();
    return (host.indexOf(':') < 0 ? host : "[" + host + "]") + ":" + address.getPort();
  }

  /** Serves clients until this is closed. */
  public void run() {
    while (!listening.isClosed()) {
      try {
        Socket client = listening.accept();
        if (listening.isClosed()) {
          client.close(); // the kernel accepts until this thread has left the call
        } else {
          receive(client);
        }
      } catch (IOException e) {
        if (!listening.isClosed()) {
          problems.accept("cannot accept a client: " + e.getMessage());
        }
      }
    }
  }

  private void receive(Socket client) throws IOException {
    boolean started = false;
    if (!unknown.tryAcquire()) {
      try (client) {
        String reason = "too many clients have not given the token yet";
        problems.accept(
            "the client %s is refused: %s"
                .formatted(text((InetSocketAddress) client.getRemoteSocketAddress()), reason));
        refuse(new ControlChannel(client, patience.untilAnswer), reason, true);
      }
      return;
    }
    try {
      Thread.ofPlatform().daemon().name("ferrule-evaluation").start(() -> serve(client));
      started = true;
    } finally {
      if (!started) {
        unknown.release();
        client.close();
      }
    }
  }

  private void serve(Socket client) {
    String name = text((InetSocketAddress) client.getRemoteSocketAddress());
    boolean admitted = false;
    try (client) {
      ControlChannel channel;
      try {
        channel = new ControlChannel(client, patience.untilAnswer);
        admitted = admit(channel, name);
      } finally {
        unknown.release();
      }
      if (admitted) {
        run(channel, name);
      }
    } catch (IOException e) {
      problems.accept("the client " + name + " is gone: " + e.getMessage());
    } finally {
      if (admitted) {
        busy.set(false);
      }
    }
  }

  /** Returns whether the client is admitted: it knows the token, and no other client is served. */
  private boolean admit(ControlChannel channel, String name) throws IOException {
    String challenge = Token.challenge();
    JsonObject greeting = new JsonObject();
    greeting.addProperty("evaluation", VERSION);
    greeting.addProperty("challenge", challenge);
    channel.send(greeting);
    JsonElement answer = channel.receive(LONGEST_ANSWER).get("answer");
    if (answer == null
        || !answer.isJsonPrimitive()
        || !token.accepts(challenge, answer.getAsString())) {
      pause(patience.afterWrongAnswer); // limits the rate of guesses
      problems.accept("the client " + name + " is refused: wrong token");
      refuse(channel, "the token is not the one that the server was started with", false);
      return false;
    }
    if (!busy.compareAndSet(false, true)) {
      problems.accept("the client " + name + " is refused: another evaluation is running");
      refuse(channel, "the server is busy with another evaluation", true);
      return false;
    }
    return true;
  }

  private static void refuse(ControlChannel channel, String reason, boolean later)
      throws IOException {
    JsonObject refusal = new JsonObject();
    refusal.addProperty("refused", reason);
    refusal.addProperty("later", later);
    channel.send(refusal);
  }

  private static void pause(Duration time) {
    try {
      Thread.sleep(time);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  private void run(ControlChannel channel, String name) throws IOException {
    problems.accept("an evaluation from " + name + " begins");
    channel.setPatience(patience.untilMessage);
    JsonObject welcome = new JsonObject();
    welcome.add("machine", machine.get());
    welcome.addProperty("processors", Math.max(1, Affinity.allowed().size()));
    channel.send(welcome);
    try (EvaluationSession session = new EvaluationSession(channel, servers, problems)) {
      session.run();
    }
    problems.accept("the evaluation from " + name + " has ended");
  }

  @Override
  public void close() {
    try {
      listening.close();
    } catch (IOException e) {
      // it accepts nothing more in any case
    }
  }
}
