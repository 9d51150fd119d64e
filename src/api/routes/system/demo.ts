import { OrbError } from "../../../base/errors.ts";
import type { ApiDeps, DemoOffer } from "../../deps.ts";
import type { ApiInstance } from "../../instance.ts";
import { nullable, problemAnswer, strict } from "../../schemas.ts";
import { Type } from "../../type.ts";

const NO_SERVER = "this process is no server";

/** A small bookshop on the server's machine, for a first crawl. */
export function demoRoutes(api: ApiInstance, { demo }: ApiDeps): void {
  api.get(
    "/demo-site",
    {
      schema: {
        summary: "Whether the demo site can be had here, and whether it runs",
        operationId: "getDemoSite",
        tags: ["server"],
        response: {
          200: strict({
            available: Type.Boolean(),
            why_not: nullable(Type.String()),
            url: nullable(Type.String({ description: "null: it does not run" })),
          }),
        },
      },
    },
    async () => {
      const why = whyNot(demo);
      return { available: why === null, why_not: why, url: (await demo?.url()) ?? null };
    },
  );

  api.post(
    "/demo-site",
    {
      schema: {
        summary:
          "Start the demo site: on this machine alone, until the server stops; starting it again changes nothing",
        operationId: "startDemoSite",
        tags: ["server"],
        response: {
          200: strict({
            url: Type.String(),
            browser: Type.Boolean({ description: "whether there is one for the pages of it that need one" }),
            crawl: Type.Record(Type.String(), Type.Unknown(), {
              description: "a crawl of it, for POST /scraping/async-scrape",
            }),
          }),
          409: problemAnswer("another process does the work here"),
        },
      },
    },
    async () => {
      if (demo === null) throw new OrbError("demo_unavailable", NO_SERVER);
      return demo.open();
    },
  );
}

function whyNot(demo: DemoOffer | null): string | null {
  return demo === null ? NO_SERVER : demo.whyNot();
}
