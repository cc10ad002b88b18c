// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.sendrecv.wire;

/**
 * The 32 bits of immediate data that go with every message. From the least significant bit: 16 bits
 * how many messages the sender of this has allowed its peer to send, ever, modulo 2^16; 8 bits how
 * many control messages it has taken, ever, modulo 2^8; 4 bits zero; 4 bits type.
 */
public final class Immediate {

  /** A message of the program; its bytes are the program's. */
  public static final int MESSAGE = 1;

  /** No message, just these numbers. A control message. */
  public static final int GRANT = 2;

  /** The sender has closed the connection; nothing comes after this. A control message. */
  public static final int GOODBYE = 3;

  private static final int CONTROLS_SHIFT = 16;
  private static final int TYPE_SHIFT = 28;

  private Immediate() {}

  /**
   * Builds the immediate data.
   *
   * @param type the type
   * @param granted how many messages the peer was allowed to send, ever
   * @param controlsTaken how many control messages were taken, ever
   * @return the immediate data
   */
  public static int of(int type, long granted, long controlsTaken) {
    return type << TYPE_SHIFT
        | (int) (controlsTaken & 0xff) << CONTROLS_SHIFT
        | (int) (granted & 0xffff);
  }

  /**
   * Returns the type.
   *
   * @param immediate the immediate data
   * @return the type, 0 to 15
   */
  public static int type(int immediate) {
    return immediate >>> TYPE_SHIFT;
  }

  /**
   * Returns how much a count of granted messages has to be raised to be this one.
   *
   * @param immediate the immediate data
   * @param known the count
   * @return 0 to 65,535
   */
  public static int newlyGranted(int immediate, long known) {
    return immediate - (int) known & 0xffff;
  }

  /**
   * Returns how much a count of control messages has to be raised to be this one.
   *
   * @param immediate the immediate data
   * @param known the count
   * @return 0 to 255
   */
  public static int newControlsTaken(int immediate, long known) {
    return (immediate >>> CONTROLS_SHIFT) - (int) known & 0xff;
  }
}
