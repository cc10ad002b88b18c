// SPDX-License-Identifier: Apache-2.0
import com.sun.net.httpserver.HttpServer;
import dev.ferrule.*;
import dev.ferrule.micrometer.FerruleMetrics;
import io.micrometer.prometheusmetrics.PrometheusConfig;
import io.micrometer.prometheusmetrics.PrometheusMeterRegistry;

// Sends each message back, and publishes the counters of all connections over HTTP, for Prometheus.
// Arguments: the address, and the port for HTTP; 0 selects a free one.

void main(String[] args) {
  String address = args.length > 0 ? args[0] : "sm:///dev/shm/metrics";
  var registry = new PrometheusMeterRegistry(PrometheusConfig.DEFAULT);
  try (Listener listener = Ferrule.listen(URI.create(address))) {
    int port = publish(registry, args.length > 1 ? Integer.parseInt(args[1]) : 9464);
    IO.println("listening at " + listener.uri());
    IO.println("metrics at http://localhost:" + port + "/metrics");
    while (true) {
      try {
        Connection client = listener.accept();
        new FerruleMetrics(client).bindTo(registry); // until the connection ends
        Thread.startVirtualThread(() -> serve(client));
      } catch (ResourceExhaustedException e) { // clients can cause this, so the server continues
        IO.println("a client was refused: " + e.getMessage());
      }
    }
  } catch (IllegalArgumentException | FerruleException | IOException e) { // a wrong address or port
    System.err.println(e.getMessage());
    System.exit(1);
  }
}

/** Answers GET /metrics; returns the port. */
int publish(PrometheusMeterRegistry registry, int port) throws IOException {
  HttpServer http =
      HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), port), 0);
  http.createContext(
      "/metrics",
      exchange -> {
        try (exchange) {
          byte[] text = registry.scrape().getBytes();
          exchange.getResponseHeaders().set("Content-Type", "text/plain; version=0.0.4");
          exchange.sendResponseHeaders(200, text.length);
          exchange.getResponseBody().write(text);
        }
      });
  http.start();
  return http.getAddress().getPort();
}

void serve(Connection client) {
  try (client) {
    while (true) {
      try (ReceiveRegion message = client.receiver().receive()) {
        client.sender().send(message.segment());
      }
    }
  } catch (EndOfStreamException | ConnectionClosedException e) {
    IO.println("a client has closed");
  } catch (FerruleException e) {
    IO.println("a client was lost: " + e.getMessage());
  }
}
