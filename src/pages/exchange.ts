import { promisify } from "node:util";
import { gzip } from "node:zlib";
import type { Clock } from "../base/clock.ts";
import type { Random } from "../base/random.ts";
import type { TaskArtifact } from "../domain/run/outcome.ts";
import { exchangeRecords, renderedRecords } from "../domain/page/warc.ts";
import { type PageAnswer, receivedOf } from "../fetch/page.ts";
import type { EvidenceStore } from "./evidence.ts";

export interface ExchangeKeeper {
  /** Stores the responses of the servers in archive format: compressed records one after the other. */
  keep(answer: PageAnswer): Promise<TaskArtifact>;
}

const compress = promisify(gzip);

export function createExchangeKeeper(
  artifacts: EvidenceStore,
  { clock, random }: { clock: Clock; random: Random },
): ExchangeKeeper {
  return {
    async keep(answer) {
      const records = recordsOf(answer, clock.now(), () => random.uuid());
      const members = await Promise.all(records.map((record) => compress(record)));
      const writer = artifacts.writer();
      await writer.write(Buffer.concat(members));
      const role = answer.notFollowed === undefined ? "exchange" : "redirect";
      return { ...(await writer.finish()), contentType: "application/warc", url: answer.finalUrl, role };
    },
  };
}

function recordsOf(answer: PageAnswer, now: number, uuid: () => string): Buffer[] {
  const { exchanges } = answer;
  const { body } = receivedOf(answer);
  if (exchanges === undefined) return rendered(answer, now, uuid);
  const last = exchanges.length - 1;
  // Redirect bodies are not read.
  const bodyOf = (index: number) => (index === last && answer.notFollowed === undefined ? Buffer.from(body) : null);
  return exchanges.flatMap((exchange, index) => exchangeRecords(exchange, bodyOf(index), uuid));
}

function rendered(answer: PageAnswer, now: number, uuid: () => string): Buffer[] {
  const about = [
    ["renderedBy", answer.browser ?? "a browser"],
    ["httpStatus", String(answer.status)],
    ...answer.redirects.map(({ status, from }) => ["redirectedFrom", `${status} ${from}`]),
  ] as [string, string][];
  const html = typeof answer.body === "string" ? answer.body : Buffer.from(answer.body).toString("utf8");
  return renderedRecords({ url: answer.finalUrl, html, at: now, about }, uuid);
}
