// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.tools.support;

import java.io.BufferedWriter;
import java.io.FileDescriptor;
import java.io.FileOutputStream;
import java.io.FilterOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.io.OutputStreamWriter;
import java.io.PrintWriter;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** Standard output, for text. Unlike {@code System.out} it has the reason of a failure. */
public final class StandardOutput extends PrintWriter {

  private final Stream stream;

  /** Creates the writer. */
  public StandardOutput() {
    this(new Stream(new FileOutputStream(FileDescriptor.out)));
  }

  private StandardOutput(Stream stream) {
    super(new BufferedWriter(new OutputStreamWriter(stream, System.out.charset())));
    this.stream = stream;
  }

  /** {@return why it could not be written} */
  public Optional<String> failure() {
    return Optional.ofNullable(stream.failure).map(Problems::reason);
  }

  private static final class Stream extends FilterOutputStream {
    private volatile @Nullable IOException failure;

    private Stream(OutputStream out) {
      super(out);
    }

    @Override
    public void write(byte[] bytes, int offset, int length) throws IOException {
      try {
        out.write(bytes, offset, length);
      } catch (IOException e) {
        failure = e;
        throw e;
      }
    }
  }
}
