// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.rdma.context;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import dev.ferrule.InvalidAddressException;
import java.net.Inet6Address;
import java.net.InetSocketAddress;
import java.net.URI;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class RdmaAddressTest {

  @ParameterizedTest
  @ValueSource(
      strings = {
        "sendrecv://10.0.0.1:18515",
        "sendrecv://10.0.0.1:18515/",
        "sendrecv://10.0.0.1:18515?receives=8"
      })
  void aHostAndAPortAreAnAddress(String text) {
    RdmaAddress address = RdmaAddress.parse(URI.create(text));
    assertThat(address).isEqualTo(new RdmaAddress("sendrecv", "10.0.0.1", 18515));
    assertThat(address.resolve()).isEqualTo(new InetSocketAddress("10.0.0.1", 18515));
    assertThat(address.uri()).hasToString("sendrecv://10.0.0.1:18515");
    assertThat(address.withPort(1).uri()).hasToString("sendrecv://10.0.0.1:1");
    assertThat(address.connectionUri(7)).hasToString("sendrecv://10.0.0.1:18515#7");
  }

  @Test
  void anIpv6AddressIsInBrackets() {
    RdmaAddress address = RdmaAddress.parse(URI.create("sendrecv://[fe80::1]:0"));
    assertThat(address.resolve().getAddress()).isInstanceOf(Inet6Address.class);
    assertThat(address.uri()).hasToString("sendrecv://[fe80::1]:0");
  }

  @ParameterizedTest
  @CsvSource({
    "sendrecv:10.0.0.1, needs a host and a port",
    "sendrecv:///path, needs a host and a port",
    "sendrecv://under_score:1, a host name must not contain",
    "sendrecv://10.0.0.1:18_515, needs a host and a port",
    "sendrecv://10.0.0.1, the port is missing",
    "sendrecv://10.0.0.1:, the port is missing",
    "sendrecv://10.0.0.1:65536, invalid port 65536",
    "sendrecv://10.0.0.1:1/path, only a host and a port",
    "sendrecv://user@10.0.0.1:1, only a host and a port"
  })
  void anInvalidAddressIsRefusedWithTheValidForm(String text, String why) {
    assertThatExceptionOfType(InvalidAddressException.class)
        .isThrownBy(() -> RdmaAddress.parse(URI.create(text)))
        .withMessageContaining(why)
        .withMessageContaining("write sendrecv://HOST:PORT");
  }

  @Test
  void anUnknownHostIsRefused() {
    RdmaAddress address = RdmaAddress.parse(URI.create("sendrecv://no-such-host.invalid:1"));
    assertThatExceptionOfType(InvalidAddressException.class)
        .isThrownBy(address::resolve)
        .withMessageContaining("unknown host");
  }

  @Test
  void anAddressWithAnotherHostAndPortKeepsTheScheme() {
    RdmaAddress address = new RdmaAddress("rdma", "0.0.0.0", 5);
    assertThat(address.isWildcard()).isTrue();
    assertThat(address.at(new InetSocketAddress("10.1.2.3", 6)).uri())
        .hasToString("rdma://10.1.2.3:6");
    assertThat(address.at(new InetSocketAddress("fe80::1", 6)).connectionUri(7))
        .hasToString("rdma://[fe80:0:0:0:0:0:0:1]:6#7");
    assertThat(new RdmaAddress("rdma", "[::]", 5).isWildcard()).isTrue();
    assertThat(new RdmaAddress("rdma", "127.0.0.1", 5).isWildcard()).isFalse();
  }
}
