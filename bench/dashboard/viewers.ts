/**
 * Dashboard viewers in a separate process: `node viewers.ts URL RUN`. The parent sets their number; each follows the
 * live stream and repeats the requests of its page: half have the run's page open, the others the overview. Reports how
 * many streams are open and, on request, how much they have read.
 */
import { Agent, request } from "undici";

const [url = "", run = ""] = process.argv.slice(2);
const AGAIN_MS = 5000;
const dispatcher = new Agent({ connections: 200, bodyTimeout: 0 });
const viewers: AbortController[] = [];
let bytes = 0;
let open = 0;

const ask = async (path: string) => {
  const answer = await request(url + path, { dispatcher });
  bytes += (await answer.body.arrayBuffer()).byteLength;
};

async function view(pages: readonly string[], again: readonly string[], signal: AbortSignal): Promise<void> {
  await Promise.all(pages.map(ask));
  const stream = await request(`${url}/live/stream`, { dispatcher, signal });
  open += 1;
  process.send?.({ open });
  const timer = setInterval(() => void Promise.all(again.map(ask)), AGAIN_MS);
  try {
    for await (const chunk of stream.body) bytes += (chunk as Buffer).byteLength;
  } catch (error) {
    if (!signal.aborted) throw error;
  } finally {
    clearInterval(timer);
    open -= 1;
    process.send?.({ open });
  }
}

const ofRun = [`/jobs/runs/${run}`, `/scraping/tasks/${run}/status`];

process.on("message", (wanted: number | "read") => {
  if (wanted === "read") process.send?.({ bytes });
  else {
    while (viewers.length > wanted) viewers.pop()!.abort();
    while (viewers.length < wanted) {
      const controller = new AbortController();
      const [pages, again] =
        viewers.length % 2 === 0
          ? [["/session", ...ofRun, `/jobs/runs/${run}/events?limit=1000`], ofRun]
          : [["/session", "/overview"], []];
      viewers.push(controller);
      void view(pages, again, controller.signal);
    }
    if (open === wanted) process.send?.({ open });
  }
});
process.on("disconnect", () => process.exit());
