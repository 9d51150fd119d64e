/** Figures that pages give for limits which nobody can configure: the sentence is made from the constant. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { RETRY_RULES } from "../../src/api-client/retry.ts";
import { DEFAULT_PAGE, LARGEST_PAGE } from "../../src/api/paging.ts";
import { DEFAULT_LIMITS } from "../../src/api/deps.ts";
import { ALERT_RETRY, alertRetryWait } from "../../src/domain/run/alerts.ts";
import { FAILED_PROBES_BEFORE_GIVING_UP } from "../../src/domain/lane/circuit.ts";
import { MAX_JSON_VALUES } from "../../src/domain/text/json-size.ts";
import { LANE_SLICE_MS } from "../../src/domain/lane/lane-share.ts";
import { LEARNED_FOR_MS } from "../../src/domain/page/learned.ts";
import { SCROLL_TO_END } from "../../src/domain/page/page-options.ts";
import { CHECKED_AT_ONCE, PROXIES_PER_CHUNK } from "../../src/domain/proxy/proxy-refresh.ts";
import { REST_MAX_MS } from "../../src/domain/proxy/proxy-score.ts";
import { QUEUE_ITEM_LIMITS } from "../../src/domain/lane/queue-item.ts";
import { NEAR_BUDGET } from "../../src/domain/run/retention.ts";
import {
  MOST_ITEMS,
  MOST_OUTPUT_BYTES,
  MOST_STEPS,
  STEP_DEFAULTS,
  STEP_RETRY,
} from "../../src/domain/workflow/definition.ts";
import { EXPRESSION_LIMITS } from "../../src/domain/workflow/expression-syntax.ts";
import { DEFINITION_LIMITS } from "../../src/domain/workflow/plain-json.ts";
import { MAX_DEPTH, MAX_NODES } from "../../src/extract/dom/open-elements.ts";
import { MAX_TEXT } from "../../src/extract/dom/nodes.ts";
import { PAGE_LIMITS } from "../../src/firecrawl/status.ts";
import { MOST_DISTANCE } from "../../src/images/near.ts";
import {
  DEFAULT_TIMEOUT_SECONDS,
  EXTRACTOR_TIMEOUT_SECONDS,
  STEP_TIMEOUT_SECONDS,
} from "../../src/lanes/handlers/user/protocol.ts";
import { GATHER_MS, SHARED_PAUSE_MS } from "../../src/lanes/owner/settler.ts";
import { MOST_CHARS, NORMAL_CHARS } from "../../src/mcp/shapes.ts";
import { MOST_AT_ONCE as MOST_RUNS_AT_ONCE } from "../../src/orchestrator/runs/bulk.ts";
import { MOST_QUEUED } from "../../src/store/ports/schedule-port.ts";
import { SEARCHED_TASKS } from "../../src/store/ports/progress-port.ts";
import { MAX_SINGLE_ALERTS } from "../../src/supervisor/failed-runs.ts";
import { LOG_RULES } from "../../src/supervisor/processes/log-file.ts";
import { PULSE_MS } from "../../src/supervisor/registration.ts";
import { PACE } from "../../src/supervisor/processes/restarts.ts";
import { WEBHOOK_TRY_MS } from "../../src/supervisor/webhook-sender.ts";
import { read } from "../support/source.ts";

const figure = (number: number) => number.toLocaleString("en-US");
const WORDS = ["zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten"];
const word = (number: number) => WORDS[number] ?? figure(number);
const seconds = (ms: number) => ms / 1000;
const KIB = 1024;
const MIB = 1024 * KIB;

function alertHours(): number {
  let ms = 0;
  for (let tries = 1, wait; (wait = alertRetryWait(ALERT_RETRY, tries)) !== null; tries += 1) ms += wait;
  return Math.round(ms / 3_600_000);
}

const api = DEFAULT_LIMITS;
const FIGURES: Readonly<Record<string, readonly string[]>> = {
  "docs/api.md": [
    `\`limit\` (1 to ${LARGEST_PAGE}, default ${DEFAULT_PAGE})`,
    `Bodies are JSON in UTF-8, up to ${api.bodyBytes / MIB} MiB. `,
    `\`POST /extract/learn\` and \`POST /mcp\` accept ${api.workflowBytes / MIB} MiB`,
    `the URL has more than ${api.urlLength} characters`,
    `the headers have more than ${api.headerBytes / KIB} KiB`,
    `a comment comes every ${seconds(api.heartbeatMs)} seconds`,
    `Headers must arrive within ${seconds(api.headersMs)} seconds, the whole request within ${seconds(api.requestMs)}.`,
    `At most ${api.connections} connections are open; at most ${api.unprovenConnections} of them, and ${api.unprovenPerAddress} per address, are unauthenticated`,
    `An idle connection is closed after ${seconds(api.keepAliveMs)} seconds`,
    `${api.bodyBytesPerSecond} bytes a second is refused after ${seconds(api.slowBodyMs)} seconds`,
    `names up to ${figure(MOST_RUNS_AT_ONCE)} runs`,
  ],
  "docs/client.md": [
    `| \`retries\` | ${RETRY_RULES.retries} |`,
    `up to ${seconds(RETRY_RULES.longestMs)} s; otherwise ${RETRY_RULES.baseMs} ms`,
  ],
  "docs/concepts.md": [
    `they take turns of ${word(seconds(LANE_SLICE_MS))} seconds`,
    `When ${word(FAILED_PROBES_BEFORE_GIVING_UP)} probes have failed`,
  ],
  "docs/dashboard.md": [`uses the newest ${figure(SEARCHED_TASKS)} pages`],
  "docs/documents.md": [
    `"max_steps": ${SCROLL_TO_END.steps}, "max_seconds": ${SCROLL_TO_END.seconds}`,
    `Each text ends after ${figure(MAX_TEXT)} characters`,
  ],
  "docs/extraction.md": [
    `| depth of elements | ${MAX_DEPTH}, as in Chromium |`,
    `| nodes of a page | ${figure(MAX_NODES)} |`,
    `| text of one element, Markdown, HTML | ${figure(MAX_TEXT)} characters |`,
    `| values of a JSON body or script | ${figure(MAX_JSON_VALUES)} |`,
  ],
  "docs/extractors.md": [`seconds per page, default ${EXTRACTOR_TIMEOUT_SECONDS}`],
  "docs/firecrawl.md": [
    `pages of up to ${PAGE_LIMITS.documents} documents or ${PAGE_LIMITS.bytes / MIB} MiB`,
    `does not answer 2xx within ${seconds(WEBHOOK_TRY_MS)} seconds`,
    `up to ${ALERT_RETRY.tries} tries in a row over about ${alertHours()} hours`,
  ],
  "docs/images.md": [`0 to ${MOST_DISTANCE}, default 8`],
  "docs/jobs.md": [
    `(${word(MOST_QUEUED)} may\nwait`,
    LEARNED_FOR_MS === 86_400_000 ? "What worked is remembered for a day" : "…",
  ],
  "docs/mcp.md": [`${figure(NORMAL_CHARS)} by default, ${figure(MOST_CHARS)} at most`],
  "docs/monitoring.md": [
    `: ${word(ALERT_RETRY.tries)} tries within about ${alertHours()} hours`,
    `the first ${word(MAX_SINGLE_ALERTS)} of a minute are sent individually`,
    `take ${NEAR_BUDGET * 100} % of \`APP_DISK_BUDGET_MB\``,
  ],
  "docs/operations.md": [
    `Each worker sends a heartbeat every ${word(seconds(PULSE_MS))} seconds`,
    `At ${NEAR_BUDGET * 100} % of \`APP_DISK_BUDGET_MB\``,
  ],
  "docs/proxies.md": [
    `one task per ${PROXIES_PER_CHUNK} proxies; a task checks ${CHECKED_AT_ONCE} at a time`,
    REST_MAX_MS === 3_600_000 ? "it rests for 30 seconds, doubling each time up to an hour" : "…",
  ],
  "docs/queue.md": [
    `up to ${QUEUE_ITEM_LIMITS.artifactIdLength} characters; unique in the queue`,
    `from -${QUEUE_ITEM_LIMITS.priority} to ${QUEUE_ITEM_LIMITS.priority}`,
    `any JSON up to ${QUEUE_ITEM_LIMITS.payloadBytes / KIB} KiB`,
    `the default is ${DEFAULT_TIMEOUT_SECONDS} seconds`,
  ],
  "docs/scaling.md": [
    `every ${SHARED_PAUSE_MS} ms under load; after a quiet period, ${GATHER_MS} ms after the first outcome`,
  ],
  "docs/steps.md": [
    `seconds per attempt, default ${STEP_TIMEOUT_SECONDS}`,
    `its output, at most ${MOST_OUTPUT_BYTES / KIB} KiB`,
  ],
  "docs/supervisor.md": [
    `again after ${seconds(PACE.firstMs)} s, then 1 s, 2 s and so on up to ${seconds(PACE.longestMs)} s`,
    `more than ${word(PACE.deaths)} times in a minute`,
    `at ${LOG_RULES.maxBytes / MIB} MB it becomes \`NAME.log.1\`, and ${word(LOG_RULES.keep)} of those are kept`,
  ],
  "docs/workflow-definitions.md": [
    `\`steps\` (at most ${figure(MOST_STEPS)})`,
    `at most ${figure(DEFINITION_LIMITS.characters)} characters and ${figure(DEFINITION_LIMITS.values)} values`,
    `An expression has at most ${figure(EXPRESSION_LIMITS.length)} characters`,
  ],
  "docs/workflows.md": [
    `an object, at most ${MOST_OUTPUT_BYTES / KIB} KiB as JSON`,
    `\`max_retries\` (${STEP_DEFAULTS.max_retries}) are retries after the first attempt, 1, 2, 4, 8 … seconds apart (at most ${seconds(STEP_RETRY.maxMs)},`,
    `\`concurrency\` (${STEP_DEFAULTS.concurrency}) at a time`,
    `at most ${figure(MOST_ITEMS)} entries`,
    `At most \`max_recovery_attempts\` (${STEP_DEFAULTS.max_recovery_attempts}) times`,
  ],
};

for (const [page, sentences] of Object.entries(FIGURES))
  test(`${page} gives the limits that hold`, () => {
    const text = read(page).replace(/\s+/g, " ");
    for (const sentence of sentences) assert.ok(text.includes(sentence.replace(/\s+/g, " ")), sentence);
  });
