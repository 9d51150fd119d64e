import assert from "node:assert/strict";
import { connect, type Socket } from "node:net";
import { describe, test } from "node:test";
import { request } from "undici";
import type { ApiDeps } from "../../src/api/deps.ts";
import type { Routes } from "../../src/api/routes/registry.ts";
import {
  frameOf,
  sendEvents,
  type SignsOfLife,
  type SseEvent,
  streamAnswer,
  type StreamFrom,
  streamQuery,
} from "../../src/api/sse.ts";
import { FakeClock, settled } from "../support/fake-clock.ts";
import { openTestApi, type TestApi, TOKEN } from "./kit.ts";
import { Type } from "../../src/api/type.ts";

/** A route that streams what the test says. */
function streaming(source: (from: StreamFrom) => AsyncIterable<SseEvent>, signs?: SignsOfLife): Routes {
  return (api, deps: ApiDeps) => {
    api.get(
      "/stream",
      {
        config: { role: "viewer" },
        schema: { querystring: Type.Object(streamQuery), response: { 200: streamAnswer("events") } },
      },
      (asked, reply) => sendEvents(asked, reply, deps, source, signs),
    );
  };
}

/** Waits for the end of its stream. */
function untilEnded(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) return resolve();
    signal.addEventListener("abort", () => resolve(), { once: true });
    return undefined;
  });
}

async function* numbers(from: number, count: number): AsyncGenerator<SseEvent> {
  for (let n = from; n < from + count; n += 1) yield { id: String(n), event: "number", data: { n } };
}

/** Reads a stream piece by piece. */
async function openStream(served: TestApi, path = "/stream", headers: Record<string, string> = {}) {
  const { statusCode, headers: answered, body } = await request(`${served.url}${path}`, { headers });
  const pieces = body.setEncoding("utf8")[Symbol.asyncIterator]();
  let text = "";
  return {
    status: statusCode,
    headers: answered,
    /** Everything up to and with this text. */
    async until(wanted: string): Promise<string> {
      while (!text.includes(wanted)) {
        const piece = await pieces.next();
        assert.ok(piece.done !== true, `it ended before ${JSON.stringify(wanted)}: ${text}`);
        text += piece.value as string;
      }
      const end = text.indexOf(wanted) + wanted.length;
      const found = text.slice(0, end);
      text = text.slice(end);
      return found;
    },
    async rest(): Promise<string> {
      for (let piece = await pieces.next(); piece.done !== true; piece = await pieces.next())
        text += piece.value as string;
      return text;
    },
    close: () => void body.destroy(),
  };
}

