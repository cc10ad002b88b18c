// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.tools.model;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.EnumMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.OptionalDouble;
import java.util.TreeSet;
import java.util.function.Function;
import java.util.stream.Collectors;
import org.hipparchus.linear.Array2DRowRealMatrix;
import org.hipparchus.linear.RealMatrix;
import org.hipparchus.linear.SingularValueDecomposition;

/**
 * Says how well the best point of a fit is known. A direction in which the parameters can go
 * without any prediction moving is one that the measurements say nothing about: a parameter on its
 * own in such a direction is only bounded, and several of them cannot be told apart.
 */
final class FitReading {

  /** If e times a parameter moves all predictions by no more than this, it has no say. */
  private static final double NO_SAY = 0.02;

  /** A direction that is known to a factor of 2 or worse is not known. */
  private static final double UNKNOWN = Math.log(2);

  /** So big a part in an unknown direction makes a parameter one of those that it mixes. */
  private static final double PART = 0.25;

  /** A sum is known if it hardly changes along the unknown directions. */
  private static final double SUM_MOVES = 0.05;

  /** No fit is better than the clock and the noise allow. */
  private static final double LEAST_DEVIATION = 0.01;

  private static final double WORSE = 0.02;
  private static final int BISECTIONS = 40;
  private static final double MOST_LOG = Math.log(1e10);

  private final int observations;
  private final List<Parameter> free;
  private final Map<Parameter, Estimate> estimates;
  private final List<String> notes;
  private final Function<double[], double[]> residuals;
  private final Function<double[], PerformanceModel> model;

  FitReading(
      int observations,
      List<Parameter> free,
      Map<Parameter, Estimate> fixed,
      List<String> notes,
      Function<double[], double[]> residuals,
      Function<double[], PerformanceModel> model) {
    this.observations = observations;
    this.free = free;
    this.estimates = new EnumMap<>(Parameter.class);
    this.estimates.putAll(fixed);
    this.notes = new ArrayList<>(notes);
    this.residuals = residuals;
    this.model = model;
  }

  FitResult read(double[] best) {
    double[][] jacobian = Fit.jacobian(best, residuals);
    List<Integer> heard = new ArrayList<>();
    for (int i = 0; i < best.length; i++) {
      if (norm(jacobian, i) >= NO_SAY) {
        heard.add(i);
      } else {
        bound(best, i);
      }
    }
    if (!heard.isEmpty()) {
      readHeard(best, jacobian, heard);
    }
    exchangeCards();
    PerformanceModel found = model.apply(best);
    return new FitResult(
        found, Map.copyOf(estimates), rootMeanSquare(residuals.apply(best)), List.copyOf(notes));
  }

  /**
   * Between one sender and one receiver the two cards are alike in every formula, so whatever was
   * found for one may as well be the other's. That the receiver's is the slower one is the safe
   * guess, as it is the one that many senders share.
   */
  private void exchangeCards() {
    Estimate sending = estimates.get(Parameter.SEND_NIC);
    Estimate receiving = estimates.get(Parameter.RECEIVE_NIC);
    if (sending.source() == Estimate.Source.TOGETHER
        && receiving.source() == Estimate.Source.TOGETHER) {
      return; // which has been said
    }
    Estimate slower = sending.value() > receiving.value() ? sending : receiving;
    Estimate faster = slower == sending ? receiving : sending;
    String note =
        "one of o_nsnd and o_nrcv is "
            + String.format(Locale.ROOT, "%.3g", slower.value())
            + " ns, the other "
            + (faster.source() == Estimate.Source.AT_MOST ? "at most " : "")
            + String.format(Locale.ROOT, "%.3g", faster.value())
            + " ns; one sender and one receiver cannot show which";
    notes.add(note);
    estimates.put(Parameter.RECEIVE_NIC, as(Parameter.RECEIVE_NIC, slower, note));
    estimates.put(Parameter.SEND_NIC, as(Parameter.SEND_NIC, faster, note));
  }

  private static Estimate as(Parameter parameter, Estimate other, String note) {
    return new Estimate(
        parameter,
        other.value(),
        other.standardError(),
        other.low(),
        other.high(),
        other.source() == Estimate.Source.FITTED ? Estimate.Source.TOGETHER : other.source(),
        note);
  }

  private static double norm(double[][] jacobian, int column) {
    return Math.sqrt(Arrays.stream(jacobian).mapToDouble(row -> row[column] * row[column]).sum());
  }

  private static double rootMeanSquare(double[] values) {
    return Math.sqrt(Arrays.stream(values).map(value -> value * value).average().orElse(0));
  }

