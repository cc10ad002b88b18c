// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.sendrecv;

import static org.assertj.core.api.Assertions.assertThat;

import dev.ferrule.ConnectionOptions;
import dev.ferrule.InvalidOptionException;
import dev.ferrule.rdma.connection.RdmaOptions;
import dev.ferrule.spi.ResolvedOptions;
import dev.ferrule.support.Fuzzer;
import java.util.List;
import org.junit.jupiter.api.Test;

/** The options of the provider, as a user may write them, and the numbers that follow. */
class SendRecvOptionsFuzzTest {

  @Test
  void validOptionsGiveNumbersWithinTheLimits() {
    new Fuzzer("options of sendrecv", 2_000)
        .permits(InvalidOptionException.class)
        .addresses(
            List.of(
                "sendrecv://host:1?receives=128&repostBatch=4&maxMessage=64KiB&unacked=64",
                "sendrecv://host:1?credits=off&hello=on&rnrRetry=7&minRnrTimer=12&srq=on",
                "sendrecv://host:1?inline=220&sendBuffer=1GiB&ackTimeout=14&singleReceiver=on"),
            uri -> {
              ResolvedOptions options =
                  ResolvedOptions.of(ConnectionOptions.defaults(), uri, SendRecvOptions.all());
              assertThat(RdmaOptions.maxMessage(options)).isBetween(1, 1 << 30);
              assertThat(SendRecvOptions.receives(options)).isBetween(1, 1 << 16);
              assertThat(SendRecvOptions.sharedReceives(options)).isBetween(1, 1 << 16);
              return true;
            });
  }
}
