import { OrbError } from "../../../base/errors.ts";
import type { ApiDeps, DemoOffer } from "../../deps.ts";
import type { ApiInstance } from "../../instance.ts";
import { nullable, problemAnswer, strict } from "../../schemas.ts";
import { Type } from "../../type.ts";

const NO_SERVER = "this process is not a server";

/** A small bookshop on the server's machine, for a first crawl. */
export function demoRoutes(api: ApiInstance, { demo }: ApiDeps): void {
  api.get(
    "/demo-site",
    {
      config: { role: "viewer" },
      schema: {
        summary: "Whether the demo site is available on this server, and whether it runs",
        operationId: "getDemoSite",
        tags: ["server"],
        response: {
          200: strict({
            available: Type.Boolean(),
            why_not: nullable(Type.String()),
            url: nullable(Type.String({ description: "null: it is not running" })),
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
      config: { role: "operator", audit: "demo_site.opened" },
      schema: {
        summary:
          "Start the demo site, reachable only from this machine, until the server stops; if it already runs, nothing changes",
        operationId: "startDemoSite",
        tags: ["server"],
        response: {
          200: strict({
            url: Type.String(),
            browser: Type.Boolean({ description: "whether a browser is available for its pages that need one" }),
            crawl: Type.Record(Type.String(), Type.Unknown(), {
              description: "a crawl of it, for POST /scraping/async-scrape",
            }),
          }),
          409: problemAnswer("this server runs no worker"),
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
