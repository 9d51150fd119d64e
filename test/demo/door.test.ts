/** A site of the process itself is open to it, and nothing else of its machine is. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { systemClock } from "../../src/base/clock.ts";
import { PUBLIC_ONLY } from "../../src/net/address.ts";
import { discardBody } from "../../src/net/buffer-sink.ts";
import { createSocketOpener } from "../../src/net/guarded-socket.ts";
import { createResolver } from "../../src/net/resolver.ts";
import { answer, redirect, startSite } from "../support/hostile-site.ts";
import { reasonOf, testClient } from "../support/net.ts";

const REFUSED = "forbidden_target/private_address";

test("an own site is reached by its address and port, and by no other way", async () => {
  await using own = await startSite({ "/": answer(200, "here") });
  await using other = await startSite({ "/": answer(200, "secret") });
  own.on("/over", redirect(other.url("/")));
  const policy = { ...PUBLIC_ONLY, ownPorts: new Set([own.port]) };
  const lookup = async () => [{ address: "127.0.0.1", family: 4 }];
  await using client = testClient({ policy, lookup });
  const get = (url: string) => client.fetch({ url }, discardBody);
  assert.equal((await get(own.url("/"))).status, 200);
  for (const url of [
    other.url("/"),
    own.url("/over"),
    `http://localhost:${own.port}/`,
    `http://shop.example:${own.port}/`,
    `http://127.0.0.2:${own.port}/`,
    `http://[::1]:${own.port}/`,
    `http://[::ffff:127.0.0.1]:${own.port}/`,
    `https://127.0.0.1:${own.port}/`,
    "http://127.0.0.1/",
  ])
    assert.equal(await reasonOf(get(url)), REFUSED, url);

  // The browser's way out.
  const resolve = createResolver({ policy, clock: systemClock, lookup });
  const open = createSocketOpener({ policy, clock: systemClock, resolve, connectMs: 5000 });
  (await open("127.0.0.1", own.port)).destroy();
  assert.equal(await reasonOf(open("127.0.0.1", other.port)), REFUSED);
  assert.equal(await reasonOf(open("shop.example", own.port)), REFUSED);
  assert.equal(other.connections, 0);

  // When the site ends, its port is a stranger's again.
  policy.ownPorts.clear();
  assert.equal(await reasonOf(get(own.url("/"))), REFUSED);
});
