// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.lab.evaluate;

import dev.ferrule.Option;
import dev.ferrule.ProviderInfo;
import dev.ferrule.lab.model.Processors;
import dev.ferrule.tools.report.Axis;
import dev.ferrule.tools.report.Plot;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Function;
import java.util.function.IntFunction;
import java.util.stream.IntStream;

/**
 * The experiments on the connections of one provider. The provider's options determine which of
 * them are possible.
 */
public final class Catalogue {

  /**
   * The name, in results, of the number of messages that found no receive posted (receiver not
   * ready).
   */
  static final String RNR = "rnr";

  /** The option that limits a device's retransmissions of such messages. */
  static final String RNR_RETRY = "rnrRetry";

  /** The option that limits the number of unacknowledged messages. */
  static final String UNACKED = "unacked";

  /** The experiment on receivers that are too slow. */
  static final String OVERRUN = "overrun";

  /** The option for credits; if it is off, messages may find no receive posted. */
  static final String CREDITS = "credits";

  /** A value of options that are on or off. */
  static final String OFF = "off";

  /**
   * The name, in results, of the number of messages that a connection sent before one found no
   * receive.
   */
  static final String SENT = "sent_messages_per_connection";

  /** The experiment that fails as a whole if any of its points fails. */
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

  /** The size for which message rates are measured. */
  private static final int SHORT = 16;

  /** Enough messages in flight to keep the pipeline full, as measured. */
  private static final int PIPELINE = 64;

  private static final int MOST_UNACKED = 256;
  private static final int BATCH = 8;

  /**
   * Few enough that a receiver which is only a little too slow runs out of receives within a round.
   */
  static final int OVERRUN_RECEIVES = 64;

  /**
   * Three quarters of them are granted: enough for all messages that 12 connections have in flight.
   */
  private static final int SHARED_RECEIVES = 4096;

  /** The position, on a logarithmic axis, of a receiver that spends no time, in nanoseconds. */
  static final int NO_PAUSE = 10;

  /** Connections to one receiver. */
  private static final int MANY = 4;

  /**
   * The limits on messages. They are few, as each needs its own server, and few servers are kept
   * running.
   */
  private static final int[] MAX_MESSAGES = {8 << 10, 64 << 10, 1 << 20};

  private static final Axis CONNECTIONS =
      Axis.logarithmic("connections (number)", Axis.Unit.NUMBER);
  private static final Axis ACCESS_SIZE = Axis.logarithmic("access size (bytes)", Axis.Unit.BYTES);
  private static final Axis SIZE = Axis.logarithmic("message size (bytes)", Axis.Unit.BYTES);
  private static final Axis LATENCY = Axis.logarithmic("one-way latency (time)", Axis.Unit.NANOS);
  private static final Axis RATE = Axis.logarithmic("rate (messages/s)", Axis.Unit.RATE);
  private static final Axis BYTE_RATE =
      Axis.logarithmic("bandwidth (bytes/s)", Axis.Unit.BYTE_RATE);

  private final ProviderInfo provider;
  private final boolean quick;
  private final Processors processors;

  public Catalogue(ProviderInfo provider, boolean quick, Processors processors) {
    this.provider = provider;
    this.quick = quick;
    this.processors = processors;
  }

  /**
   * {@return all experiments, including those that are not possible, in the order of the report}
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
        srq(),
        polling(),
        reposting(),
        acknowledging(),
        rnr(),
        overrun(),
        overrunRate(),
        inline(),
        magic(),
        paths(),
        rma(),
        rmaBesideCopies());
  }

  private String scheme() {
    return provider.scheme();
  }

  /**
   * Returns whether messages of a provider complete only when acknowledged, so that an option
   * limits the number of incomplete ones.
   */
  public static boolean isAcknowledged(ProviderInfo provider) {
    return has(provider, UNACKED);
  }

  private boolean has(String option) {
    return has(provider, option);
  }

  public static boolean has(ProviderInfo provider, String option) {
    return provider.options().stream().map(Option::name).anyMatch(option::equals);
  }

  private Optional<String> without(String option, String what) {
    return has(option)
        ? Optional.empty()
        : Optional.of(scheme() + " has no option '" + option + "': " + what);
  }

