import { type Command, Option } from "commander";
import { OrbError } from "../../base/errors.ts";
import { parseQueueItem } from "../../domain/lane/queue-item.ts";
import { QUEUE_STATES, type QueueState } from "../../domain/run/states.ts";
import { canonicalUrl, shownUrl } from "../../domain/text/url.ts";
import { importTo } from "../../orchestrator/queue/import.ts";
import type { QueueItemDetail } from "../../orchestrator/queue/items.ts";
import { apiCommand, definedOnly, type UrlOption } from "../api/command.ts";
import { withQueue } from "../api/queue-backend.ts";
import type { CliContext } from "../context.ts";
import { EXIT, oneLine, paint, plural, printJson, table } from "../print/output.ts";
import { importProgress } from "../print/progress.ts";
import { positiveInteger } from "../values.ts";
import { runQueue } from "./queue-run.ts";

/** `orb queue …`: the durable work queue by itself. */
export function addQueueCommands(program: Command, context: CliContext): void {
  const queue = program
    .command("queue")
    .description("a durable queue of items to download or to process with your own code");

  apiCommand(queue, "enqueue", "add one item; adding the same artifact_id again changes nothing")
    .argument("<artifact_id_or_url>", "your id for the item, or only the URL")
    .argument("[url]", "URL to fetch")
    .option(
      "--concurrency-key <name>",
      "name of a concurrency limit shared with other items, see APP_MAX_PER_CONCURRENCY_KEY",
    )
    .addOption(new Option("--resolver <name>", "the same as --concurrency-key").conflicts("concurrencyKey"))
    .option("--priority <number>", "higher goes first", "0")
    .option("--handler <name>", "use this handler of the APP_HANDLERS module instead of the download")
    .option("--payload <json>", "data for the handler")
    .action(async (first: string, second: string | undefined, options: Record<string, string | undefined>) => {
      const { url } = options;
      await withQueue(context, url === undefined ? {} : { url }, async (desk) => {
        const parsed = parseQueueItem({
          artifact_id: second === undefined ? safeCanonical(first) : first,
          url: second ?? first,
          priority: Number(options["priority"]),
          concurrency_key: options["concurrencyKey"] ?? options["resolver"],
          ...(options["handler"] === undefined ? {} : { handler: options["handler"] }),
          ...(options["payload"] === undefined ? {} : { payload: parseJsonOption("--payload", options["payload"]) }),
        });
        if (parsed.errors !== undefined) {
          const list = parsed.errors.map(({ path, message }) => `${path}: ${message}`).join("; ");
          throw new OrbError("input_invalid", `the item cannot be enqueued: ${list}`, { fields: parsed.errors });
        }
        const report = await desk.add([parsed.ok]);
        if (context.json) printJson(context.terminal, { artifact_id: parsed.ok.artifactId, ...report });
        else
          context.terminal.out(
            report.added === 1
              ? `enqueued ${parsed.ok.artifactId}\n`
              : `${parsed.ok.artifactId} is already in the queue; nothing changed\n`,
          );
      });
    });

  apiCommand(
    queue,
    "import",
    'add many items from a file with one {"artifact_id", "url", …} per line; - reads standard input',
  )
    .argument("<file>")
    .action(async (file: string, options: UrlOption) => {
      await withQueue(context, options, async (desk) => {
        const { terminal } = context;
        const bad: { line: number; errors: { path: string; message: string }[] }[] = [];
        const progress = importProgress(terminal, context.json);
        const report = await importTo((items) => desk.add(items), context.wiring.openFile(file), {
          bad: (line) => {
            // Bad lines are printed as they come; a file with a million of them must not fill the memory.
            if (bad.length < MOST_BAD_LINES) bad.push(line);
            if (!context.json) {
              const what = line.errors
                .map(({ path, message }) => (path === "" ? message : `${path}: ${message}`))
                .join("; ");
              progress.line(`${paint(terminal, "yellow", `line ${line.line}:`)} ${what}`);
            }
          },
          progress: (now) => progress.update(now),
        });
        progress.done();
        if (context.json) printJson(terminal, { ...report, bad_lines: bad });
        else
          terminal.out(
            `${plural(report.lines, "line")}: ${report.added} added, ${report.existing} already there, ${report.bad} invalid\n`,
          );
        context.exitCode = report.bad === 0 ? EXIT.done : report.lines === report.bad ? EXIT.failed : EXIT.partial;
      });
    });

  queue
    .command("run")
    .description("process the queue; stands by if another process already does")
    .option("--drain", "exit when no items are left")
    .option("--workers <number>", "maximum concurrent items (default: APP_MAX_WORKERS)", positiveInteger)
    .option("--max-per-host <number>", "maximum concurrent items per site (default: APP_MAX_PER_HOST)", positiveInteger)
    .action((options: { drain?: boolean; workers?: number; maxPerHost?: number }) => runQueue(context, options));

  apiCommand(queue, "stats", "number of items by state, in total and per site").action(async (options: UrlOption) => {
    await withQueue(context, options, async (desk) => {
      const stats = await desk.stats();
      if (context.json) return printJson(context.terminal, stats);
      const line = (name: string, row: Omit<typeof stats, "lanes">) => [
        name,
        row.queued,
        row.in_progress,
        row.done,
        row.skipped,
        row.error,
        row.total,
      ];
      context.terminal.out(
        table(
          ["site", "queued", "in progress", "done", "skipped", "error", "total"],
          [
            ...stats.lanes.map((lane) => line(lane.lane, lane)),
            ...(stats.lanes.length === 1 ? [] : [line("all", stats)]),
          ],
        ),
      );
    });
  });

  apiCommand(queue, "list", "items, oldest first")
    .addOption(new Option("--status <status>", "only those in this state").choices(QUEUE_STATES))
    .option("--limit <number>", "maximum number of entries", positiveInteger, 50)
    .option("--after <id>", "continue after the item with this id")
    .action(async ({ url, ...options }: UrlOption & { status?: QueueState; limit: number; after?: string }) => {
      await withQueue(context, definedOnly({ url }), async (desk) => {
        const { items, next } = await desk.list(options);
        if (context.json) return printJson(context.terminal, items);
        if (items.length === 0) return context.terminal.out("no items\n");
        const rows = items.map((item) => [
          item.status,
          item.artifact_id,
          item.url ?? "",
          item.attempts,
          item.failure_reason ?? "",
        ]);
        context.terminal.out(table(["status", "artifact_id", "url", "attempts", "reason"], rows));
        if (next !== null) context.terminal.err(`there are more items: use --after ${next}\n`);
      });
    });

  apiCommand(queue, "show", "one item, with its attempts and the path of its file")
    .argument("<artifact_id>")
    .action(async (name: string, options: UrlOption) => {
      await withQueue(context, options, async (desk) => {
        const item = await desk.show(name);
        if (context.json) printJson(context.terminal, item);
        else context.terminal.out(describe(item));
      });
    });

  apiCommand(queue, "concurrency-key", "show or change the limit of a concurrency key; applies to running work, too")
    .alias("resolver")
    .argument("<name>")
    .option("--limit <number>", "maximum concurrent items", positiveInteger)
    .addOption(new Option("--configured", "restore the value of APP_MAX_PER_CONCURRENCY_KEY").conflicts("limit"))
    .action(async (name: string, options: UrlOption & { limit?: number; configured?: boolean }) => {
      await withQueue(context, definedOnly({ url: options.url }), async (desk) => {
        const limit = await desk.concurrencyLimit(name, options.configured === true ? null : options.limit);
        if (context.json) printJson(context.terminal, { concurrency_key: name, resolver: name, limit });
        else context.terminal.out(limit === null ? `${name} has no limit\n` : `${name}: at most ${limit} at once\n`);
      });
    });

  apiCommand(queue, "retry-failed", "retry failed items")
    .option("--site <site>", "only those of this site")
    .action(async (options: UrlOption & { site?: string }) => {
      await withQueue(context, definedOnly({ url: options.url }), async (desk) => {
        const { requeued } = await desk.retryFailed(definedOnly({ site: options.site }));
        if (context.json) printJson(context.terminal, { requeued });
        else context.terminal.out(`${plural(requeued, "item")} will be retried\n`);
      });
    });
}

