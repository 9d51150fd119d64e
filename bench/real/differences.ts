/** Explains, page by page, why two crawlers fetched different pages of a site. */
import type { LinkGraph } from "./link-graph.ts";
import type { Requests } from "./requests.ts";
import { printNames } from "./table.ts";

type Named = Requests & { name: string };

/** Pages that the other has and the first lacks, by reason. */
function missingBy(first: Named, other: Named, graph: LinkGraph): Map<string, string[]> {
  const framed = new Set([...graph.pages.values()].flatMap((page) => page.framed));
  const reasons = new Map<string, string[]>();
  for (const path of other.pages.keys()) {
    if (first.pages.has(path)) continue;
    const reason = !graph.pages.has(path)
      ? "no link, frame or refresh of a page leads there"
      : framed.has(path)
        ? "a frame or refresh leads there"
        : "a link leads there";
    const paths = reasons.get(reason);
    if (paths === undefined) reasons.set(reason, [path]);
    else paths.push(path);
  }
  return reasons;
}

export function differences(own: Named, other: Named, graph: LinkGraph): void {
  for (const [reason, paths] of missingBy(own, other, graph))
    printNames(`${other.name} has, orb has not; ${reason}`, paths);
  for (const [reason, paths] of missingBy(other, own, graph))
    printNames(`orb has, ${other.name} has not; ${reason}`, paths);
}
