// SPDX-License-Identifier: Apache-2.0
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Consumer;
import java.util.function.UnaryOperator;
import org.commonmark.Extension;
import org.commonmark.ext.autolink.AutolinkExtension;
import org.commonmark.ext.gfm.tables.TableBlock;
import org.commonmark.ext.gfm.tables.TableCell;
import org.commonmark.ext.gfm.tables.TablesExtension;
import org.commonmark.ext.heading.anchor.IdGenerator;
import org.commonmark.node.AbstractVisitor;
import org.commonmark.node.Block;
import org.commonmark.node.Code;
import org.commonmark.node.CustomBlock;
import org.commonmark.node.FencedCodeBlock;
import org.commonmark.node.HardLineBreak;
import org.commonmark.node.Heading;
import org.commonmark.node.IndentedCodeBlock;
import org.commonmark.node.Link;
import org.commonmark.node.Node;
import org.commonmark.node.SoftLineBreak;
import org.commonmark.node.Text;
import org.commonmark.parser.Parser;
import org.commonmark.renderer.NodeRenderer;
import org.commonmark.renderer.html.HtmlNodeRendererContext;
import org.commonmark.renderer.html.HtmlRenderer;
import org.commonmark.renderer.html.HtmlWriter;

/** A page in Markdown. */
class Page {

  private static final List<Extension> EXTENSIONS =
      List.of(TablesExtension.create(), AutolinkExtension.create());
  private static final Parser PARSER = Parser.builder().extensions(EXTENSIONS).build();

  /** The text from a heading to the next one. */
  record Section(String title, String anchor, String text) {}

  /** A table that scrolls, so that a wide one does not widen the page. */
  private static final class Scrolling extends CustomBlock {}

  private final String name;
  private final Node document;
  private final Map<Heading, String> anchors = new LinkedHashMap<>();

  /**
   * Parses a page.
   *
   * @param name the path of its file from the root of the sources
   */
  Page(String name, String markdown) {
    this.name = name;
    document = PARSER.parse(markdown);
    IdGenerator ids = IdGenerator.builder().build();
    List<TableBlock> tables = new ArrayList<>();
    visitBlocks(
        document,
        block -> {
          if (block instanceof Heading heading) {
            anchors.put(heading, ids.generateId(text(heading)));
          } else if (block instanceof TableBlock table) {
            tables.add(table);
          }
        });
    for (TableBlock table : tables) {
      Scrolling scrolling = new Scrolling();
      table.insertBefore(scrolling);
      scrolling.appendChild(table);
    }
    if (anchors.isEmpty()) {
      throw new IllegalStateException(name + " has no heading");
    }
  }

  private static void visitBlocks(Node parent, Consumer<Block> visitor) {
    for (Node child = parent.getFirstChild(); child != null; child = child.getNext()) {
      if (child instanceof Block block) {
        visitor.accept(block);
        visitBlocks(block, visitor);
      }
    }
  }

  String name() {
    return name;
  }

  /** Returns the path of the HTML file from the root of the site. */
  String target() {
    return target(name);
  }

  /** Returns the path of the HTML file of a page, which is an index if it is a folder's README. */
  static String target(String name) {
    return name.replaceFirst("\\.md$", "").replaceFirst("(^|/)README$", "$1index") + ".html";
  }

  /** Returns a relative link from this page to another file of the site. */
  String pathTo(String other) {
    Path folder = Path.of("/" + target()).getParent();
    return folder.relativize(Path.of("/" + other)).toString();
  }

  /** Returns the text of the first heading. */
  String title() {
    return text(anchors.keySet().iterator().next());
  }

  /** Returns the anchor of the first heading with a text. */
  String anchor(String heading) {
    return anchors.entrySet().stream()
        .filter(entry -> text(entry.getKey()).equals(heading))
        .findFirst()
        .orElseThrow()
        .getValue();
  }

  /**
   * Makes links refer to the site. A link's text that is the name of a page becomes that page's
   * title.
   */
  void resolveLinks(Links links, UnaryOperator<String> titles) {
    document.accept(
        new AbstractVisitor() {
          @Override
          public void visit(Link link) {
            Links.Target target = links.resolve(Page.this, link.getDestination());
            if (target.isPage()
                && link.getFirstChild() instanceof Text text
                && text.getNext() == null
                && (target.name().equals(text.getLiteral())
                    || target.name().endsWith("/" + text.getLiteral()))) {
              text.setLiteral(titles.apply(target.name()));
            }
            link.setDestination(target.destination());
            visitChildren(link);
          }
        });
  }

