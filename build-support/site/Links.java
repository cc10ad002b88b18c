// SPDX-License-Identifier: Apache-2.0
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Set;

/** The files of the site to which links in Markdown refer. */
class Links {

  /**
   * Where a link leads.
   *
   * @param destination the link in the site
   * @param name the page, by the path of its Markdown file from the root of the sources; otherwise
   *     empty
   */
  record Target(String destination, String name) {

    boolean isPage() {
      return !name.isEmpty();
    }
  }

  private final Path root;
  private final Set<String> pages;
  private final Sources sources;

  Links(Path root, Set<String> pages, Sources sources) {
    this.root = root;
    this.pages = pages;
    this.sources = sources;
  }

  boolean isPage(String name) {
    return pages.contains(name);
  }

  /**
   * Returns the target of a link. A folder of sources, and a file in the root folder, become pages.
   */
  Target resolve(Page from, String destination) {
    if (destination.startsWith("#") || destination.matches("[a-z]+:.*")) {
      return new Target(destination, "");
    }
    String[] pathAndAnchor = destination.split("#", 2);
    String anchor = pathAndAnchor.length == 1 ? "" : "#" + pathAndAnchor[1];
    String name =
        Path.of("/" + from.name())
            .resolveSibling(pathAndAnchor[0])
            .normalize()
            .toString()
            .substring(1);
    if (isPage(name)) {
      return new Target(from.pathTo(Page.target(name)) + anchor, name);
    }
    if (!Files.exists(root.resolve(name))) {
      throw new IllegalStateException(from.name() + " links to " + name + ", which does not exist");
    }
    Path folder = Path.of(name).getParent();
    if (Files.isRegularFile(root.resolve(name)) && folder != null) {
      Page page = sources.add(folder.toString());
      anchor = "#" + page.anchor(Path.of(name).getFileName().toString());
      return new Target(from.pathTo(page.target()) + anchor, "");
    }
    return new Target(from.pathTo(sources.add(name).target()) + anchor, "");
  }
}
