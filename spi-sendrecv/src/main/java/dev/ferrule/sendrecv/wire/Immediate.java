// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.sendrecv.wire;

/**
 * The 32 bits of immediate data of every message. From the least significant bit: 16 bits, the
 * total number of messages that the peer may send, modulo 2^16; 8 bits, the total number of control
 * messages taken, modulo 2^8; 4 bits, zero; 4 bits, the type.
 */
public final class Immediate {

  /** A message of the program; carries the program's bytes. */
  public static final int MESSAGE = 1;

  /** A control message that carries only these counts. */
  public static final int GRANT = 2;

  /** A control message: the sender has closed the connection and sends nothing more. */
  public static final int GOODBYE = 3;

  /**
   * A control message: the sender sends no further {@link #MESSAGE}. It carries these counts as
   * well.
   */
  public static final int END = 4;

  private static final int CONTROLS_SHIFT = 16;
  private static final int TYPE_SHIFT = 28;

  private Immediate() {}

  /**
   * Encodes immediate data.
   *
   * @param type the type
   * @param granted the total number of messages that the peer may send
   * @param controlsTaken the total number of control messages taken
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
   * Returns the increment from a known count of granted messages to the count in the immediate
   * data.
   *
   * @param immediate the immediate data
   * @param known the known count
   * @return 0 to 65,535
   */
  public static int newlyGranted(int immediate, long known) {
    return immediate - (int) known & 0xffff;
  }

  /**
   * Returns the increment from a known count of control messages to the count in the immediate
   * data.
   *
   * @param immediate the immediate data
   * @param known the known count
   * @return 0 to 255
   */
  public static int newControlsTaken(int immediate, long known) {
    return (immediate >>> CONTROLS_SHIFT) - (int) known & 0xff;
  }
}