const MOST_BAD_LINES = 1000;

function safeCanonical(url: string): string {
  return URL.canParse(url) ? shownUrl(canonicalUrl(url)) : url;
}

function parseJsonOption(name: string, text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw new OrbError("input_invalid", `${name} is not JSON: ${text.slice(0, 80)}`);
  }
}

function ownerOf({ worker_id: id, machine, pid }: NonNullable<QueueItemDetail["owner"]>): string {
  return `${id ?? "not registered"}${machine === null ? "" : ` on ${machine}`}${pid === null ? "" : ` (pid ${pid})`}`;
}

function describe(item: QueueItemDetail): string {
  const lines: [string, string | null][] = [
    ["artifact_id", item.artifact_id],
    ["status", item.status],
    ["url", item.url],
    ["site", item.site],
    ["concurrency key", item.concurrency_key],
    ["handler", item.handler],
    ["failure", item.failure_code === null ? null : `${item.failure_code} (${item.failure_reason}): ${item.message}`],
    ["message", item.failure_code === null ? item.message : null],
    ["next attempt", item.next_try_at],
    ["worker", item.owner === null ? null : ownerOf(item.owner)],
    ["lease until", item.owner?.lease_expires_at ?? null],
    ["created", item.created_at],
    ["finished", item.finished_at],
    ...item.files.map((file): [string, string] => [
      "file",
      `${file.path} (${file.size} bytes, ${file.content_type ?? "unknown type"})`,
    ]),
    ...item.results.map((result): [string, string] => ["result", JSON.stringify(result)]),
  ];
  const shown = lines.flatMap(([name, value]) => (value === null ? [] : [{ name, value }]));
  const width = Math.max(12, ...shown.map(({ name }) => name.length));
  const head = shown.map(({ name, value }) => `${name.padEnd(width)} ${oneLine(value)}\n`).join("");
  if (item.history.length === 0) return head;
  const rows = item.history.map((attempt) => [
    attempt.attempt,
    attempt.started_at,
    attempt.duration_ms,
    attempt.strategy,
    attempt.http_status ?? "",
    attempt.failure_reason ?? "ok",
  ]);
  return `${head}\n${table(["attempt", "started", "ms", "strategy", "status", "outcome"], rows)}`;
}
