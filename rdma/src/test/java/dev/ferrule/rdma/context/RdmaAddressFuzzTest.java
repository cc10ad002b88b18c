// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.rdma.context;

import static org.assertj.core.api.Assertions.assertThat;

import dev.ferrule.InvalidAddressException;
import dev.ferrule.support.Fuzzer;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Addresses as a user may write them. */
class RdmaAddressFuzzTest {

  @Test
  void anAddressIsReadOrItsFaultIsNamed() {
    new Fuzzer("addresses of RDMA", 5_000)
        .permits(InvalidAddressException.class)
        .addresses(
            List.of(
                "sendrecv://host:7471",
                "sendrecv://10.0.0.2:0/?wait=spin",
                "magicring://[fe80::1%25eth0]:65535"),
            uri -> {
              if (uri.getScheme() == null) {
                return false; // no provider has this scheme
              }
              RdmaAddress address = RdmaAddress.parse(uri);
              assertThat(address.port()).isBetween(0, 65_535);
              assertThat(RdmaAddress.parse(address.uri())).isEqualTo(address);
              assertThat(address.connectionUri(5).getFragment()).isEqualTo("5");
              return true;
            });
  }
}
