// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.lab.report;

import static org.assertj.core.api.Assertions.assertThat;

import dev.ferrule.tools.report.Axis;
import dev.ferrule.tools.report.Plot;
import dev.ferrule.tools.report.SvgPlot;
import java.io.StringReader;
import java.util.List;
import javax.xml.parsers.DocumentBuilderFactory;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import org.junit.jupiter.api.Test;
import org.w3c.dom.Document;
import org.xml.sax.InputSource;

class HtmlReportTest {

  private static final Plot PLOT =
      new Plot(
          "p",
          "a < b & \"c\"",
          Axis.logarithmic("size", Axis.Unit.BYTES),
          Axis.logarithmic("time", Axis.Unit.NANOS),
          List.of(
              new Plot.Curve(
                  "measured",
                  0,
                  Plot.Style.MEASURED,
                  List.of(new Plot.Dot(16, 1900), new Plot.Dot(1024, 2500))),
              new Plot.Curve("model", 0, Plot.Style.MODEL, List.of(new Plot.Dot(16, 2000)))));

  private static String page(String text) {
    Table table = new Table(text, List.of("one", text, "three"));
    table.row(List.of(text, "2", "3"));
    return HtmlReport.format(
        text,
        text,
        List.of(),
        List.of(new Section("s", text, text, List.of(PLOT), List.of(table), List.of(text))));
  }

  static Document parse(String xml) throws Exception {
    return DocumentBuilderFactory.newInstance()
        .newDocumentBuilder()
        .parse(new InputSource(new StringReader(xml)));
  }

  @Property(tries = 100)
  void thePageIsWellFormedWhateverIsInIt(@ForAll String text) throws Exception {
    parse(page(text));
  }

  @Test
  void thePageReferencesNothingOnANetwork() {
    assertThat(page("text"))
        .doesNotContain("://")
        .doesNotContain("//")
        .doesNotContain("<script")
        .doesNotContain("<link")
        .doesNotContain("@import")
        .doesNotContain("url(")
        .doesNotContain("src=");
  }

  @Test
  void thePageAndItsPlotsSuitLightAndDark() {
    assertThat(page("text"))
        .contains("color-scheme:light dark")
        .contains("@media(prefers-color-scheme:dark){svg.plot text{fill:#dddddd}");
    assertThat(SvgPlot.file(PLOT)).contains("@media(prefers-color-scheme:dark)");
  }

  @Test
  void aPlotHasItsAxesUnitsAndATooltipForEachDot() throws Exception {
    Document svg = parse(SvgPlot.file(PLOT));
    assertThat(svg.getDocumentElement().getNamespaceURI()).isIn(null, "http://www.w3.org/2000/svg");
    String text = svg.getDocumentElement().getTextContent();
    assertThat(text)
        .contains("size", "time", "16 B", "1 KiB", "2 µs", "measured", "model")
        .contains("measured, 1 KiB: 2.5 µs");
    assertThat(svg.getElementsByTagName("circle").getLength())
        .as("two dots, and one in the legend")
        .isEqualTo(3);
    assertThat(svg.getElementsByTagName("text").item(0).getTextContent()).isEqualTo(PLOT.title());
    assertThat(SvgPlot.inline(PLOT))
        .doesNotContain(">" + PLOT.title() + "<"); // a page has it above the plot
  }

  @Test
  void aNarrowWindowHasAPlotOfItsOwnWhoseTextIsAsLarge() throws Exception {
    String page = page("text");
    assertThat(page)
        .contains("@media(max-width:600px){svg.wide{display:none}")
        .contains("@media(min-width:601px){svg.narrow{display:none}}");
    Document plots = parse("<plots>" + SvgPlot.inline(PLOT) + "</plots>");
    assertThat(plots.getElementsByTagName("svg").getLength()).isEqualTo(2);
    String narrow =
        plots
            .getElementsByTagName("svg")
            .item(1)
            .getAttributes()
            .getNamedItem("viewBox")
            .getTextContent();
    assertThat(Integer.parseInt(narrow.split(" ")[2])).as("its width in pixels").isLessThan(400);
  }

  /** A column beyond the window's edge would not be seen. */
  @Test
  void aRowOfATableWithManyColumnsIsAParagraphInANarrowWindow() throws Exception {
    String page = page("text");
    assertThat(page)
        .contains("@media(max-width:600px){.words th", ".rows tr{display:flex;flex-wrap:wrap")
        .contains(".rows td::before{content:attr(data-name)")
        .contains("<table class=\"rows\">\n<caption>text</caption>\n<tr><th>one</th>")
        .contains("<td data-name=\"one\">text</td><td data-name=\"text\">2</td>");
  }