describe("an event stream", () => {
  test("has ids, names and JSON, and ends with its source", async (t) => {
    const served = await openTestApi(t, { routes: [streaming(() => numbers(1, 2))] });
    const stream = await openStream(served);
    assert.equal(stream.status, 200);
    assert.equal(stream.headers["content-type"], "text/event-stream");
    assert.equal(stream.headers["cache-control"], "no-store");
    assert.equal(
      await stream.rest(),
      'retry: 3000\n\nid: 1\nevent: number\ndata: {"n":1}\n\nid: 2\nevent: number\ndata: {"n":2}\n\n',
    );
  });

  test("goes on behind the event that was seen last, by header or by address", async (t) => {
    const seen: (string | null)[] = [];
    const source = ({ lastEventId }: StreamFrom) => {
      seen.push(lastEventId);
      return numbers(Number(lastEventId ?? 0) + 1, 1);
    };
    const served = await openTestApi(t, { routes: [streaming(source)] });
    for (const [path, headers, first] of [
      ["/stream", {}, "id: 1\n"],
      ["/stream", { "last-event-id": "7" }, "id: 8\n"],
      ["/stream?last_event_id=20", {}, "id: 21\n"],
      ["/stream?last_event_id=20", { "last-event-id": "30" }, "id: 31\n"],
    ] as const)
      await (await openStream(served, path, headers)).until(first);
    assert.deepEqual(seen, [null, "7", "20", "30"]);
  });

  test("that is to begin behind something that is no event names where the client has said so", async (t) => {
    const served = await openTestApi(t);
    for (const [path, headers, named] of [
      ["/events/stream?last_event_id=garbage", {}, "query.last_event_id"],
      ["/events/stream", { "last-event-id": "garbage" }, "header.last-event-id"],
    ] as const) {
      const { statusCode, body } = await request(`${served.url}${path}`, { headers });
      const { errors } = (await body.json()) as { errors: { path: string }[] };
      assert.deepEqual([statusCode, errors.map((error) => error.path)], [422, [named]]);
    }
  });

  test("is kept open by comments while nothing happens", async (t) => {
    const clock = new FakeClock();
    const quiet = async function* ({ signal }: StreamFrom): AsyncGenerator<SseEvent> {
      await untilEnded(signal);
      yield* numbers(1, 1);
    };
    const served = await openTestApi(t, { clock, routes: [streaming(quiet)] });
    const stream = await openStream(served);
    await stream.until("retry: 3000\n\n");
    await clock.until(() => clock.waiting > 0);
    for (let beat = 0; beat < 3; beat += 1) {
      await clock.advance(15_000);
      assert.equal(await stream.until("\n\n"), ": still here\n\n");
    }
    stream.close();
  });

  test("or by events, where the reader hears of no comments", async (t) => {
    const clock = new FakeClock();
    const quiet = async function* ({ signal }: StreamFrom): AsyncGenerator<SseEvent> {
      await untilEnded(signal);
      yield* numbers(1, 1);
    };
    const signs = { sign: frameOf({ event: "heartbeat", data: {} }), everyMs: 5000 };
    const served = await openTestApi(t, { clock, routes: [streaming(quiet, signs)] });
    const stream = await openStream(served);
    await stream.until("retry: 3000\n\n");
    await clock.until(() => clock.waiting > 0);
    await clock.advance(5000);
    assert.equal(await stream.until("\n\n"), "event: heartbeat\ndata: {}\n\n");
    stream.close();
  });

  test("stops reading its source when the client goes", async (t) => {
    const ended = Promise.withResolvers<void>();
    const source = async function* ({ signal }: StreamFrom): AsyncGenerator<SseEvent> {
      try {
        yield { id: "1", event: "first", data: null };
        await untilEnded(signal);
      } finally {
        ended.resolve();
      }
    };
    const served = await openTestApi(t, { routes: [streaming(source)] });
    const stream = await openStream(served);
    await stream.until("id: 1\n");
    assert.match((await served.get("/metrics")).text, /orb_http_open_streams 1\n/);
    stream.close();
    await ended.promise;
    assert.match((await served.get("/metrics")).text, /orb_http_open_streams 0\n/);
  });

  test("never grows in memory for a reader that does not read, and loses nothing for it [slow]", async (t) => {
    const total = 60_000;
    let created = 0;
    const source = async function* (): AsyncGenerator<SseEvent> {
      for (; created < total; created += 1) yield { id: String(created), event: "e", data: "x".repeat(1000) };
    };
    const served = await openTestApi(t, { routes: [streaming(source)] });
    const socket = connect(served.port, "127.0.0.1").pause();
    t.after(() => socket.destroy());
    socket.write(`GET /stream HTTP/1.1\r\nhost: 127.0.0.1:${served.port}\r\nconnection: close\r\n\r\n`);
    await untilStill(() => created);
    assert.ok(created > 0 && created < total / 2, `${created} of ${total} events were made for nobody`);
    const text = await textOf(socket);
    const ids = [...text.matchAll(/^id: (\d+)$/gm)].map((match) => Number(match[1]));
    assert.equal(ids.length, total);
    assert.ok(ids.every((id, index) => id === index));
  });

  test("ends when the server closes, with the source told", async (t) => {
    let told = false;
    const source = async function* ({ signal }: StreamFrom): AsyncGenerator<SseEvent> {
      yield { id: "1", event: "first", data: null };
      await untilEnded(signal);
      told = true;
    };
    const served = await openTestApi(t, { routes: [streaming(source)] });
    const stream = await openStream(served);
    await stream.until("id: 1\n");
    await served.api.close();
    assert.ok((await stream.rest()).endsWith("\n\n"), "no event is cut");
    assert.ok(told);
  });

  test("works with the cookie of a browser", async (t) => {
    const served = await openTestApi(t, { settings: { token: TOKEN }, routes: [streaming(() => numbers(1, 1))] });
    assert.equal((await openStream(served)).status, 401);
    const login = await served.send("POST", "/session", { token: TOKEN });
    const cookie = String(login.headers["set-cookie"]).split(";")[0] ?? "";
    await (await openStream(served, "/stream", { cookie })).until("id: 1\n");
  });

  test("that fails in its source ends the connection instead of pretending to be over", async (t) => {
    const source = async function* (): AsyncGenerator<SseEvent> {
      yield { id: "1", event: "first", data: null };
      throw new Error("the database is gone");
    };
    const served = await openTestApi(t, { routes: [streaming(source)] });
    const stream = await openStream(served);
    await assert.rejects(stream.rest());
  });
});

test("nothing in an event can begin another field", () => {
  assert.equal(
    frameOf({ id: "1\ndata: x", event: "a\r\nid: 9", data: "b\n\nevent: evil" }),
    'id: 1 data: x\nevent: a  id: 9\ndata: "b\\n\\nevent: evil"\n\n',
  );
});

/** Resolves when the number has not changed for many turns of the event loop: nothing that could change it is left. */
async function untilStill(look: () => number): Promise<void> {
  let last = -1;
  for (let same = 0; same < 500; same += 1) {
    await settled();
    if (look() !== last || last <= 0) same = 0;
    last = look();
  }
}

async function textOf(socket: Socket): Promise<string> {
  const pieces: Buffer[] = [];
  for await (const piece of socket) pieces.push(piece as Buffer);
  return Buffer.concat(pieces).toString("utf8");
}
