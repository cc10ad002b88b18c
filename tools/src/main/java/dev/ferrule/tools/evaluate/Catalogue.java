// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.tools.evaluate;

import dev.ferrule.Option;
import dev.ferrule.spi.ConnectionProvider;
import dev.ferrule.tools.report.Axis;
import dev.ferrule.tools.report.Plot;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Function;
import java.util.function.IntFunction;
import java.util.function.UnaryOperator;
import java.util.stream.IntStream;

/**
 * The experiments on the connections of one provider. What a provider cannot do follows from the
 * list of its options.
 */
public final class Catalogue {

  /** What a result calls the messages that found no receive. */
  static final String RNR = "rnr";

  /** The option that lets a device repeat them. */
  static final String RNR_RETRY = "rnrRetry";

  /** The option that limits how many messages are unacknowledged. */
  static final String UNACKED = "unacked";

  /** The experiment that fails if a single point does. */
  static final String RNR_EXPERIMENT = "rnr";

  private static final String SRQ = "srq";
  private static final String SINGLE_RECEIVER = "singleReceiver";
  private static final String INLINE = "inline";
  private static final String MAPPING = "mapping";
  private static final String RING = "ring";

  /** The longest inline message with ring=4KiB. */
  private static final int INLINE_IN_SMALLEST_RING = 504;

  private static final String RECEIVES = "receives";
  private static final String RMA = "rma";
  private static final String ON = "on";
  private static final String MAX_MESSAGE = "maxMessage";

  /** The size at which rates are asked for. */
  private static final int SHORT = 16;

  /** Keeps the pipeline full, by all that is known. */
  private static final int PIPELINE = 64;

  private static final int MOST_UNACKED = 256;
  private static final int BATCH = 8;

  /** Servers differ in the longest message they take, and are kept few. */
  private static final int[] MAX_MESSAGES = {8 << 10, 64 << 10, 1 << 20};

  private static final Axis SIZE = Axis.logarithmic("size of a message (bytes)", Axis.Unit.BYTES);
  private static final Axis LATENCY = Axis.logarithmic("one-way latency (time)", Axis.Unit.NANOS);
  private static final Axis RATE = Axis.logarithmic("rate (messages/s)", Axis.Unit.RATE);
  private static final Axis BYTE_RATE =
      Axis.logarithmic("bandwidth (bytes/s)", Axis.Unit.BYTE_RATE);

  private final ConnectionProvider provider;
  private final boolean quick;
  private final int processors;

  /**
   * Creates the catalogue of a provider.
   *
   * @param provider the provider
   * @param quick whether fewer points will do
   * @param processors how many threads can be busy at a time here
   */
  public Catalogue(ConnectionProvider provider, boolean quick, int processors) {
    this.provider = provider;
    this.quick = quick;
    this.processors = processors;
  }

  /**
   * Returns all experiments, those included that cannot be done here.
   *
   * @return the experiments, in the order of the report
   */
  public List<Experiment> experiments() {
    return List.of(
        latency(),
        calls(),
        unacked(),
        batch(),
        bandwidth(),
        threads(),
        singleReceiver(),
        rnr(),
        inline(),
        magic(),
        paths(),
        rma(),
        rmaBesideCopies());
  }

  private String scheme() {
    return provider.scheme();
  }

  private boolean has(String option) {
    return provider.options().stream().map(Option::name).anyMatch(option::equals);
  }

  private Optional<String> without(String option, String what) {
    return has(option)
        ? Optional.empty()
        : Optional.of(
            scheme() + " has no option '" + option + "', so there is nothing to compare: " + what);
  }

  private List<Integer> sizes(Integer... some) {
    return List.of(some);
  }

  /** A point with what is usual; each experiment changes what it is about. */
  private final class Draft {
    private final String experiment;
    private final Point.Kind kind;
    private final Map<String, String> server = new LinkedHashMap<>();
    private final Map<String, String> client = new LinkedHashMap<>();
    private int size = SHORT;
    private int connections = 1;
    private int threads = 1;
    private int unacked;
    private int batch = 1;
    private int busy = 2;

    private Draft(String experiment, Point.Kind kind) {
      this.experiment = experiment;
      this.kind = kind;
      limit(MOST_UNACKED);
    }

    private Draft size(int bytes) {
      size = bytes;
      return this;
    }

    private Draft flow(int unackedMessages, int batched) {
      unacked = unackedMessages;
      batch = batched;
      limit(unackedMessages);
      return this;
    }

