// SPDX-License-Identifier: Apache-2.0
package dev.ferrule.lab.report;

import dev.ferrule.tools.report.Markup;
import dev.ferrule.tools.report.Plot;
import dev.ferrule.tools.report.SvgPlot;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;

/**
 * A self-contained page: it includes its style and pictures, and references nothing on a network.
 * It is also well-formed XML, for programs that parse it.
 */
public final class HtmlReport {

  private static final String STYLE =
      """
      :root{color-scheme:light dark;--text:#222;--back:#fff;--faint:#666;--line:#d8d8d8;--mark:#f4f4f4}
      @media(prefers-color-scheme:dark){
      :root{--text:#ddd;--back:#181a1b;--faint:#a0a0a0;--line:#444;--mark:#232627}}
      body{margin:0 auto;max-width:64rem;padding:1rem 1.2rem 4rem;color:var(--text);
      background:var(--back);font:15px/1.5 system-ui,sans-serif}
      h1{font-size:1.6rem;margin-bottom:.2rem}h2{font-size:1.2rem;margin:2.6rem 0 .4rem}
      p{margin:.4rem 0}a{color:inherit}.faint,nav{color:var(--faint)}
      svg.plot{width:100%;height:auto;display:block;margin:.8rem 0}
      @media(min-width:601px){svg.narrow{display:none}}
      @media(max-width:600px){svg.wide{display:none}body{padding:.6rem .8rem 3rem}
      nav ul{padding-left:1.2rem}}
      .tiles{display:grid;grid-template-columns:repeat(auto-fit,minmax(9.5rem,1fr));gap:.6rem;margin:.6rem 0}
      .tile{background:var(--mark);padding:.5rem .8rem}.tile b{display:block;font-size:1.5rem}
      .trust{border-left:.3rem solid var(--faint);padding-left:.7rem}
      .high{border-color:#2a8a4a}.fair{border-color:#a67c00}.low{border-color:#b02a5b}
      .scroll{overflow-x:auto}
      table{border-collapse:separate;border-spacing:0;margin:.8rem 0;font-size:.85rem;font-variant-numeric:tabular-nums}
      caption{text-align:left;padding:.2rem 0;font-weight:600}
      th,td{padding:.15rem .7rem;border-bottom:1px solid var(--line);text-align:right}
      td{white-space:nowrap}td:last-child{white-space:normal;min-width:8rem}th{vertical-align:bottom}
      th:first-child,td:first-child{text-align:left;padding-left:0;
      position:sticky;left:0;background:var(--back)}
      .words td,.words th{text-align:left;white-space:normal;overflow-wrap:anywhere}
      @media(max-width:600px){.words th,.words td{padding:.15rem .45rem}
      .rows,.rows tbody,.rows caption{display:block}.rows tr:first-child{display:none}
      .rows tr{display:flex;flex-wrap:wrap;padding:.3rem 0;border-bottom:1px solid var(--line)}
      .rows td{border:0;padding:0 .9rem 0 0;min-width:0;text-align:left;white-space:normal}
      .rows td::before{content:attr(data-name) " ";color:var(--faint)}
      .rows td:first-child{flex-basis:100%;font-weight:600}.rows td:first-child::before{content:""}
      .rows td:empty{display:none}}
      ul.notes{background:var(--mark);padding:.5rem .5rem .5rem 1.6rem;margin:.8rem 0}
      """;

  private final StringBuilder page = new StringBuilder();

  private HtmlReport() {}

  /** Formats a page that begins with the headline figures, below a line with the subtitle. */
  public static String format(
      String title, String subtitle, List<Headline> headlines, List<Section> sections) {
    HtmlReport report = new HtmlReport();
    report.head(title, subtitle);
    headlines.forEach(report::headline);
    report.contents(sections);
    sections.forEach(report::section);
    return report.page.append("</body>\n</html>\n").toString();
  }

  /** Appends a template, in which each %s is replaced by a text, escaped. */
  private void add(String template, String... texts) {
    page.append(template.formatted(Arrays.stream(texts).map(Markup::escape).toArray()));
  }

  private void head(String title, String subtitle) {
    add(
        """
        <!DOCTYPE html>
        <html lang="en">
        <head>
        <meta charset="utf-8"/>
        <meta name="viewport" content="width=device-width, initial-scale=1"/>
        <title>%s</title>
        <style>
        """,
        title);
    page.append(STYLE).append(SvgPlot.style("svg.plot", false));
    add(
        """

        </style>
        </head>
        <body>
        <h1>%s</h1>
        <p class="faint">%s</p>
        """,
        title, subtitle);
  }

  private void headline(Headline headline) {
    add("<section class=\"headline\">\n<h2>%s</h2>\n<div class=\"tiles\">\n", headline.title());
    for (Headline.Tile tile : headline.tiles()) {
      add(
          "<div class=\"tile\">%s<b>%s</b><span class=\"faint\">%s</span></div>\n",
          tile.label(), tile.value(), tile.where());
    }
    add(
        "</div>\n<p class=\"trust %s\"><b>%s</b> %s</p>\n</section>\n",
        headline.trust().name().toLowerCase(Locale.ROOT),
        headline.trust().words(),
        String.join(" ", headline.reasons()));
  }

  private void contents(List<Section> sections) {
    page.append("<nav><ul>\n");
    sections.forEach(
        section -> add("<li><a href=\"#%s\">%s</a></li>\n", section.id(), section.title()));
    page.append("</ul></nav>\n");
  }

  private void section(Section section) {
    add("<section id=\"%s\">\n<h2>%s</h2>\n", section.id(), section.title());
    if (!section.text().isEmpty()) {
      add("<p>%s</p>\n", section.text());
    }
    if (!section.notes().isEmpty()) {
      page.append("<ul class=\"notes\">\n");
      section.notes().forEach(note -> add("<li>%s</li>\n", note));
      page.append("</ul>\n");
    }
    for (Plot plot : section.plots()) {
      if (!plot.isEmpty()) {
        page.append("<figure style=\"margin:0\">\n").append(SvgPlot.inline(plot));
        if (!plot.title().equals(section.title())) {
          add("\n<figcaption class=\"faint\">%s</figcaption>", plot.title());
        }
        page.append("\n</figure>\n");
      }
    }
    section.tables().forEach(this::table);
    page.append("</section>\n");
  }

  /**
   * Appends a table. If it has more than two columns, each row is a paragraph in a narrow window,
   * in which each cell begins with its column's name.
   */
  private void table(Table table) {
    boolean words = table.header().size() == 2;
    add("<div class=\"scroll\"><table class=\"%s\">\n", words ? "words" : "rows");
    if (!table.caption().isEmpty()) {
      add("<caption>%s</caption>\n", table.caption());
    }
    page.append("<tr>");
    table.header().forEach(name -> add("<th>%s</th>", name));
    page.append("</tr>\n");
    for (List<String> cells : table.rows()) {
      page.append("<tr>");
      for (int i = 0; i < cells.size(); i++) {
        if (words) {
          add("<td>%s</td>", cells.get(i));
        } else {
          add("<td data-name=\"%s\">%s</td>", table.header().get(i), cells.get(i));
        }
      }
      page.append("</tr>\n");
    }
    page.append("</table></div>\n");
  }
}
