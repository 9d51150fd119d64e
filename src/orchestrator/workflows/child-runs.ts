/** The runs that workflow steps start: ordinary runs, created from the step's params. */
import { type FieldError, isOrbError } from "../../base/errors.ts";
import type { CrawlInput } from "../../domain/crawl/crawl-options.ts";
import { FetchFailure } from "../../domain/run/failure.ts";
import { laneOfSite } from "../../domain/lane/lane.ts";
import { sealAddress } from "../../domain/text/sealed-text.ts";
import { siteOf } from "../../domain/text/url.ts";
import type { NewRun, NewTask } from "../../store/records/run-records.ts";
import type { ChildRuns } from "../../workflows/child-runs.ts";
import type { ChildRun } from "../../workflows/step-kind.ts";
import { crawlOptionsFrom } from "../crawls/options.ts";
import { newCrawlRun } from "../crawls/start.ts";
import type { RunDeps } from "../jobs/deps.ts";
import { invalid } from "../invalid.ts";
import { requireExtractor } from "../jobs/extractor-input.ts";
import { type JobInput, pageJobFrom } from "../jobs/input.ts";
import { readProxy } from "../jobs/proxy-input.ts";
import { needingProxies } from "../proxies/rules.ts";
import { newPageRun } from "../runs/start.ts";
import { withCrawlSession, withPageSession } from "../session-for-page.ts";

interface Prepared {
  run: NewRun;
  tasks: readonly NewTask[];
}

export function createChildRuns(deps: RunDeps): ChildRuns {
  return {
    async prepare(child, name) {
      try {
        const { run, tasks } = await prepare(deps, child);
        return { run: { ...run, name }, tasks };
      } catch (error) {
        throw isOrbError(error) && PERMANENT.has(error.code) ? asFailure(error.code, error.message) : error;
      }
    },
  };
}

/** The same request would fail again. Other errors, such as a full disk, are not the step's fault. */
const PERMANENT: ReadonlySet<string> = new Set(["input_invalid", "forbidden_target", "not_found"]);

function asFailure(code: string, message: string): FetchFailure {
  return new FetchFailure(code === "forbidden_target" ? "private_address" : "step_params", message);
}

async function prepare(deps: RunDeps, child: ChildRun): Promise<Prepared> {
  if (child.kind !== "download") await requireExtractor(deps, child.options);
  switch (child.kind) {
    case "crawl":
      return newCrawlRun(
        deps,
        await withCrawlSession(deps, crawlOptionsFrom(deps, child.options as unknown as CrawlInput)),
      );
    case "page": {
      const job = await withPageSession(
        deps,
        pageJobFrom({ ...(child.options as JobInput), target_url: child.url }, deps),
      );
      return newPageRun(deps, { ...job, id: null });
    }
    case "download":
      return newDownloadRun(deps, child);
  }
}

/** Each file is a task in the lane of its site, under that site's limits. */
function newDownloadRun(
  deps: Pick<RunDeps, "defaultMaxAttempts" | "seal" | "policy" | "proxyRules">,
  { urls, proxy: requestedProxy }: Extract<ChildRun, { kind: "download" }>,
): Prepared {
  const problems: FieldError[] = [];
  const proxy = readProxy(requestedProxy, deps, null, "proxy", problems);
  if (problems.length > 0) throw invalid(problems);
  const tasks = urls.map(({ url, data }, index): NewTask => {
    const site = siteOf(url);
    return {
      key: `file:${index}`,
      lane: laneOfSite(site),
      site,
      resolver: null,
      url: sealAddress(deps.seal, url),
      priority: 0,
      // Names the built-in handler: the default handler of queue items may be replaced by a user's module.
      handler: "download",
      payload: data,
    };
  });
  const run: NewRun = {
    kind: "download",
    maxAttempts: deps.defaultMaxAttempts,
    snapshot: { files: urls.length, ...proxy },
    meta: { files: urls.length },
  };
  return { run: needingProxies(run, deps.proxyRules), tasks };
}