  /** A label without room at the edge would be cut off, or omitted. */
  @Test
  void theFirstAndTheLastMarkOfAnAxisAreNamedInAWindowOfAnyWidth() {
    assertThat(SvgPlot.inline(PLOT).split(">16 B<", -1)).hasSize(3);
    assertThat(SvgPlot.inline(PLOT).split(">1 KiB<", -1)).hasSize(3);
  }

  @Test
  void theSpreadOfTheRoundsIsDrawnAndInTheTooltip() throws Exception {
    Plot.Dot dot = new Plot.Dot(16, 1900, 1500, 2500);
    Plot plot =
        new Plot(
            "p",
            "t",
            PLOT.x(),
            PLOT.y(),
            List.of(new Plot.Curve("c", 0, Plot.Style.MEASURED, List.of(dot))));
    assertThat(SvgPlot.file(plot))
        .contains("class=\"spread c0\"")
        .contains("c, 16 B: 1.9 µs (1.5 µs to 2.5 µs)");
    assertThat(SvgPlot.file(PLOT)).doesNotContain("class=\"spread");
  }

  @Test
  void aSpreadThatIsNotDrawnNeedsNoSpace() {
    assertThat(beside(new Plot.Dot(16, 1900, 1500, 9e9))).isEqualTo(beside(new Plot.Dot(16, 1900)));
  }

  private static String beside(Plot.Dot dot) {
    Plot.Curve curve = new Plot.Curve("c", 0, Plot.Style.BESIDE, List.of(dot));
    return SvgPlot.file(new Plot("p", "t", PLOT.x(), PLOT.y(), List.of(curve)))
        .replaceAll("<title>.*?</title>", "");
  }

  @Test
  void curvesDifferInMoreThanTheirColours() {
    List<Plot.Dot> dots = List.of(new Plot.Dot(16, 1), new Plot.Dot(32, 2));
    Plot plot =
        new Plot(
            "p",
            "t",
            PLOT.x(),
            PLOT.y(),
            List.of(
                new Plot.Curve("a", 0, Plot.Style.MODEL, dots),
                new Plot.Curve("b", 1, Plot.Style.MODEL, dots),
                new Plot.Curve("c", 2, Plot.Style.MODEL, dots),
                new Plot.Curve("d", 0, Plot.Style.MEASURED, dots),
                new Plot.Curve("e", 1, Plot.Style.MEASURED, dots)));
    String svg = SvgPlot.file(plot);
    assertThat(svg).contains("c0 model m0", "c1 model m1", "c2 model m2");
    assertThat(svg).contains(".m0{stroke-dasharray:7 4}", ".m1{stroke-dasharray:2 3}");
    assertThat(svg).contains("<circle class=\"d0\"", "<path class=\"d1\"");
  }

  @Test
  void thePageBeginsWithTheHeadlineFigures() throws Exception {
    Headline headline =
        new Headline(
            "sm",
            List.of(new Headline.Tile("p50", "120 ns", "at 64 B")),
            Headline.Trust.FAIR,
            List.of("There was other load.", "a < b"));
    String page = HtmlReport.format("t", "s", List.of(headline), List.of());
    parse(page);
    assertThat(page)
        .contains("120 ns", "at 64 B", "Trust: fair.", "There was other load. a &lt; b")
        .contains("class=\"trust fair\"");
    assertThat(page.indexOf("120 ns")).isLessThan(page.indexOf("<nav>"));
  }

  @Test
  void valuesThatALogarithmicAxisCannotShowAreOmitted() throws Exception {
    Plot plot =
        new Plot(
            "p",
            "t",
            Axis.logarithmic("x", Axis.Unit.NUMBER),
            Axis.logarithmic("y", Axis.Unit.NUMBER),
            List.of(
                new Plot.Curve(
                    "c",
                    0,
                    Plot.Style.MEASURED,
                    List.of(new Plot.Dot(1, 0), new Plot.Dot(2, 5), new Plot.Dot(3, Double.NaN)))));
    Document svg = parse(SvgPlot.file(plot));
    assertThat(svg.getElementsByTagName("circle").getLength())
        .as("one dot, and one in the legend")
        .isEqualTo(2);
  }
}
