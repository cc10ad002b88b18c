// SPDX-License-Identifier: Apache-2.0
import dev.ferrule.*;

// Sends one file: writes it piece by piece into memory of the receiver, which has two slots. While
// the receiver stores one, this program reads the next piece and writes it into the other.

final int SLOTS = 2;
final int PIECE = 1 << 20;

void main(String[] args) {
  if (args.length < 1) {
    System.err.println("usage: Send.java FILE [ADDRESS]");
    System.exit(2);
  }
  String address = args.length > 1 ? args[1] : "sm:///dev/shm/file-copy";
  try (FileChannel file = FileChannel.open(Path.of(args[0]));
      Connection server = Ferrule.connect(URI.create(address))) {
    IO.println(send(file, server));
  } catch (NoSuchFileException e) {
    System.err.println("not sent: there is no file " + e.getMessage());
    System.exit(1);
  } catch (IllegalArgumentException | FerruleException | IOException e) {
    System.err.println("not sent: " + e.getMessage());
    System.exit(1);
  }
}

String send(FileChannel file, Connection server) throws IOException {
  try (Arena arena = Arena.ofShared();
      RegisteredMemory local = server.register(arena.allocate((long) SLOTS * PIECE))) {
    RemoteMemory remote = server.rma().attach(RmaHandle.of(receive(server)));
    MemorySegment announcement = arena.allocate(ValueLayout.JAVA_INT);
    long[] ids = new long[SLOTS];
    int notStored = 0; // pieces that the receiver has not stored yet
    for (long piece = 0; ; piece++) {
      int slot = (int) (piece % SLOTS);
      if (notStored == SLOTS) {
        receive(server); // the receiver has stored the earlier piece in this slot
        notStored--;
        server.rma().await(ids[slot]); // returns at once; then the local memory may be reused
      }
      long offset = (long) slot * PIECE;
      int length = read(file, local.segment().asSlice(offset, PIECE).asByteBuffer());
      announcement.set(ValueLayout.JAVA_INT, 0, length);
      if (length == 0) {
        break;
      }
      // The message arrives behind the bytes, so it announces them.
      ids[slot] = server.rma().writeAndSend(local, offset, remote, offset, length, announcement);
      notStored++;
    }
    while (notStored-- > 0) {
      receive(server);
    }
    server.sender().send(announcement); // of length 0: the end of the file
    return new String(receive(server));
  }
}

int read(FileChannel file, ByteBuffer slot) throws IOException {
  while (slot.hasRemaining() && file.read(slot) >= 0) {
    // A read may return fewer bytes than there are.
  }
  return slot.position();
}

byte[] receive(Connection server) {
  // A time limit, because a receiver that is stopped is detected late, and over RDMA never.
  try (ReceiveRegion message = server.receiver().receive(Duration.ofSeconds(30))) {
    return message.segment().toArray(ValueLayout.JAVA_BYTE);
  }
}
