// Copy and paste as text: a part of a page is a page, so it can be pasted into a file, a message or another studio.
import { type Edge, emptyView, type Page, readPage } from './page';

/** The named blocks with the wires among them, and what is typed at or marked on those. */
export function partOf(page: Page, ids: readonly string[], likes: ReadonlyMap<string, Edge>): Page {
  const chosen = new Set(ids);
  for (const [from, to] of page.edges) {
    if (chosen.has(to[0]) && page.view.typed.includes(from[0])) chosen.add(from[0]);
  }
  for (const [like, source] of likes) {
    const readers = page.edges.filter(([from]) => from[0] === like);
    if (chosen.has(source[0][0]) && readers.some(([, to]) => chosen.has(to[0]))) chosen.add(like);
  }
  const { view } = page;
  return {
    convgrad: 1,
    nodes: page.nodes.filter((node) => chosen.has(node.id)),
    edges: page.edges.filter(([from, to]) => chosen.has(from[0]) && chosen.has(to[0])),
    view: {
      ...emptyView,
      at: Object.fromEntries(Object.entries(view.at).filter(([id]) => chosen.has(id))),
      groups: view.groups.filter((group) => group.members.every((id) => chosen.has(id))),
      notes: view.notes.filter((note) => chosen.has(note.id)),
      typed: view.typed.filter((id) => chosen.has(id)),
    },
  };
}

export function readPart(text: string): Page | undefined {
  try {
    const part = readPage(JSON.parse(text));
    return part.nodes.length + part.view.notes.length > 0 ? part : undefined;
  } catch {
    return undefined;
  }
}
