// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.rdma.simulation;

import dev.ferrule.posix.RawMemory;
import dev.ferrule.rdma.simulation.WorkRequests.Piece;
import java.io.ByteArrayOutputStream;
import java.lang.foreign.MemorySegment;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** A protection domain. Checks accesses by the keys of its regions. */
final class DomainState extends FabricObject {

  private static final int LOCAL_WRITE = 1;

  final ContextState context;
  private final Map<Integer, RegionState> regions = new HashMap<>(); // by local and remote key

  DomainState(MemorySegment structure, ContextState context) {
    super(structure);
    this.context = context;
  }

  void add(RegionState region) {
    regions.put(region.localKey, region);
    regions.put(region.remoteKey(), region);
  }

  void remove(RegionState region) {
    regions.remove(region.localKey);
    regions.remove(region.remoteKey());
  }

  /** Returns the address of memory that the peer may access; -1 if it may not. */
  long remote(int key, long address, int length, int right) {
    RegionState region = regions.get(key);
    return region == null || region.remoteKey() != key
        ? -1
        : region.translate(this, address, length, right);
  }

  private long local(Piece piece, int right) {
    RegionState region = regions.get(piece.key());
    return region == null || region.localKey != piece.key()
        ? -1
        : region.translate(this, piece.address(), piece.length(), right);
  }

  /** Reads local memory; null if one of the pieces is not registered. */
  byte @Nullable [] gather(List<Piece> pieces) {
    ByteArrayOutputStream all = new ByteArrayOutputStream();
    for (Piece piece : pieces) {
      long address = local(piece, 0);
      if (address == -1) {
        return null;
      }
      all.writeBytes(RawMemory.bytes(address, piece.length()));
    }
    return all.toByteArray();
  }

  /** Writes local memory; returns whether it is registered and writable. */
  boolean scatter(List<Piece> pieces, byte[] data) {
    int done = 0;
    for (Piece piece : pieces) {
      long address = local(piece, LOCAL_WRITE);
      if (address == -1) {
        return false;
      }
      int length = Math.min(piece.length(), data.length - done);
      write(address, data, done, length);
      done += length;
    }
    return true;
  }

  static void write(long address, byte[] data, int offset, int length) {
    if (length > 0) {
      MemorySegment.copy(MemorySegment.ofArray(data), offset, RawMemory.ALL, address, length);
    }
  }
}
