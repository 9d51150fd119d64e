import assert from "node:assert/strict";
import { once } from "node:events";
import { connect, type Socket } from "node:net";
import { describe, test, type TestContext } from "node:test";
import type { Routes } from "../../src/api/routes/registry.ts";
import { FakeClock } from "../support/fake-clock.ts";
import { openTestApi, type TestApi } from "./kit.ts";
import { Type } from "../../src/api/type.ts";

/** A route that answers when the test says so. */
function slowRoute() {
  const entered = Promise.withResolvers<void>();
  const gate = Promise.withResolvers<void>();
  const route: Routes = (api) => {
    api.get("/slow", { config: { role: "viewer" }, schema: { response: { 200: Type.String() } } }, async () => {
      entered.resolve();
      await gate.promise;
      return "done";
    });
  };
  return { route, entered: entered.promise, open: gate.resolve };
}

interface Line {
  socket: Socket;
  send(text: string): void;
  /** Everything that came, once the other side has closed. */
  all: Promise<string>;
}

function openLine(t: TestContext, served: TestApi): Line {
  const socket = connect(served.port, "127.0.0.1");
  t.after(() => socket.destroy());
  let text = "";
  socket.setEncoding("utf8").on("data", (piece: string) => (text += piece));
  // A connection that is cut is over, too.
  socket.on("error", () => {});
  const all = new Promise<string>((resolve) => socket.once("close", () => resolve(text)));
  return { socket, send: (more) => void socket.write(more), all };
}

const get = (served: TestApi, path: string) => `GET ${path} HTTP/1.1\r\nhost: 127.0.0.1:${served.port}\r\n\r\n`;

describe("a server that is told to stop", () => {
  test("takes no more calls, and finishes those that run", async (t) => {
    const { route, entered, open } = slowRoute();
    const refused = Promise.withResolvers<void>();
    const watch: Routes = (api) => {
      api.addHook("onSend", async (_request, reply) => {
        if (reply.statusCode === 503) refused.resolve();
      });
    };
    const served = await openTestApi(t, { routes: [route, watch] });
    const line = openLine(t, served);
    line.send(get(served, "/slow"));
    await entered;
    const closed = served.api.close();
    const late = connect(served.port, "127.0.0.1");
    const [error] = (await once(late, "error")) as [NodeJS.ErrnoException];
    assert.match(error.code ?? "", /^ECONN(REFUSED|RESET)$/);
    // A further call on a connection that is still busy is told so, in its turn.
    line.send(get(served, "/health"));
    await refused.promise;
    open();
    const text = await line.all;
    assert.match(text, /^HTTP\/1\.1 200 OK\r\n[^]*\r\n\r\ndone/);
    assert.match(text, /HTTP\/1\.1 503 [^]*connection: close\r\n[^]*retry-after: 5\r\n[^]*"code":"stopping"/);
    await closed;
  });

  test("closes connections that only wait", async (t) => {
    const served = await openTestApi(t);
    const idle = openLine(t, served);
    idle.send(get(served, "/health"));
    await once(idle.socket, "data");
    await served.api.close();
    assert.match(await idle.all, /"status":"ok"/);
    await served.api.close();
  });

  test("cuts off what is still running after the grace period", async (t) => {
    const clock = new FakeClock();
    const { route, entered, open } = slowRoute();
    const served = await openTestApi(t, { clock, routes: [route], settings: { graceMs: 30_000 } });
    const line = openLine(t, served);
    line.send(get(served, "/slow"));
    await entered;
    let over = false;
    const closed = served.api.close().then(() => (over = true));
    await clock.advance(29_999);
    assert.equal(over, false);
    await clock.advance(1);
    assert.equal(await line.all, "");
    await closed;
    open();
  });
});

describe("a client that holds a connection", () => {
  const limits = { headersMs: 50, requestMs: 100, checkMs: 20, keepAliveMs: 50 };

  test("without ever finishing its headers is told and closed", async (t) => {
    const served = await openTestApi(t, { settings: { limits } });
    const line = openLine(t, served);
    line.send("GET /health HTTP/1.1\r\nhost: 127.0.0.1\r\nx-slow:");
    const text = await line.all;
    assert.match(text, /^HTTP\/1\.1 408 /);
    assert.match(text, /"code":"request_timeout"/);
  });

  test("without ever finishing its body is closed", async (t) => {
    const served = await openTestApi(t, { settings: { limits } });
    const line = openLine(t, served);
    line.send(
      `POST /queue/items HTTP/1.1\r\nhost: 127.0.0.1:${served.port}\r\ncontent-type: application/json\r\ncontent-length: 100\r\n\r\n{`,
    );
    assert.match(await line.all, /^HTTP\/1\.1 408 /);
    assert.equal((await served.api.inject({ url: "/queue/stats" })).statusCode, 200, "the server goes on");
  });

  test("without a further call is closed", async (t) => {
    // The call itself has all the time that a busy machine takes to read it.
    const served = await openTestApi(t, { settings: { limits: { ...limits, headersMs: 60_000, requestMs: 60_000 } } });
    const line = openLine(t, served);
    line.send(get(served, "/health"));
    assert.match(await line.all, /^HTTP\/1\.1 200 /);
  });

  test("and waits longest is closed when there are too many, while the others go on", async (t) => {
    const served = await openTestApi(t, { settings: { limits: { connections: 2 } } });
    const first = openLine(t, served);
    first.send(get(served, "/health"));
    await once(first.socket, "data");
    const second = openLine(t, served);
    second.send(get(served, "/health"));
    await once(second.socket, "data");
    const third = openLine(t, served);
    assert.match(await first.all, /^HTTP\/1\.1 200 /);
    for (const line of [second, third]) {
      line.send(get(served, "/queue/stats"));
      await once(line.socket, "data");
    }
  });

  test("and speaks something else than HTTP is told so", async (t) => {
    const served = await openTestApi(t);
    const line = openLine(t, served);
    line.send("EHLO mail.test\r\n\r\n");
    const text = await line.all;
    assert.match(text, /^HTTP\/1\.1 400 Bad Request\r\n/);
    assert.match(text, /content-type: application\/problem\+json\r\n/);
    assert.match(text, /"code":"request_malformed"/);
  });

  test("and sends two lengths or a foreign transfer coding is refused", async (t) => {
    const served = await openTestApi(t);
    for (const headers of [
      "content-length: 2\r\ncontent-length: 3",
      "content-length: 2\r\ntransfer-encoding: chunked",
    ]) {
      const line = openLine(t, served);
      line.send(`POST /queue/items HTTP/1.1\r\nhost: 127.0.0.1:${served.port}\r\n${headers}\r\n\r\n{}`);
      assert.match(await line.all, /^HTTP\/1\.1 400 /, headers);
    }
  });
});
