// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.sm.process;

import dev.ferrule.Connection;
import dev.ferrule.ConnectionClosedException;
import dev.ferrule.EndOfStreamException;
import dev.ferrule.Ferrule;
import dev.ferrule.Listener;
import dev.ferrule.ResourceExhaustedException;
import java.io.File;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.MethodHandle;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.stream.Stream;

/**
 * Roles of {@link Peer} whose attempts have one more file descriptor each time, starting with none
 * free.
 */
final class LimitedPeer {

  /** Standard input, output and error. */
  private static final int LEAST = 3;

  private static final int RLIMIT_NOFILE = 7;

  private LimitedPeer() {}

  /** Accepts a client, and then others, with a limit that is raised on request. */
  static void server(URI address) throws IOException {
    Listener listener = Ferrule.listen(address);
    Peer.say(listener.uri().toString());
    listener.accept().close();
    loadClasses();
    for (int limit = LEAST; ; limit++) {
      setLimit(limit);
      if (limit == LEAST) {
        Thread.ofPlatform().daemon().start(() -> accept(listener));
      }
      Peer.say("limit " + limit);
      System.in.read();
    }
  }

  private static void accept(Listener listener) {
    while (true) {
      try (Connection connection = listener.accept()) {
        connection.receiver().receive();
      } catch (ResourceExhaustedException | ConnectionClosedException | EndOfStreamException e) {
        continue; // the client receives the reason, or has caused it
      } catch (Throwable e) {
        Peer.say("unexpected: " + e);
      }
    }
  }

  /** Connects repeatedly until it succeeds, and prints the result of each attempt. */
  static void client(URI address) {
    Ferrule.connect(address).close();
    loadClasses();
    boolean connected = false;
    for (int limit = LEAST; !connected; limit++) {
      String result;
      setLimit(limit);
      try {
        Ferrule.connect(address).close();
        connected = true;
        result = "connected";
      } catch (Throwable e) {
        result = String.valueOf(e);
      }
      Peer.say(result);
    }
  }

  /** Loads classes in advance: a class from a directory takes a descriptor to be loaded. */
  private static void loadClasses() {
    for (String entry : System.getProperty("java.class.path").split(File.pathSeparator)) {
      Path directory = Path.of(entry);
      if (Files.isDirectory(directory)) {
        try (Stream<Path> files = Files.walk(directory)) {
          files.map(file -> directory.relativize(file).toString()).forEach(LimitedPeer::load);
        } catch (IOException e) {
          throw new AssertionError(e);
        }
      }
    }
  }

  private static void load(String file) {
    String suffix = ".class";
    if (file.startsWith("dev") && file.endsWith(suffix)) {
      String name = file.substring(0, file.length() - suffix.length()).replace('/', '.');
      try {
        Class.forName(name, false, LimitedPeer.class.getClassLoader());
      } catch (ClassNotFoundException | LinkageError e) {
        return; // of a test that is not for this process
      }
    }
  }

  /** Sets the maximum number of this process's descriptors, which it can raise again. */
  private static void setLimit(int count) {
    Linker linker = Linker.nativeLinker();
    FunctionDescriptor type =
        FunctionDescriptor.of(ValueLayout.JAVA_INT, ValueLayout.JAVA_INT, ValueLayout.ADDRESS);
    MethodHandle get =
        linker.downcallHandle(linker.defaultLookup().find("getrlimit").orElseThrow(), type);
    MethodHandle set =
        linker.downcallHandle(linker.defaultLookup().find("setrlimit").orElseThrow(), type);
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment limits = arena.allocate(ValueLayout.JAVA_LONG, 2); // soft and hard
      int result = (int) get.invokeExact(RLIMIT_NOFILE, limits);
      limits.setAtIndex(ValueLayout.JAVA_LONG, 0, count);
      result += (int) set.invokeExact(RLIMIT_NOFILE, limits);
      if (result != 0) {
        throw new AssertionError("the limit cannot be set");
      }
    } catch (Throwable e) {
      throw new AssertionError(e);
    }
  }
}