  /** Looks how big a parameter may get before a prediction gets worse. */
  private void bound(double[] best, int index) {
    double limit = squares(best) + WORSE * WORSE;
    double low = best[index];
    double high = MOST_LOG;
    for (int i = 0; i < BISECTIONS; i++) {
      double[] moved = best.clone();
      moved[index] = (low + high) / 2;
      if (squares(moved) <= limit) {
        low = moved[index];
      } else {
        high = moved[index];
      }
    }
    Parameter parameter = free.get(index);
    double[] unbounded = best.clone();
    unbounded[index] = MOST_LOG;
    boolean bounded = squares(unbounded) > limit;
    estimates.put(
        parameter,
        bounded
            ? Estimate.bare(
                parameter,
                Math.exp(low),
                Estimate.Source.AT_MOST,
                "hidden behind other stages in all measurements")
            : Estimate.bare(
                parameter,
                0,
                Estimate.Source.TOGETHER,
                "no measurement depends on it; 0 is assumed"));
    if (!bounded) {
      notes.add(parameter.symbol() + ": no measurement depends on it; 0 is assumed");
    }
  }

  private double squares(double[] point) {
    return Arrays.stream(residuals.apply(point)).map(value -> value * value).sum();
  }

  private void readHeard(double[] best, double[][] jacobian, List<Integer> heard) {
    // with fewer rows than columns the decomposition would leave directions out
    RealMatrix columns =
        new Array2DRowRealMatrix(Math.max(jacobian.length, heard.size()), heard.size());
    for (int row = 0; row < jacobian.length; row++) {
      for (int i = 0; i < heard.size(); i++) {
        columns.setEntry(row, i, jacobian[row][heard.get(i)]);
      }
    }
    int freedom = Math.max(1, observations - heard.size());
    double deviation = Math.max(LEAST_DEVIATION, Math.sqrt(squares(best) / freedom));
    SingularValueDecomposition directions = new SingularValueDecomposition(columns);
    double[] singular = directions.getSingularValues();
    double[] variances = new double[heard.size()];
    List<double[]> unknown = new ArrayList<>();
    List<TreeSet<Integer>> groups = new ArrayList<>();
    for (int direction = 0; direction < heard.size(); direction++) {
      double[] parts = directions.getV().getColumn(direction);
      double value = direction < singular.length ? singular[direction] : 0;
      double spread = value == 0 ? Double.POSITIVE_INFINITY : deviation / value;
      if (spread > UNKNOWN) {
        unknown.add(parts);
        groups.add(members(parts));
      } else {
        for (int i = 0; i < parts.length; i++) {
          variances[i] += parts[i] * parts[i] * spread * spread;
        }
      }
    }
    double reach = Confidence.factor(freedom);
    for (int i = 0; i < heard.size(); i++) {
      Parameter parameter = free.get(heard.get(i));
      double value = Math.exp(best[heard.get(i)]);
      double error = Math.sqrt(variances[i]);
      estimates.put(
          parameter,
          new Estimate(
              parameter,
              value,
              OptionalDouble.of(value * error),
              OptionalDouble.of(value * Math.exp(-reach * error)),
              OptionalDouble.of(value * Math.exp(reach * error)),
              Estimate.Source.FITTED,
              ""));
    }
    for (TreeSet<Integer> group : merged(groups)) {
      tellTogether(best, heard, group, unknown);
    }
  }

  private static TreeSet<Integer> members(double[] parts) {
    TreeSet<Integer> members = new TreeSet<>();
    for (int i = 0; i < parts.length; i++) {
      if (Math.abs(parts[i]) > PART) {
        members.add(i);
      }
    }
    return members;
  }

  /** Groups that share a parameter are one. */
  private static List<TreeSet<Integer>> merged(List<TreeSet<Integer>> groups) {
    List<TreeSet<Integer>> merged = new ArrayList<>();
    for (TreeSet<Integer> group : groups) {
      TreeSet<Integer> whole = new TreeSet<>(group);
      merged.removeIf(
          other -> {
            boolean common = other.stream().anyMatch(whole::contains);
            if (common) {
              whole.addAll(other);
            }
            return common;
          });
      merged.add(whole);
    }
    return merged;
  }

  private void tellTogether(
      double[] best, List<Integer> heard, TreeSet<Integer> group, List<double[]> unknown) {
    double sum = group.stream().mapToDouble(i -> Math.exp(best[heard.get(i)])).sum();
    double moves = 0;
    for (double[] direction : unknown) {
      double move =
          group.stream().mapToDouble(i -> Math.exp(best[heard.get(i)]) / sum * direction[i]).sum();
      moves = Math.max(moves, Math.abs(move));
    }
    List<Parameter> parameters = group.stream().map(i -> free.get(heard.get(i))).toList();
    String names =
        parameters.stream()
            .map(Parameter::symbol)
            .collect(Collectors.joining(moves < SUM_MOVES ? " + " : ", "));
    String note;
    if (parameters.size() == 1) {
      note = names + " is not known: its share in what was measured is too small";
    } else if (moves < SUM_MOVES) {
      note =
          "only "
              + names
              + " = "
              + String.format(Locale.ROOT, "%.3g", sum)
              + " ns is known; the measurements cannot tell them apart";
    } else {
      note = "the measurements cannot tell " + names + " apart";
    }
    notes.add(note);
    for (Parameter parameter : parameters) {
      double value = estimates.get(parameter).value();
      estimates.put(parameter, Estimate.bare(parameter, value, Estimate.Source.TOGETHER, note));
    }
  }
}