    /** A transport that can hold senders back by itself does so; else whoever sends has to wait. */
    private void limit(int unackedMessages) {
      if (has(UNACKED)) {
        client.put(UNACKED, String.valueOf(unackedMessages));
      }
    }

    private Draft adaptive() {
      busy = Integer.MAX_VALUE;
      return this;
    }

    /** So many at a time; and how many threads are busy where most are, so that all wait alike. */
    private Draft crowd(int connectionCount, int threadCount, int busyAtMost) {
      connections = connectionCount;
      threads = threadCount;
      busy = busyAtMost;
      return this;
    }

    private Draft client(String option, String value) {
      client.put(option, value);
      return this;
    }

    private Draft server(String option, String value) {
      server.put(option, value);
      return this;
    }

    private Draft both(String option, String value) {
      server.put(option, value);
      client.put(option, value);
      return this;
    }

    private Point point() {
      int longest = kind == Point.Kind.RMA ? 0 : size;
      String room = String.valueOf(maxMessage(longest));
      server.putIfAbsent(MAX_MESSAGE, room);
      client.putIfAbsent(MAX_MESSAGE, room);
      return new Point(
          experiment,
          scheme(),
          kind,
          size,
          connections,
          threads,
          unacked,
          batch,
          busy <= processors ? "spin" : "adaptive",
          server,
          client);
    }
  }

  private static int maxMessage(int size) {
    return IntStream.of(MAX_MESSAGES).filter(room -> room >= size).findFirst().orElse(size);
  }

  private static List<Series.Sample> samples(List<Integer> values, IntFunction<Draft> drafts) {
    return values.stream()
        .map(value -> new Series.Sample(value, drafts.apply(value).point()))
        .toList();
  }

  private Experiment latency() {
    List<Integer> sizes =
        quick
            ? sizes(16, 64, 512, 2048, 8192)
            : sizes(1, 16, 64, 128, 256, 512, 1024, 2048, 4096, 8192, 65536, 1 << 20);
    List<Series.Sample> samples =
        samples(sizes, size -> new Draft("latency", Point.Kind.LATENCY).size(size));
    return new SeriesExperiment(
        "latency",
        scheme(),
        "latency over message size",
        "Half the time until a message's echo is back, one message at a time.",
        SIZE,
        LATENCY,
        Optional.empty(),
        List.of(
            Series.measured("p50", 0, Figure.P50, samples).forModel(),
            new Series("p99", 1, Plot.Style.BESIDE, Figure.P99, Series.Model.NONE, samples)));
  }

  private Experiment calls() {
    List<Integer> sizes = quick ? sizes(16, 512) : sizes(16, 512, 2048, 8192);
    List<Series.Sample> samples =
        samples(sizes, size -> new Draft("calls", Point.Kind.CALLS).size(size));
    List<Series> series = new ArrayList<>();
    for (String call : List.of("send", "receive", "free", "clock")) {
      series.add(
          Series.measured(
              call,
              series.size(),
              new Figure(call + "_ns", "time of a call, p50", Figure.Kind.NANOS),
              samples));
    }
    return new SeriesExperiment(
        "calls",
        scheme(),
        "time of each call over message size",
        "Each send, receive and free of a ping-pong timed by itself, and the clock, whose reading"
            + " each of these times includes. These are the model's o_snd, o_rcv and g_rcv.",
        SIZE,
        Axis.logarithmic("call (time)", Axis.Unit.NANOS),
        Optional.empty(),
        series);
  }

  private Experiment unacked() {
    List<Integer> limits =
        quick ? sizes(1, 4, 16, 64, 128) : sizes(1, 2, 4, 8, 16, 32, 64, 128, 256);
    return new SeriesExperiment(
        UNACKED,
        scheme(),
        "rate at 16 bytes over the number of unacknowledged messages",
        "Messages are sent one by one, and no more of them than this are incomplete at a time."
            + (has(UNACKED)
                ? ""
                : " Here a message is complete as soon as it lies in the receiver's memory, so that"
                    + " no acknowledgement is waited for."),
        Axis.logarithmic("unacknowledged messages (number)", Axis.Unit.NUMBER),
        RATE,
        Optional.empty(),
        List.of(
            Series.measured(
                    "16 B",
                    0,
                    Figure.MESSAGES,
                    samples(
                        limits, limit -> new Draft(UNACKED, Point.Kind.BANDWIDTH).flow(limit, 1)))
                .forModel()));
  }

