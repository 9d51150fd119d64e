import assert from "node:assert/strict";
import { once } from "node:events";
import { connect, type Socket } from "node:net";
import { describe, test, type TestContext } from "node:test";
import { openTestApi, type TestApi, TOKEN } from "./kit.ts";

const bearer = { authorization: `Bearer ${TOKEN}` };

/** Begins a call with a body, of which no more comes. */
async function slowCall(t: TestContext, served: TestApi, path = "/session"): Promise<Socket> {
  const socket = connect(served.port, "127.0.0.1");
  socket.on("error", () => {});
  t.after(() => socket.destroy());
  await once(socket, "connect");
  socket.write(
    `POST ${path} HTTP/1.1\r\nhost: 127.0.0.1:${served.port}\r\ncontent-type: application/json\r\ncontent-length: 1000\r\n\r\n{`,
  );
  return socket;
}

const closed = (socket: Socket) => (socket.closed ? Promise.resolve() : once(socket.resume(), "close"));

describe("connections of those who have shown nothing", () => {
  test("make room for the next ones, the oldest first, so that nobody is kept out [slow]", async (t) => {
    const limits = {
      connections: 20,
      unprovenConnections: 10,
      unprovenPerAddress: 10,
      slowBodyMs: 600_000,
      checkMs: 50,
    };
    const served = await openTestApi(t, { settings: { token: TOKEN, limits } });
    const slow: Socket[] = [];
    for (let n = 0; n < 30; n += 1) slow.push(await slowCall(t, served));
    await Promise.all(slow.slice(0, 20).map(closed));
    assert.equal((await served.get("/health")).status, 200, "the health check is answered");
    assert.equal((await served.get("/queue/stats", bearer)).status, 200, "and so is whoever has the token");
    assert.ok(
      slow.slice(-5).every((socket) => !socket.closed),
      "the newest still have their time",
    );
  });

  test("do not make room for connections that have shown the token [slow]", async (t) => {
    const limits = { connections: 20, unprovenConnections: 5, unprovenPerAddress: 5, slowBodyMs: 600_000, checkMs: 50 };
    const served = await openTestApi(t, { settings: { token: TOKEN, limits } });
    const known = connect(served.port, "127.0.0.1");
    t.after(() => known.destroy());
    const call = `GET /queue/stats HTTP/1.1\r\nhost: 127.0.0.1:${served.port}\r\nauthorization: Bearer ${TOKEN}\r\n\r\n`;
    known.write(call);
    await once(known, "data");
    const slow: Socket[] = [];
    for (let n = 0; n < 15; n += 1) slow.push(await slowCall(t, served));
    await Promise.all(slow.slice(0, 10).map(closed));
    known.write(call);
    assert.match(String((await once(known, "data"))[0]), /^HTTP\/1\.1 200 /);
  });
});

test("very many connections that come at once, each with the token, are all answered [slow]", async (t) => {
  const limits = { connections: 300, unprovenConnections: 10, unprovenPerAddress: 10 };
  const served = await openTestApi(t, { settings: { token: TOKEN, limits } });
  const call = `GET /queue/stats HTTP/1.1\r\nhost: 127.0.0.1:${served.port}\r\nauthorization: Bearer ${TOKEN}\r\nconnection: close\r\n\r\n`;
  const answers = await Promise.all(
    Array.from({ length: 200 }, async () => {
      const socket = connect(served.port, "127.0.0.1");
      t.after(() => socket.destroy());
      socket.write(call);
      return (await socket.setEncoding("utf8").toArray()).join("");
    }),
  );
  assert.ok(answers.every((text) => text.startsWith("HTTP/1.1 200 ")));
});

describe("a body that comes too slowly", () => {
  const limits = { slowBodyMs: 50, checkMs: 20 };

  test("is refused, long before the time of a request is over", async (t) => {
    const served = await openTestApi(t, { settings: { token: TOKEN, limits } });
    const socket = await slowCall(t, served);
    assert.match((await socket.setEncoding("utf8").toArray()).join(""), /^HTTP\/1\.1 408 /);
  });

  test("of a call that was refused already is not waited for", async (t) => {
    const served = await openTestApi(t, { settings: { token: TOKEN, limits } });
    const socket = await slowCall(t, served, "/queue/items");
    assert.match((await socket.setEncoding("utf8").toArray()).join(""), /^HTTP\/1\.1 401 /);
  });
});