  /** Returns the links to the sections and their subsections as a list. */
  String contents() {
    StringBuilder html = new StringBuilder("<p>On this page</p>\n<ul>\n");
    anchors.forEach((heading, anchor) -> {
      if (heading.getLevel() == 2 || heading.getLevel() == 3) {
        html.append(
            "<li class=\"level%d\"><a href=\"#%s\">%s</a></li>\n"
                .formatted(heading.getLevel(), anchor, Html.escape(text(heading))));
      }
    });
    return html.append("</ul>\n").toString();
  }

  String html() {
    return HtmlRenderer.builder()
        .extensions(EXTENSIONS)
        .nodeRendererFactory(PartRenderer::new)
        .attributeProviderFactory(context ->
            (node, tag, attributes) -> {
              if (node instanceof TableCell && attributes.containsKey("align")) {
                attributes.put("class", attributes.remove("align")); // The attribute is obsolete.
              }
            })
        .build()
        .render(document)
        .replaceAll(
            "<th( class=\"\\w+\")?></th>",
            "<td></td>"); // An empty cell is no heading to a screen reader.
  }

  /** Renders headings with their anchors, and tables in boxes that scroll. */
  private final class PartRenderer implements NodeRenderer {
    private final HtmlNodeRendererContext context;
    private final HtmlWriter html;

    PartRenderer(HtmlNodeRendererContext context) {
      this.context = context;
      html = context.getWriter();
    }

    @Override
    public Set<Class<? extends Node>> getNodeTypes() {
      return Set.of(Heading.class, Scrolling.class);
    }

    @Override
    public void render(Node node) {
      String tag = node instanceof Heading heading ? "h" + heading.getLevel() : "div";
      html.line();
      if (node instanceof Heading heading) {
        html.tag(tag, Map.of("id", anchors.get(heading)));
      } else {
        html.tag(tag, Map.of("class", "scrolling"));
      }
      for (Node child = node.getFirstChild(); child != null; child = child.getNext()) {
        context.render(child);
      }
      if (node instanceof Heading heading && heading.getLevel() > 1) {
        Map<String, String> attributes = new LinkedHashMap<>();
        attributes.put("class", "anchor");
        attributes.put("href", "#" + anchors.get(heading));
        attributes.put("aria-label", "Link to this section");
        html.tag("a", attributes);
        html.text("#");
        html.tag("/a");
      }
      html.tag("/" + tag);
      html.line();
    }
  }

  /** Returns the text by sections, for the search. */
  List<Section> sections() {
    List<Section> sections = new ArrayList<>();
    Heading heading = null;
    StringBuilder text = new StringBuilder();
    for (Node block = document.getFirstChild(); block != null; block = block.getNext()) {
      if (block instanceof Heading next) {
        if (heading != null) {
          sections.add(new Section(text(heading), anchors.get(heading), text.toString().strip()));
        }
        heading = next;
        text.setLength(0);
      } else {
        text.append(text(block)).append(' ');
      }
    }
    sections.add(new Section(text(heading), anchors.get(heading), text.toString().strip()));
    return sections;
  }

  /** Returns what a reader sees of a node, on one line. */
  private static String text(Node node) {
    StringBuilder text = new StringBuilder();
    node.accept(
        new AbstractVisitor() {
          @Override
          public void visit(Text node) {
            text.append(node.getLiteral());
          }

          @Override
          public void visit(Code node) {
            text.append(node.getLiteral());
          }

          @Override
          public void visit(FencedCodeBlock node) {
            text.append(node.getLiteral());
          }

          @Override
          public void visit(IndentedCodeBlock node) {
            text.append(node.getLiteral());
          }

          @Override
          public void visit(SoftLineBreak node) {
            text.append(' ');
          }

          @Override
          public void visit(HardLineBreak node) {
            text.append(' ');
          }

          @Override
          protected void visitChildren(Node parent) {
            super.visitChildren(parent);
            if (parent instanceof Block || parent instanceof TableCell) {
              text.append(' ');
            }
          }
        });
    return text.toString().replaceAll("\\s+", " ").strip();
  }
}