  private Experiment batch() {
    List<Integer> batches = quick ? sizes(1, 4, 8, 16) : sizes(1, 2, 4, 8, 16, 32, 64);
    List<Series> series = new ArrayList<>();
    for (int limit : quick ? sizes(16, 64, 256) : sizes(16, 32, 64, 128, 256)) {
      List<Integer> fitting = batches.stream().filter(size -> size <= limit).toList();
      series.add(
          Series.measured(
                  limit + " unacknowledged",
                  series.size(),
                  Figure.MESSAGES,
                  samples(
                      fitting, size -> new Draft("batch", Point.Kind.BANDWIDTH).flow(limit, size)))
              .forModel());
    }
    return new SeriesExperiment(
        "batch",
        scheme(),
        "rate at 16 bytes over batch size",
        "So many messages are handed to the transport together, with several limits on those that"
            + " may be unacknowledged.",
        Axis.logarithmic("messages in a batch (number)", Axis.Unit.NUMBER),
        RATE,
        Optional.empty(),
        series);
  }

  private Experiment bandwidth() {
    List<Integer> sizes =
        quick
            ? sizes(16, 512, 2048, 8192)
            : sizes(16, 64, 256, 512, 1024, 2048, 4096, 8192, 65536, 1 << 20);
    IntFunction<IntFunction<Draft>> by =
        batch ->
            size ->
                new Draft("bandwidth", Point.Kind.BANDWIDTH)
                    .size(size)
                    .flow(
                        batch == 0 ? 1 : batch == 1 ? PIPELINE : MOST_UNACKED, Math.max(1, batch));
    return new SeriesExperiment(
        "bandwidth",
        scheme(),
        "bandwidth over message size",
        (has(UNACKED)
                ? "One at a time: each message is acknowledged before the next is sent."
                : "A message is complete when it lies in the receiver's memory, so that one at a"
                    + " time and pipelined are the same here.")
            + " Pipelined: up to "
            + PIPELINE
            + " are unacknowledged. Batched: up to "
            + MOST_UNACKED
            + ", handed over "
            + BATCH
            + " at a time.",
        SIZE,
        BYTE_RATE,
        Optional.empty(),
        List.of(
            Series.measured("one at a time", 0, Figure.BYTES, samples(sizes, by.apply(0)))
                .forModel(),
            Series.measured("pipelined", 1, Figure.BYTES, samples(sizes, by.apply(1))).forModel(),
            Series.measured(
                    "pipelined and batched", 2, Figure.BYTES, samples(sizes, by.apply(BATCH)))
                .forModel()));
  }

  /** 1, 2, 4 … up to twice the processors, at least 4. */
  private List<Integer> crowds() {
    List<Integer> crowds = new ArrayList<>();
    for (int crowd = 1; crowd <= Math.max(quick ? 2 : 4, quick ? processors : 2 * processors); ) {
      crowds.add(crowd);
      crowd *= 2;
    }
    return crowds;
  }

  private Experiment threads() {
    List<Integer> crowds = crowds();
    List<Integer> spinning = crowds.stream().filter(crowd -> 2 * crowd <= processors).toList();
    List<Series> series = new ArrayList<>();
    for (int size : sizes(SHORT, 512, 8192)) {
      threads(series, size + " B", size, crowds, Draft::adaptive);
    }
    if (has(SRQ)) {
      for (int size : sizes(SHORT, 512, 8192)) {
        threads(series, size + " B, SRQ", size, crowds, draft -> draft.adaptive().server(SRQ, ON));
      }
    }
    threads(series, SHORT + " B, spinning", SHORT, spinning, draft -> draft);
    return new SeriesExperiment(
        "threads",
        scheme(),
        "rate over threads, each with a connection of its own",
        "The rates of all connections added up, with "
            + PIPELINE
            + " unacknowledged messages each"
            + (has(SRQ)
                ? ", without and with a shared receive queue (SRQ)."
                : ". There is no shared receive queue here: " + scheme() + " has no option 'srq'.")
            + " All wait adaptively, as there may be more threads than processors; those of one"
            + " curve spin, as far as there is a processor for each thread. The model is of threads"
            + " that spin.",
        Axis.logarithmic("threads and connections (number)", Axis.Unit.NUMBER),
        RATE,
        Optional.empty(),
        series);
  }

  private void threads(
      List<Series> series,
      String name,
      int size,
      List<Integer> crowds,
      UnaryOperator<Draft> change) {
    IntFunction<Draft> drafts =
        crowd ->
            change.apply(
                new Draft("threads", Point.Kind.BANDWIDTH)
                    .size(size)
                    .flow(PIPELINE, 1)
                    .crowd(crowd, crowd, 2 * crowd));
    if (!crowds.isEmpty()) {
      series.add(
          Series.measured(name, series.size(), Figure.MESSAGES, samples(crowds, drafts))
              .withModel());
    }
  }

