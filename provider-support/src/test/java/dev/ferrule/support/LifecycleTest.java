// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.support;

import static org.assertj.core.api.Assertions.assertThat;
import static org.mockito.Mockito.mock;

import dev.ferrule.Connection;
import dev.ferrule.ConnectionState;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Tests which close call ends a connection, and what its callbacks see. */
class LifecycleTest {

  private final Lifecycle life = new Lifecycle(mock(Connection.class));

  @Test
  void theFirstCloseOfAnOpenConnectionEndsIt() {
    assertThat(life.close()).isEqualTo(Lifecycle.Closing.OF_OPEN);
    assertThat(life.state()).isEqualTo(ConnectionState.CLOSED);
    assertThat(life.close()).isEqualTo(Lifecycle.Closing.AGAIN);
  }

  @Test
  void theFirstCloseOfAnEndedConnectionDoesNotChangeItsState() {
    life.closedByPeer();
    assertThat(life.close()).isEqualTo(Lifecycle.Closing.OF_ENDED);
    assertThat(life.state()).isEqualTo(ConnectionState.CLOSED_BY_PEER);
    assertThat(life.close()).isEqualTo(Lifecycle.Closing.AGAIN);
  }

  @Test
  void aCloseWithinACallbackOfCloseIsNotTheFirst() {
    List<Object> seen = new ArrayList<>();
    life.onEnd(ended -> seen.add(life.close()));
    life.onEnd(ended -> seen.add(life.state()));
    assertThat(life.close()).isEqualTo(Lifecycle.Closing.OF_OPEN);
    assertThat(seen).containsExactly(Lifecycle.Closing.AGAIN, ConnectionState.CLOSED);
  }

  @Test
  void aCloseWithinTheCallbackOfAnyOtherEndIsTheFirst() {
    List<Lifecycle.Closing> seen = new ArrayList<>();
    life.onEnd(ended -> seen.add(life.close()));
    life.closedByPeer();
    assertThat(seen).containsExactly(Lifecycle.Closing.OF_ENDED);
    assertThat(life.close()).isEqualTo(Lifecycle.Closing.AGAIN);
  }
}
