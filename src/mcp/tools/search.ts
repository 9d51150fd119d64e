import { SearchOrder } from "../../api/routes/pages/search.ts";
import { nullable, strict } from "../../api/schemas.ts";
import { Type } from "../../api/type.ts";
import type { Answer } from "../../api-client/client.ts";
import { costOf, short, takeFitting } from "../bounds.ts";
import { MaxChars, NORMAL_CHARS, Text } from "../shapes.ts";
import { defineTool } from "../tool.ts";

/** Reserved for warnings and notes. */
const AROUND = 600;

type Found = Answer<"post /search">["web"][number];

export const search = defineTool({
  name: "search",
  title: "Search the web",
  description:
    "Search the web through the operator's search server; nothing is stored. Returns addresses with titles and short descriptions, not the pages. Read one with scrape, or many with crawl_start: their URLs and max_depth 0.",
  input: strict({ ...SearchOrder.properties, max_chars: MaxChars }),
  output: strict({
    results: Type.Array(
      strict({
        source: Type.String(),
        title: Type.String(),
        url: Type.String(),
        description: Text,
        published: Text,
        image: nullable(Type.String({ description: "address of the image" })),
      }),
    ),
    warnings: Type.Array(Type.String()),
    notes: Type.Array(Type.String()),
  }),
  role: "operator",
  hints: { reads: true, open: true },
  call: async ({ max_chars: maxChars = NORMAL_CHARS, ...order }, { api, signal }) => {
    const { web, news, images, warnings: all } = await api.search.web(order, { signal });
    const warnings = takeFitting(
      all.map((warning) => short(warning, 200) ?? ""),
      maxChars / 8,
    );
    const found = [
      ...web.map((result) => shown("web", result)),
      ...news.map((result) => shown("news", result)),
      ...images.map((result) => shown("images", result)),
    ];
    const results = takeFitting(found, maxChars - AROUND - costOf(warnings));
    return { results, warnings, notes: notesOf(results.length, found.length) };
  },
});

const shown = (source: string, { title, url, description, published, image }: Found) => ({
  source,
  title: short(title, 300) ?? "",
  url,
  description: description === "" ? null : short(description),
  published,
  image,
});

function notesOf(shownResults: number, all: number): string[] {
  if (all === 0) return ["nothing found: use other or fewer words, or leave out the filters"];
  return shownResults === all
    ? []
    : [`the first ${shownResults} of ${all} results are shown; raise max_chars for more`];
}