  /** A point with default settings. Each experiment changes the settings that it varies. */
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
    private int pause; // nanoseconds
    private boolean spinning = processors.suffice(1, 1);

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

    /**
     * Limits the unacknowledged messages by the transport's option, if it has one; otherwise the
     * sender limits them.
     */
    private void limit(int unackedMessages) {
      if (has(UNACKED)) {
        client.put(UNACKED, String.valueOf(unackedMessages));
      }
    }

    private Draft adaptive() {
      spinning = false;
      return this;
    }

    /**
     * Sets the connections, the threads, and whether the threads spin. All points of a curve should
     * wait in the same way, so they spin only if the largest one has a processor for each thread.
     */
    private Draft concurrency(int connectionCount, int threadCount, boolean spins) {
      connections = connectionCount;
      threads = threadCount;
      spinning = spins;
      return this;
    }

    private Draft pause(int nanos) {
      pause = nanos;
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

    private Draft shared(boolean receiveQueue) {
      return receiveQueue ? server(SRQ, ON) : this;
    }

    private Draft both(String option, String value) {
      server.put(option, value);
      client.put(option, value);
      return this;
    }

    /**
     * Returns whether the threads spin. With a shared receive queue, the server has one more
     * thread, which posts the freed buffers.
     */
    private boolean spins() {
      int receivers = Point.receivers(server, connections);
      return spinning
          && (!ON.equals(server.get(SRQ)) || processors.suffice(threads, receivers + 1));
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
          pause,
          spins() ? "spin" : "adaptive",
          server,
          client,
          processors);
    }
  }

  private static int maxMessage(int size) {
    return IntStream.of(MAX_MESSAGES).filter(room -> room >= size).findFirst().orElse(size);
  }

  /** Collects the curves of an experiment, over the same values unless others are given. */
  private static final class Curves {
    private final List<Integer> values;
    private final List<Series> series = new ArrayList<>();

    Curves(List<Integer> values) {
      this.values = values;
    }

    Curves add(String name, Metric metric, IntFunction<Draft> drafts) {
      return add(name, metric, Series.Model.NONE, values, drafts);
    }

    /** Adds a curve that the model is fitted to. */
    Curves fitted(String name, Metric metric, IntFunction<Draft> drafts) {
      return add(name, metric, Series.Model.FITTED, values, drafts);
    }

    /** Adds a curve beside which the line of the model is drawn. */
    Curves predicted(String name, Metric metric, IntFunction<Draft> drafts) {
      return add(name, metric, Series.Model.PREDICTED, values, drafts);
    }

    Curves add(
        String name,
        Metric metric,
        Series.Model model,
        List<Integer> some,
        IntFunction<Draft> drafts) {
      Plot.Style style = metric.equals(Metric.P99) ? Plot.Style.BESIDE : Plot.Style.MEASURED;
      List<Series.Sample> samples =
          some.stream()
              .map(value -> new Series.Sample(value, drafts.apply(value).point()))
              .toList();
      series.add(new Series(name, series.size(), style, metric, model, samples));
      return this;
    }
  }

  private Experiment experiment(
      String id, String title, String text, Axis x, Axis y, Curves curves) {
    return experiment(id, title, text, x, y, Optional.empty(), curves);
  }

  private Experiment experiment(
      String id,
      String title,
      String text,
      Axis x,
      Axis y,
      Optional<String> obstacle,
      Curves curves) {
    return new Experiment(id, scheme(), title, text, x, y, obstacle, curves.series);
  }

  private Experiment latency() {
    List<Integer> sizes =
        quick
            ? List.of(16, 64, 512, 2048, 8192)
            : List.of(1, 16, 64, 128, 256, 512, 1024, 2048, 4096, 8192, 65536, 1 << 20);
    boolean adaptiveWithSrq = has(SRQ) && processors.suffice(1, 1) && !processors.suffice(1, 2);
    IntFunction<Draft> drafts = size -> new Draft("latency", Point.Kind.LATENCY).size(size);
    Curves curves =
        new Curves(sizes).fitted("p50", Metric.P50, drafts).add("p99", Metric.P99, drafts);
    if (adaptiveWithSrq) {
      curves.add("p50, waiting adaptively", Metric.P50, size -> drafts.apply(size).adaptive());
    }
    if (has(SRQ)) {
      curves.add(
          "p50, SRQ at the server" + (adaptiveWithSrq ? ", waiting adaptively" : ""),
          Metric.P50,
          size -> drafts.apply(size).server(SRQ, ON));
    }
    return experiment(
        "latency",
        "latency over message size",
        "Half of the round-trip time of a message and its echo, with one message in flight."
            + (adaptiveWithSrq
                ? " With the SRQ both sides wait adaptively instead of spinning, as the SRQ's thread, which"
                    + " posts the freed buffers, has no processor of its own. Compare its curve with the"
                    + " other one that waits adaptively."
                : ""),
        SIZE,
        LATENCY,
        curves);
  }

  private Experiment calls() {
    Curves curves = new Curves(quick ? List.of(16, 512) : List.of(16, 512, 2048, 8192));
    for (String call : List.of("send", "receive", "free", "clock")) {
      curves.add(
          call,
          new Metric(call + "_ns", "call time, p50", Metric.Kind.NANOS),
          size -> new Draft("calls", Point.Kind.CALLS).size(size));
    }
    return experiment(
        "calls",
        "call times over message size",
        "Each send, receive and free call of a ping-pong, timed individually: the model's"
            + " parameters o_snd, o_rcv and g_rcv. Each of these times includes the cost of"
            + " reading the clock, which is shown as well.",
        SIZE,
        Axis.logarithmic("call (time)", Axis.Unit.NANOS),
        curves);
  }

  private Experiment unacked() {
    List<Integer> limits =
        quick ? List.of(1, 4, 16, 64, 128) : List.of(1, 2, 4, 8, 16, 32, 64, 128, 256);
    return experiment(
        UNACKED,
        "rate at 16 bytes over the number of unacknowledged messages",
        "Messages are sent one by one, with at most this many incomplete."
            + (has(UNACKED)
                ? ""
                : " Over this transport a message is complete when it is in the receiver's memory,"
                    + " without an acknowledgment."),
        Axis.logarithmic("unacknowledged messages (number)", Axis.Unit.NUMBER),
        RATE,
        new Curves(limits)
            .fitted("16 B", Metric.MESSAGES, limit -> stream(UNACKED).flow(limit, 1)));
  }

  private Draft stream(String experiment) {
    return new Draft(experiment, Point.Kind.BANDWIDTH);
  }

  private Experiment batch() {
    List<Integer> batches = quick ? List.of(1, 4, 8, 16) : List.of(1, 2, 4, 8, 16, 32, 64);
    Curves curves = new Curves(batches);
    for (int limit : quick ? List.of(16, 64, 256) : List.of(16, 32, 64, 128, 256)) {
      curves.add(
          limit + " unacknowledged",
          Metric.MESSAGES,
          Series.Model.FITTED,
          batches.stream().filter(size -> size <= limit).toList(),
          size -> stream("batch").flow(limit, size));
    }
    return experiment(
        "batch",
        "rate at 16 bytes over batch size",
        "This many messages are posted together, with several limits on unacknowledged messages.",
        Axis.logarithmic("messages in a batch (number)", Axis.Unit.NUMBER),
        RATE,
        curves);
  }

  private Experiment bandwidth() {
    List<Integer> sizes =
        quick
            ? List.of(16, 512, 2048, 8192)
            : List.of(16, 64, 256, 512, 1024, 2048, 4096, 8192, 65536, 1 << 20);
    IntFunction<Draft> drafts = size -> stream("bandwidth").size(size);
    return experiment(
        "bandwidth",
        "bandwidth over message size",
        (has(UNACKED)
                ? "Single: each message is acknowledged before the next is sent."
                : "A message is complete when it is in the receiver's memory, so that single and"
                    + " pipelined are the same.")
            + " Pipelined: up to %s unacknowledged messages. Batched: up to %s, posted %s at a time."
                .formatted(PIPELINE, MOST_UNACKED, BATCH),
        SIZE,
        BYTE_RATE,
        new Curves(sizes)
            .fitted("single", Metric.BYTES, size -> drafts.apply(size).flow(1, 1))
            .fitted("pipelined", Metric.BYTES, size -> drafts.apply(size).flow(PIPELINE, 1))
            .fitted(
                "pipelined and batched",
                Metric.BYTES,
                size -> drafts.apply(size).flow(MOST_UNACKED, BATCH)));
  }

  /**
   * Returns 1, 2, 4 … up to twice the processors and at least 4; if quick, up to the processors and
   * at least 2.
   */
  private List<Integer> counts() {
    int most = quick ? Math.max(2, processors.all()) : Math.max(4, 2 * processors.all());
    return IntStream.iterate(1, count -> count <= most, count -> 2 * count).boxed().toList();
  }

  private Experiment threads() {
    List<Integer> counts = counts();
    List<Integer> spinning =
        counts.stream().filter(count -> processors.suffice(count, count)).toList();
    Curves curves = new Curves(counts);
    for (boolean shared : withAndWithout(SRQ)) {
      for (int size : List.of(SHORT, 512, 8192)) {
        curves.predicted(
            size + " B" + (shared ? ", SRQ" : ""),
            Metric.MESSAGES,
            count -> thread(size, count).adaptive().shared(shared));
      }
    }
    if (!spinning.isEmpty()) {
      curves.add(
          SHORT + " B, spinning",
          Metric.MESSAGES,
          Series.Model.PREDICTED,
          spinning,
          count -> thread(SHORT, count));
    }
    return experiment(
        "threads",
        "rate over threads with one connection each",
        "The total rate of all connections, with "
            + PIPELINE
            + " unacknowledged messages each"
            + (has(SRQ)
                ? ", without and with a shared receive queue (SRQ)."
                : ". " + scheme() + " has no shared receive queue (option 'srq').")
            + " All threads wait adaptively, as there may be more threads than processors; those"
            + " of one curve spin, up to one thread per processor. The model assumes spinning"
            + " threads.",
        Axis.logarithmic("threads and connections (number)", Axis.Unit.NUMBER),
        RATE,
        curves);
  }

  private Draft thread(int size, int count) {
    return stream("threads")
        .size(size)
        .flow(PIPELINE, 1)
        .concurrency(count, count, processors.suffice(count, count));
  }

  /** Returns false, and true as well if the provider has an option. */
  private List<Boolean> withAndWithout(String option) {
    return has(option) ? List.of(false, true) : List.of(false);
  }

  private Experiment singleReceiver() {
    int serving = has(SRQ) ? 2 : 1; // a shared queue has a thread that posts the freed buffers
    int sending = processors.beside(serving);
    boolean spins = processors.suffice(sending, serving);
    Curves curves = new Curves(quick ? List.of(1, 2, 4) : List.of(1, 2, 4, 8, 16, 32));
    for (boolean shared : withAndWithout(SRQ)) {
      for (int size : List.of(SHORT, 512)) {
        curves.predicted(
            size + " B" + (shared ? ", SRQ" : ""),
            Metric.MESSAGES,
            count ->
                stream("single-receiver")
                    .size(size)
                    .flow(PIPELINE, 1)
                    .server(SINGLE_RECEIVER, ON)
                    .concurrency(count, Math.min(count, sending), spins)
                    .shared(shared));
      }
    }
    return experiment(
        "single-receiver",
        "N:1, one thread receiving from N connections",
        "Up to "
            + sending
            + (spins
                ? " threads send. Each has a processor of its own, as do those of the server"
                : " threads send. They wait adaptively, as there are fewer processors than threads,"
                    + " including those of the server")
            + " (the receiver"
            + (serving == 1 ? ")." : ", and one that posts the buffers of a shared queue)."),
        CONNECTIONS,
        RATE,
        without(SINGLE_RECEIVER, "one receiver of all connections"),
        curves);
  }

  private Experiment srq() {
    int sending = processors.pairs();
    IntFunction<Draft> drafts =
        count ->
            stream(SRQ)
                .flow(MOST_UNACKED, BATCH)
                .concurrency(count, Math.min(count, sending), false);
    Curves curves =
        new Curves(quick ? List.of(1, 4, 16) : List.of(1, 2, 4, 8, 16))
            .add("a receive queue each", Metric.MESSAGES, drafts)
            .add(
                "SRQ",
                Metric.MESSAGES,
                count ->
                    drafts
                        .apply(count)
                        .server(SRQ, ON)
                        .server(RECEIVES, String.valueOf(SHARED_RECEIVES)));
    return experiment(
        SRQ,
        "the highest rate of a shared receive queue",
        ("The total rate at 16 bytes, waiting adaptively, in batches of %s with up to %s"
                + " unacknowledged messages, over the number of connections. A shared receive queue"
                + " limits the rate if its curve ends at a rate that the other curve exceeds. The"
                + " limit is that of the device, of the one thread that posts the freed buffers of all"
                + " connections, or of their common completion queue, which one thread at a time"
                + " polls. The queue has %s buffers: beyond 12 connections credit is a limit, too.")
            .formatted(BATCH, MOST_UNACKED, SHARED_RECEIVES),
        CONNECTIONS,
        RATE,
        without(SRQ, "each connection has its own receives"),
        curves);
  }

  /**
   * Compares, under the same load, the default of an option with the value that handles messages
   * one by one.
   */
  private Experiment oneByOne(
      String id, String title, String text, String option, String oneByOne, String name) {
    int sending = Math.min(MANY, processors.beside(1));
    Curves curves = new Curves(quick ? List.of(16, 512) : List.of(16, 64, 256, 512, 1024, 4096));
    // one sender may be slower than a receiver; several that share one are not
    for (boolean many : withAndWithout(SINGLE_RECEIVER)) {
      IntFunction<Draft> drafts =
          size -> {
            Draft draft = stream(id).size(size).flow(MOST_UNACKED, BATCH);
            return many
                ? draft
                    .server(SINGLE_RECEIVER, ON)
                    .concurrency(MANY, sending, processors.suffice(sending, 1))
                : draft;
          };
      String prefix = many ? MANY + ":1, " : "";
      curves
          .add(prefix + name, Metric.MESSAGES, drafts)
          .add(
              prefix + "one by one",
              Metric.MESSAGES,
              size -> drafts.apply(size).server(option, oneByOne));
    }
    return experiment(
        id,
        title,
        text
            + (" The sender posts batches of %s, with up to %s unacknowledged messages. %s:1: one"
                    + " thread receives from %s connections.")
                .formatted(BATCH, MOST_UNACKED, MANY, MANY),
        SIZE,
        RATE,
        without(option, "nothing to compare"),
        curves);
  }

  private Experiment polling() {
    return oneByOne(
        "polling",
        "rate with completions polled in batches, and one by one",
        "The receiver takes up to 32 completions from the device at a time, or one (pollBatch=1).",
        "pollBatch",
        "1",
        "up to 32");
  }

  private Experiment reposting() {
    return oneByOne(
        "reposting",
        "rate with receive buffers posted in batches, and one by one",
        "The receiver posts up to 16 freed receive buffers together, or each by itself"
            + " (repostBatch=1).",
        "repostBatch",
        "1",
        "up to 16");
  }

  private Experiment acknowledging() {
    return oneByOne(
        "acknowledging",
        "rate with messages acknowledged in batches, and one by one",
        "The receiver acknowledges freed messages when a quarter of the ring or the window is free,"
            + " or each by itself (acknowledge=each). While eight acknowledgments are in flight, the next"
            + " one covers several messages, so acknowledging each by itself would cost more than shown.",
        "acknowledge",
        "each",
        "batched");
  }

  private Experiment rnr() {
    IntFunction<IntFunction<Draft>> batched =
        batch ->
            count ->
                stream(RNR_EXPERIMENT)
                    .flow(MOST_UNACKED, batch)
                    .both(RNR_RETRY, "0")
                    .concurrency(count, 1, false);
    IntFunction<Draft> batches = batched.apply(BATCH);
    Curves curves =
        new Curves(quick ? List.of(1, 4) : List.of(1, 2, 4, 8))
            .predicted("one by one", Metric.MESSAGES, batched.apply(1))
            .predicted("in batches of " + BATCH, Metric.MESSAGES, batches);
    if (has(RECEIVES)) {
      curves.add("8 receives", Metric.MESSAGES, count -> batches.apply(count).both(RECEIVES, "8"));
    }
    if (has(SRQ)) {
      curves.predicted("SRQ", Metric.MESSAGES, count -> batches.apply(count).server(SRQ, ON));
    }
    return experiment(
        RNR_EXPERIMENT,
        "no retransmission if the receiver is not ready (rnrRetry=0)",
        "Devices retransmit a message for which no receive is posted (RNR), which is slow. With"
            + " rnrRetry=0 the connection fails instead. Credits guarantee that this never"
            + " happens: the experiment passes if every point is measured at the first attempt and"
            + " the devices' RNR counters stay at 0. Any failed point fails the evaluation.",
        CONNECTIONS,
        RATE,
        without(RNR_RETRY, "a receiver is always ready"),
        curves);
  }

  private Experiment overrun() {
    return overrun(
        OVERRUN,
        "messages sent until the receiver is not ready, over its time per message",
        "Shown is the number of messages that each connection had sent until then. With credits"
            + " all messages are sent; without, the receiver is too slow where fewer are sent.",
        Axis.logarithmic("sent, or sent before the error (messages)", Axis.Unit.NUMBER),
        new Metric(SENT, "sent", Metric.Kind.NUMBER));
  }

  /** Shows the points of {@link #overrun()} again; they are measured once. */
  private Experiment overrunRate() {
    return overrun(
        "overrun-rate",
        "the rate of messages sent to a receiver that may be too slow, over its time per message",
        "With credits the rate is that of the receiver, over all connections together. Without,"
            + " points that ended in the error in every round have no rate.",
        RATE,
        Metric.MESSAGES);
  }

  private Experiment overrun(String id, String title, String text, Axis axis, Metric metric) {
    Curves curves =
        new Curves(
            quick
                ? List.of(NO_PAUSE, 10_000, 300_000)
                : List.of(NO_PAUSE, 100, 300, 1_000, 3_000, 10_000, 30_000, 100_000, 300_000));
    for (boolean credits : new boolean[] {false, true}) {
      for (int senders : quick ? List.of(1, 4) : List.of(1, 4, 16)) {
        curves.add(
            senders + ":1, " + (credits ? "with credits" : "without credits"),
            metric,
            nanos -> overrun(nanos == NO_PAUSE ? 0 : nanos, senders, credits));
      }
    }
    return experiment(
        id,
        title,
        ("The receiver spends this time with each message, and has %s receives for each connection."
                + " With rnrRetry=0 a connection fails at the first message that finds no receive"
                + " (receiver not ready), which credits=off permits. %s N:1: one thread receives"
                + " from N connections.")
            .formatted(OVERRUN_RECEIVES, text),
        Axis.logarithmic("time with each message (time)", Axis.Unit.NANOS).withZeroAt(NO_PAUSE),
        axis,
        without(CREDITS, "a sender always waits for its receiver"),
        curves);
  }

  private Draft overrun(int pause, int senders, boolean credits) {
    int sending = Math.min(senders, processors.beside(1));
    Draft draft =
        new Draft(OVERRUN, Point.Kind.OVERRUN)
            .flow(OVERRUN_RECEIVES / 2, 1)
            .pause(pause)
            .both(RNR_RETRY, "0")
            .both(RECEIVES, String.valueOf(OVERRUN_RECEIVES))
            .concurrency(senders, sending, processors.suffice(sending, 1));
    Draft one = senders > 1 ? draft.server(SINGLE_RECEIVER, ON) : draft;
    return credits ? one : one.both(CREDITS, OFF);
  }

  private Experiment inline() {
    IntFunction<Draft> drafts = size -> new Draft(INLINE, Point.Kind.LATENCY).size(size);
    return experiment(
        INLINE,
        "latency with and without inline messages",
        "Messages of up to 220 bytes, or the device's limit, are sent inline in the work request;"
            + " with inline=0 the device reads them from memory.",
        SIZE,
        LATENCY,
        without(INLINE, "all short messages take one path"),
        new Curves(quick ? List.of(16, 128) : List.of(16, 32, 64, 128, 220))
            .add("inline", Metric.P50, drafts)
            .add("not inline", Metric.P50, size -> drafts.apply(size).both(INLINE, "0")));
  }

  private Experiment magic() {
    Curves curves =
        new Curves(
            quick ? List.of(1000, 3000, 7000) : List.of(64, 1000, 2000, 3000, 5000, 7000, 8000));
    for (String mapping : List.of("magic", "plain")) {
      curves.add(
          mapping + " ring",
          Metric.BYTES,
          size ->
              stream("magic")
                  .size(size)
                  .flow(PIPELINE, 1)
                  .server(RING, "64KiB")
                  .server(MAPPING, mapping));
    }
    return experiment(
        "magic",
        "bandwidth of a ring mapped twice, and of a plain one",
        "A ring of 64 KiB. In a plain ring, a message that does not fit before the end leaves a"
            + " gap; in a ring mapped twice (magic), it wraps around.",
        SIZE,
        BYTE_RATE,
        without(MAPPING, "no ring"),
        curves);
  }

  private Experiment paths() {
    List<Integer> sizes =
        quick
            ? List.of(16, 512, 2048, 8192)
            : List.of(16, 64, 128, 256, 512, 1024, 2048, 4096, 8192, 65536, 1 << 20);
    IntFunction<Draft> drafts = size -> new Draft("paths", Point.Kind.LATENCY).size(size);
    Curves curves =
        new Curves(sizes)
            .add("message: inline up to 4096 B, then lines", Metric.P50, drafts)
            .add(
                "message: lines (ring=4KiB)",
                Metric.P50,
                Series.Model.NONE,
                sizes.stream().filter(size -> size > INLINE_IN_SMALLEST_RING).toList(),
                size -> drafts.apply(size).both(RING, "4KiB"));
    for (String path : List.of("cma", "mmap")) {
      curves.add(
          "RMA write: " + path,
          new Metric("write_p50_ns", "access latency, p50", Metric.Kind.NANOS),
          size -> new Draft("paths", Point.Kind.RMA).size(size).client(RMA, path));
    }
    return experiment(
        "paths",
        "inline messages, payload lines and remote memory access over size",
        "The path of the bytes: behind the message's header in the ring, in payload lines of the"
            + " buffer, or directly from memory to memory. A message's latency is half the round"
            + " trip; an access's is the time to completion, without notifying the peer.",
        SIZE,
        LATENCY,
        has(RMA)
            ? Optional.empty()
            : Optional.of("only sm has these paths: " + scheme() + " has no payload lines"),
        curves);
  }

  private Curves accesses(Function<String, Metric> metric) {
    Curves curves =
        new Curves(
            quick ? List.of(64, 4096, 65536) : List.of(64, 512, 4096, 65536, 1 << 20, 16 << 20));
    for (String path : has(RMA) ? List.of("knem", "cma", "mmap") : List.of("rdma")) {
      for (String call : List.of("write", "read")) {
        curves.add(
            path + ", " + call,
            metric.apply(call),
            size -> {
              Draft draft = new Draft("rma", Point.Kind.RMA).size(size);
              return has(RMA) ? draft.both(RMA, path) : draft; // knem needs it on both sides
            });
      }
    }
    return curves;
  }

  private Experiment rma() {
    return experiment(
        "rma",
        "remote memory access by path over size",
        "Bytes per second with many accesses in flight. Over RDMA the device's path is the only"
            + " one.",
        ACCESS_SIZE,
        BYTE_RATE,
        accesses(call -> new Metric(call + "_bytes_per_s", "bytes/s", Metric.Kind.BYTE_RATE)));
  }

  /** Shows the points of {@link #rma} again; they are measured once. */
  private Experiment rmaBesideCopies() {
    return experiment(
        "rma-copy",
        "remote memory access beside a bare copy",
        "The ratio of two medians: the throughput above to that of a bare copy of the same size,"
            + " measured in turns with it. For cma the bare copy is the system call; otherwise it is a"
            + " copy within one process, which has both buffers in its own caches.",
        ACCESS_SIZE,
        Axis.logarithmic("bandwidth / bare copy (ratio)", Axis.Unit.NUMBER),
        accesses(call ->
            new Metric(
                call + "_bytes_per_s",
                "bytes/s / bare copy, of the medians",
                Metric.Kind.NUMBER,
                Optional.of(call + "_bare_copy_bytes_per_s"))));
  }
}