  private Experiment singleReceiver() {
    List<Integer> senders = quick ? sizes(1, 2, 4) : sizes(1, 2, 4, 8, 16, 32);
    int sending = Math.max(1, processors - 1);
    List<Series> series = new ArrayList<>();
    for (int size : sizes(SHORT, 512)) {
      series.add(
          Series.measured(
                  size + " B",
                  series.size(),
                  Figure.MESSAGES,
                  samples(
                      senders,
                      count ->
                          new Draft("single-receiver", Point.Kind.BANDWIDTH)
                              .size(size)
                              .flow(PIPELINE, 1)
                              .server(SINGLE_RECEIVER, ON)
                              .crowd(count, Math.min(count, sending), sending + 1)))
              .withModel());
    }
    return new SeriesExperiment(
        "single-receiver",
        scheme(),
        "N:1, one thread receives from N connections",
        "The connections are dealt out among as many threads as leave a processor for the receiver,"
            + " here "
            + sending
            + ".",
        Axis.logarithmic("connections (number)", Axis.Unit.NUMBER),
        RATE,
        without(SINGLE_RECEIVER, "one receiver for many connections"),
        series);
  }

  private Experiment rnr() {
    List<Integer> counts = quick ? sizes(1, 4) : sizes(1, 2, 4, 8);
    List<Series> series = new ArrayList<>();
    rnr(series, "one by one", counts, 1, true, draft -> draft);
    rnr(series, "in batches of " + BATCH, counts, BATCH, true, draft -> draft);
    if (has(RECEIVES)) {
      rnr(series, "8 receives", counts, BATCH, false, draft -> draft.both(RECEIVES, "8"));
    }
    if (has(SRQ)) {
      rnr(series, "SRQ", counts, BATCH, true, draft -> draft.server(SRQ, ON));
    }
    return new SeriesExperiment(
        RNR_EXPERIMENT,
        scheme(),
        "no repeats allowed when no receive is posted (rnrRetry=0)",
        "Devices repeat a message for which no receive is posted, which is slow. Here they may not:"
            + " the connection would break. Credits see to it that it never comes to that, so this"
            + " is passed if every point was measured at once and the devices' own counters stay at"
            + " 0; a single point that fails, in whatever round, is a failure of the evaluation.",
        Axis.logarithmic("connections (number)", Axis.Unit.NUMBER),
        RATE,
        without(RNR_RETRY, "a receiver that is not ready cannot happen"),
        series);
  }

  private void rnr(
      List<Series> series,
      String name,
      List<Integer> counts,
      int batch,
      boolean modelled,
      UnaryOperator<Draft> change) {
    IntFunction<Draft> drafts =
        count ->
            change.apply(
                new Draft(RNR_EXPERIMENT, Point.Kind.BANDWIDTH)
                    .flow(MOST_UNACKED, batch)
                    .both(RNR_RETRY, "0")
                    .crowd(count, 1, 1 + count)
                    .adaptive());
    Series one = Series.measured(name, series.size(), Figure.MESSAGES, samples(counts, drafts));
    series.add(modelled ? one.withModel() : one);
  }

  private Experiment inline() {
    List<Integer> sizes = quick ? sizes(16, 128) : sizes(16, 32, 64, 128, 220);
    List<Series> series = new ArrayList<>();
    for (boolean inline : new boolean[] {true, false}) {
      series.add(
          Series.measured(
              inline ? "inline" : "not inline",
              series.size(),
              Figure.P50,
              samples(
                  sizes,
                  size -> {
                    Draft draft = new Draft(INLINE, Point.Kind.LATENCY).size(size);
                    return inline ? draft : draft.both(INLINE, "0");
                  })));
    }
    return new SeriesExperiment(
        INLINE,
        scheme(),
        "latency with messages in the work request (inline) and not",
        "Up to 220 bytes, as far as the device can, a message goes to the device in the work"
            + " request; with inline=0 the device fetches it from memory.",
        SIZE,
        LATENCY,
        without(INLINE, "all short messages take one way"),
        series);
  }

