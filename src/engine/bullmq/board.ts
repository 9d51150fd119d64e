import { createBullBoard } from "@bull-board/api";
import { BullMQAdapter } from "@bull-board/api/bullMQAdapter";
import { Queue } from "bullmq";
import type { Redis } from "ioredis";
import { type Clock, sleep } from "../../base/clock.ts";
import { OrbError } from "../../base/errors.ts";
import type { Board, BoardAnswer } from "../port.ts";
import { BoardAdapter } from "./board-adapter.ts";
import { type QueueName, QUEUES } from "./names.ts";
import { reached, redisAt } from "./redis.ts";

interface TicketBoardOptions {
  redisUrl: string;
  /** Prefix of all keys of a deployment. */
  prefix: string;
  clock: Clock;
  /** Such as `/admin/queues`. */
  basePath: string;
}

const TIMEOUT_MS = 3000;

const DESCRIPTIONS: Readonly<Record<QueueName, string>> = {
  sites: "A ticket means that a site has work; it contains nothing else.",
  steps: "A ticket means that a workflow step is ready.",
  times: "The ticket is due at the next time of a schedule.",
};

/** Bull Board over the ticket queues. Writes nothing, not even BullMQ's own metadata. */
export class TicketBoard implements Board {
  readonly #clock: Clock;
  readonly #redis: Redis;
  readonly #queues: readonly Queue[];
  readonly #adapter: BoardAdapter;

  constructor({ redisUrl, prefix, clock, basePath }: TicketBoardOptions) {
    this.#clock = clock;
    this.#redis = redisAt(redisUrl);
    this.#adapter = new BoardAdapter(basePath);
    this.#queues = QUEUES.map((name) => {
      const queue = new Queue(name, { connection: this.#redis, prefix, skipMetasUpdate: true, skipVersionCheck: true });
      // Errors are shown on the page.
      queue.on("error", () => {});
      return queue;
    });
    createBullBoard({
      queues: this.#queues.map(
        (queue) => new BullMQAdapter(queue, { readOnlyMode: true, description: DESCRIPTIONS[queue.name as QueueName] }),
      ),
      serverAdapter: this.#adapter,
      options: { uiConfig: { boardTitle: "Tickets for lanes", hideDocsLink: true } },
    });
  }

  async open(path: string, query: Readonly<Record<string, unknown>>): Promise<BoardAnswer | null> {
    const file = await this.#adapter.file(path);
    if (file !== null) return file;
    const reading = this.#adapter.reading(path, query);
    if (reading === null) return null;
    await reached(this.#redis, this.#clock, TIMEOUT_MS);
    return this.#withTimeout(reading());
  }

  async close(): Promise<void> {
    await Promise.all(this.#queues.map((queue) => queue.close().catch(() => {})));
    this.#redis.disconnect();
  }

  async #withTimeout<T>(answer: Promise<T>): Promise<T> {
    const done = new AbortController();
    const late = sleep(this.#clock, TIMEOUT_MS, done.signal).then(() => {
      throw new OrbError("service_unavailable", "Redis does not answer", {
        hint: "Check Redis, then open this page again.",
      });
    });
    try {
      return await Promise.race([answer, late]);
    } finally {
      done.abort();
    }
  }
}
