// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.tools.support;

import static org.assertj.core.api.Assertions.assertThat;

import dev.ferrule.AddressInUseException;
import dev.ferrule.ConnectionClosedException;
import dev.ferrule.ConnectionRefusedException;
import dev.ferrule.ConnectionRejectedException;
import dev.ferrule.EndOfStreamException;
import dev.ferrule.FerruleException;
import dev.ferrule.InvalidAddressException;
import dev.ferrule.InvalidOptionException;
import dev.ferrule.MessageTooLongException;
import dev.ferrule.OperationTimeoutException;
import dev.ferrule.PeerLostException;
import dev.ferrule.ProtocolException;
import dev.ferrule.ProviderUnavailableException;
import dev.ferrule.ResourceExhaustedException;
import dev.ferrule.VersionMismatchException;
import java.util.Map;
import org.junit.jupiter.api.Test;

class ExitCodeTest {

  @Test
  void everyKindOfFailureHasItsDocumentedExitCode() {
    Map.<Throwable, Integer>ofEntries(
            Map.entry(new ToolException(5, "x"), 5),
            Map.entry(new InvalidAddressException(null, "x", null), 2),
            Map.entry(new InvalidOptionException(null, "x", null), 2),
            Map.entry(new ConnectionRefusedException(null, "x", null), 3),
            Map.entry(new ConnectionRejectedException(null, new byte[0]), 3),
            Map.entry(new OperationTimeoutException(null, "x", null), 3),
            Map.entry(new VersionMismatchException(null, "x", null), 3),
            Map.entry(new PeerLostException(null, "x", null), 4),
            Map.entry(new ConnectionClosedException(null, true, "x", null), 4),
            Map.entry(new EndOfStreamException(null, "x", null), 4),
            Map.entry(new ProtocolException(null, "x", null), 4),
            Map.entry(new ResourceExhaustedException(null, "x", null), 5),
            Map.entry(new AddressInUseException(null, "x", null), 5),
            Map.entry(new ProviderUnavailableException(null, "x", null), 6),
            Map.entry(new MessageTooLongException(null, 2, 1), 2),
            Map.entry(new FerruleException(null, "x", null), 1),
            Map.entry(new IllegalStateException("x"), 1),
            Map.entry(new AssertionError("x"), 1))
        .forEach((failure, code) ->
            assertThat(ExitCode.of(failure)).as(failure.toString()).isEqualTo(code));
  }
}