  private Experiment magic() {
    List<Integer> sizes =
        quick ? sizes(1000, 3000, 7000) : sizes(64, 1000, 2000, 3000, 5000, 7000, 8000);
    List<Series> series = new ArrayList<>();
    for (String mapping : List.of("magic", "plain")) {
      series.add(
          Series.measured(
              mapping + " ring",
              series.size(),
              Figure.BYTES,
              samples(
                  sizes,
                  size ->
                      new Draft("magic", Point.Kind.BANDWIDTH)
                          .size(size)
                          .flow(PIPELINE, 1)
                          .server("ring", "64KiB")
                          .server(MAPPING, mapping))));
    }
    return new SeriesExperiment(
        "magic",
        scheme(),
        "bandwidth of a ring that is mapped twice, and of a plain one",
        "A ring of 64 KiB. In a plain one a message that does not fit before the end leaves a gap"
            + " there; in a magic one it goes over the end.",
        SIZE,
        BYTE_RATE,
        without(MAPPING, "no ring"),
        series);
  }

  private Experiment paths() {
    List<Integer> sizes =
        quick
            ? sizes(16, 512, 2048, 8192)
            : sizes(16, 64, 128, 256, 512, 1024, 2048, 4096, 8192, 65536, 1 << 20);
    List<Integer> inLines = sizes.stream().filter(size -> size > INLINE_IN_SMALLEST_RING).toList();
    List<Series> series = new ArrayList<>();
    series.add(
        Series.measured(
            "message: inline to 4096 B, then lines",
            0,
            Figure.P50,
            samples(sizes, size -> new Draft("paths", Point.Kind.LATENCY).size(size))));
    series.add(
        Series.measured(
            "message: lines (ring=4KiB)",
            1,
            Figure.P50,
            samples(
                inLines,
                size -> new Draft("paths", Point.Kind.LATENCY).size(size).both(RING, "4KiB"))));
    for (String path : List.of("cma", "mmap")) {
      series.add(
          Series.measured(
              "RMA write: " + path,
              series.size(),
              new Figure("write_p50_ns", "one access, p50", Figure.Kind.NANOS),
              samples(
                  sizes, size -> new Draft("paths", Point.Kind.RMA).size(size).client(RMA, path))));
    }
    return new SeriesExperiment(
        "paths",
        scheme(),
        "inline, lines and remote memory access over size",
        "Which way bytes go: behind the message's header in the ring, in the lines of the buffer,"
            + " or straight from memory to memory. A message is timed as half a round trip, an"
            + " access until it is complete, and nobody is told of it.",
        SIZE,
        LATENCY,
        has(RMA)
            ? Optional.empty()
            : Optional.of("these are the ways of sm; " + scheme() + " has no payload lines"),
        series);
  }

  private List<Series> rmaSeries(Function<String, Figure> figure) {
    List<Integer> sizes =
        quick ? sizes(64, 4096, 65536) : sizes(64, 512, 4096, 65536, 1 << 20, 16 << 20);
    List<Series> series = new ArrayList<>();
    for (String path : has(RMA) ? List.of("knem", "cma", "mmap") : List.of("rdma")) {
      for (String call : List.of("write", "read")) {
        series.add(
            Series.measured(
                path + ", " + call,
                series.size(),
                figure.apply(call),
                samples(
                    sizes,
                    size -> {
                      Draft draft = new Draft("rma", Point.Kind.RMA).size(size);
                      return has(RMA) ? draft.both(RMA, path) : draft; // knem takes both
                    })));
      }
    }
    return series;
  }

  private Experiment rma() {
    return new SeriesExperiment(
        "rma",
        scheme(),
        "remote memory access by path over size",
        "Bytes per second when the next access does not wait for the last. Over RDMA there is one"
            + " path, the device's.",
        Axis.logarithmic("size of an access (bytes)", Axis.Unit.BYTES),
        BYTE_RATE,
        Optional.empty(),
        rmaSeries(call -> new Figure(call + "_bytes_per_s", "bytes/s", Figure.Kind.BYTE_RATE)));
  }

  /** The same points as those of {@link #rma}, which are measured once. */
  private Experiment rmaBesideCopies() {
    return new SeriesExperiment(
        "rma-copy",
        scheme(),
        "remote memory access beside a bare copy",
        "The same measurements: the median of the bytes per second over that of a bare copy of as"
            + " many bytes, in turns with it: the kernel's call by itself for cma, else a copy within one process,"
            + " which has both buffers in its own caches.",
        Axis.logarithmic("size of an access (bytes)", Axis.Unit.BYTES),
        Axis.logarithmic("bandwidth / that of a bare copy (ratio)", Axis.Unit.NUMBER),
        Optional.empty(),
        rmaSeries(
            call ->
                new Figure(
                    call + "_bytes_per_s",
                    "bytes/s / those of a bare copy, of the medians",
                    Figure.Kind.NUMBER,
                    Optional.of(call + "_bare_copy_bytes_per_s"))));
  }
}
