// SPDX-License-Identifier: Apache-2.0
import dev.ferrule.*;

// Receives one file of any length. The sender writes pieces of it into memory that this program
// exposes; each of the two slots in it is written again after this program has stored its piece.

final int SLOTS = 2;
final int PIECE = 1 << 20;

void main(String[] args) throws IOException {
  if (args.length < 1) {
    System.err.println("usage: Receive.java FILE [ADDRESS]");
    System.exit(2);
  }
  Path file = Path.of(args[0]);
  String address = args.length > 1 ? args[1] : "sm:///dev/shm/file-copy";
  // Under another name until it is complete, so that no program takes a part of it for the whole.
  Path part = file.resolveSibling(file.getFileName() + ".part");
  try (Listener listener = Ferrule.listen(URI.create(address))) {
    IO.println("listening at " + listener.uri());
    try (Connection client = listener.accept()) {
      long length = receive(client, part);
      Files.move(part, file, StandardCopyOption.REPLACE_EXISTING);
      IO.println("stored " + length + " bytes");
      client.sender().send(MemorySegment.ofArray(("stored " + length + " bytes").getBytes()));
    }
  } catch (IllegalArgumentException
      | IndexOutOfBoundsException
      | FerruleException
      | IOException e) {
    Files.deleteIfExists(part);
    System.err.println("not received: " + e.getMessage());
    System.exit(1);
  }
}

long receive(Connection client, Path part) throws IOException {
  try (Arena arena = Arena.ofShared();
      ExposedMemory slots =
          client.rma().expose(arena.allocate((long) SLOTS * PIECE), RmaRight.WRITE);
      FileChannel channel =
          FileChannel.open(
              part,
              StandardOpenOption.CREATE,
              StandardOpenOption.TRUNCATE_EXISTING,
              StandardOpenOption.WRITE)) {
    client.sender().send(MemorySegment.ofArray(slots.handle().toBytes()));
    MemorySegment stored = MemorySegment.ofArray(new byte[1]);
    long total = 0;
    for (long piece = 0; ; piece++) {
      int length;
      // A time limit, because a sender that is stopped is detected late, and over RDMA never.
      try (ReceiveRegion announced = client.receiver().receive(Duration.ofSeconds(30))) {
        length = announced.segment().get(ValueLayout.JAVA_INT, 0);
      }
      if (length == 0) {
        return total; // the end of the file; a sender that dies does not send this
      }
      // asSlice throws if the sender announces more than a slot has.
      MemorySegment slot = slots.segment().asSlice(piece % SLOTS * PIECE, PIECE);
      ByteBuffer bytes = slot.asSlice(0, length).asByteBuffer();
      while (bytes.hasRemaining()) {
        total += channel.write(bytes);
      }
      client.sender().send(stored);
    }
  }
}
