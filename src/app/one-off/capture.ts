/** Finds the API calls of a page, and the job that repeats each. Part of the composition root: it opens a browser. */
import { openClient } from "../context.ts";
import { systemClock } from "../../base/clock.ts";
import { OrbError } from "../../base/errors.ts";
import type { Log } from "../../base/log.ts";
import type { CapturedCall, CapturedPage, CaptureOptions } from "../../cli/scrape/capture-view.ts";
import type { Config } from "../../config/options.ts";
import type { Credentials } from "../../domain/text/credentials.ts";
import { FetchFailure } from "../../domain/run/failure.ts";
import { shownUrl } from "../../domain/text/url.ts";
import type { OpenPage } from "../../fetch/browser/instance.ts";
import { navigationFailure } from "../../fetch/browser/navigation-failure.ts";
import { readHar } from "../../fetch/replay/har.ts";
import { writeJob } from "../../fetch/replay/job.ts";
import { rankExchanges, rankUnseen } from "../../fetch/replay/rank.ts";
import type { RankedExchange } from "../../fetch/replay/ranked.ts";
import { recordExchanges, visibleText } from "../../fetch/replay/record.ts";
import { parseAddressPolicy } from "../../net/address.ts";
import { checkUrl } from "../../net/guard.ts";
import { openBrowser } from "../page-tools.ts";
import { SEALED_FOR_SESSION } from "../../pages/access.ts";

/** Opens the page, records its calls until it has settled, and ranks them. */
export async function capturePage(
  config: Config,
  log: Log,
  url: string,
  options: CaptureOptions,
): Promise<CapturedPage> {
  const target = checkUrl(url, parseAddressPolicy(config.allowPrivateNetworks));
  const credentials = options.sessionId === undefined ? null : await credentialsOf(config, options.sessionId, target);
  const pool = openBrowser(config, log, systemClock);
  const stopped = Promise.withResolvers<never>();
  stopped.promise.catch(() => {});
  const stop = () => stopped.reject(new FetchFailure("run_cancelled", "the capture was stopped"));
  options.signal.addEventListener("abort", stop, { once: true });
  try {
    const look = pool.withPage({ credentials, signal: options.signal }, (opened) => listen(opened, target, options));
    return await Promise.race([look, stopped.promise]);
  } finally {
    options.signal.removeEventListener("abort", stop);
    await pool.close();
  }
}

async function listen({ page, guest }: OpenPage, url: URL, options: CaptureOptions): Promise<CapturedPage> {
  const { timeoutMs, waitFor } = options;
  const deadline = systemClock.monotonic() + timeoutMs;
  const left = () => Math.max(1, deadline - systemClock.monotonic());
  const recording = recordExchanges(page, { clock: systemClock });
  try {
    try {
      await page.goto(url.href, { waitUntil: "domcontentloaded", timeout: timeoutMs });
    } catch (error) {
      if ((error as Error).name === "TimeoutError")
        throw new FetchFailure("timeout_total", `${url.host} did not answer in time`, { cause: error });
      throw guest.failureOf(url.host) ?? navigationFailure(error, url.host);
    }
    if (waitFor !== undefined)
      await page.waitForSelector(waitFor, { timeout: left(), state: "attached" }).catch((error: unknown) => {
        throw new OrbError("input_invalid", `--wait-for: nothing on the page matched "${waitFor}" in time`, {
          cause: error,
          fields: [{ path: "wait_for", message: "nothing on the page matched in time" }],
        });
      });
    const settled = await recording.settled(left());
    const ranked = rankExchanges(recording.exchanges, await visibleText(page));
    const calls = ranked.map((one) => ({ ...callOf(one), coverage: one.coverage }));
    return {
      url: shownUrl(page.url()),
      title: await page.title(),
      settled,
      dropped: recording.dropped,
      // The page itself is the browser fallback, should the call be rejected.
      calls: calls.map((call) => ({ ...call, job: { ...call.job, target_url: shownUrl(url.href) } })),
    };
  } finally {
    recording.stop();
  }
}

/** From a HAR file. The rendered page is unknown, so the longest lists rank first. */
export function captureHar(text: string): CapturedPage {
  const { ok, errors } = readHar(text);
  if (ok === undefined) {
    const list = errors.map(({ path, message }) => (path === "" ? message : `${path}: ${message}`)).join("; ");
    throw new OrbError("input_invalid", `--har: ${list}`, { fields: errors });
  }
  const calls = rankUnseen(ok.exchanges).map(callOf);
  return { url: null, title: null, settled: true, dropped: 0, calls };
}

function callOf(ranked: RankedExchange): CapturedCall {
  const { exchange, pages, items, pagination } = ranked;
  const { job, left_out } = writeJob(ranked);
  const url = (job.replay.request["url"] ?? exchange.request.url) as string;
  return {
    method: exchange.request.method,
    url: shownUrl(url),
    status: exchange.response.status,
    bytes: Buffer.byteLength(exchange.response.body),
    coverage: null,
    pages,
    items: items === null ? null : { path: items.path, count: items.count },
    pagination: pagination?.kind ?? null,
    job,
    left_out,
  };
}

async function credentialsOf(config: Config, id: string, url: URL): Promise<Credentials> {
  await using client = await openClient(config);
  const session = await client.store.session(id);
  const wrong =
    session === null
      ? "there is no session with this id or name"
      : session.origin === url.origin
        ? null
        : `belongs to ${session.origin} and is not sent to ${url.origin}`;
  if (session === null || wrong !== null)
    throw new OrbError("input_invalid", `--session: ${wrong}`, { fields: [{ path: "session", message: wrong ?? "" }] });
  return client.seal.open(session.sealed, SEALED_FOR_SESSION) as Credentials;
}
