import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { type Clock, systemClock } from "../../src/base/clock.ts";
import { FetchFailure } from "../../src/domain/run/failure.ts";
import { parseAddressPolicy, PUBLIC_ONLY } from "../../src/net/address.ts";
import { BufferSink, discardBody } from "../../src/net/buffer-sink.ts";
import { checkUrl, takeCredentials } from "../../src/net/guard.ts";
import { answer, redirect, startSite } from "../support/hostile-site.ts";
import { failureOf, reasonOf, testClient } from "../support/net.ts";

// Sites stand on 127.0.0.2, the only address these tests open; the canary stands on 127.0.0.1, which stays closed.
const SITE = "127.0.0.2";
const onlySite = parseAddressPolicy([`${SITE}/32`]);
const startCanary = () => startSite({ "/": answer(200, "secret") });

function refusal(url: string, policy = PUBLIC_ONLY): string {
  try {
    checkUrl(url, policy);
  } catch (error) {
    assert.ok(error instanceof FetchFailure);
    assert.equal(error.failure.code, "forbidden_target");
    assert.doesNotMatch(error.message, /\d+\.\d+\.\d+\.\d+|::|s3cret/, "the message repeats what was refused");
    return error.failure.reason;
  }
  return "allowed";
}

describe("a URL that must not be fetched", () => {
  it("is refused when it names a private address, in every way of writing it", () => {
    for (const host of [
      "127.0.0.1",
      "127.1",
      "2130706433",
      "0x7f000001",
      "0x7f.1",
      "0177.0.0.1",
      "127.0.0.1.",
      "１２７.0.0.1",
      "0",
      "0.0.0.0",
      "10.0.0.1",
      "169.254.169.254",
      "2852039166",
      "[::1]",
      "[::]",
      "[::127.0.0.1]",
      "[::ffff:127.0.0.1]",
      "[::ffff:7f00:1]",
      "[64:ff9b::7f00:1]",
      "[2002:7f00:1::]",
      "[fe80::1]",
      "[fd00:ec2::254]",
      "[0:0:0:0:0:0:0:1]",
    ]) {
      assert.equal(refusal(`http://${host}/`), "private_address", host);
    }
    assert.equal(refusal("http://8.8.8.8/"), "allowed");
    assert.equal(refusal("https://[2606:4700:4700::1111]:8443/"), "allowed");
    assert.equal(refusal("http://example.com/"), "allowed");
  });

  it("is refused when it is not http or https", () => {
    for (const url of [
      "file:///etc/passwd",
      "ftp://example.com/",
      "javascript:alert(1)",
      "data:text/plain,x",
      "gopher://x/",
      "ws://x/",
      "blob:http://x/",
    ]) {
      assert.equal(refusal(url), "scheme_not_allowed", url);
    }
    for (const url of [
      "",
      "example.com",
      "http://",
      "http://[fe80::1%25eth0]/",
      "http://user:s3cret@/",
      "http://a b/",
      "http://1.2.3.4.5/",
    ]) {
      assert.equal(refusal(url), "url_not_allowed", url);
    }
  });

  it("keeps metadata addresses closed when private networks are open", () => {
    const open = parseAddressPolicy(true);
    assert.equal(refusal("http://127.0.0.1/", open), "allowed");
    for (const host of [
      "169.254.169.254",
      "2852039166",
      "[::ffff:169.254.169.254]",
      "[fd00:ec2::254]",
      "100.100.100.200",
      "[fe80::1]",
    ]) {
      assert.equal(refusal(`http://${host}/latest/meta-data`, open), "private_address", host);
    }
  });
});

describe("a fetch of a private address", () => {
  it("sends nothing, whether the address is written, resolved or redirected to", async () => {
    await using canary = await startCanary();
    await using site = await startSite({}, SITE);
    site.on("/literal", redirect(canary.url("/")));
    site.on("/decimal", redirect(`http://2130706433:${canary.port}/`));
    site.on("/name", redirect(`http://inside.test:${canary.port}/`));
    site.on("/file", redirect("file:///etc/passwd"));
    site.on("/ftp", redirect("ftp://example.com/"));
    site.on("/javascript", redirect("javascript:alert(1)"));
    await using client = testClient({ policy: onlySite, lookup: async () => [{ address: "127.0.0.1", family: 4 }] });
    const get = (url: string) => reasonOf(client.fetch({ url }, discardBody));

    assert.equal(await get(canary.url("/")), "forbidden_target/private_address");
    assert.equal(await get(`http://inside.test:${canary.port}/`), "forbidden_target/private_address");
    assert.equal(await get(site.url("/literal")), "forbidden_target/private_address");
    assert.equal(await get(site.url("/decimal")), "forbidden_target/private_address");
    assert.equal(await get(site.url("/name")), "forbidden_target/private_address");
    for (const path of ["/file", "/ftp", "/javascript"])
      assert.equal(await get(site.url(path)), "forbidden_target/scheme_not_allowed");
    assert.equal(canary.connections, 0);
  });

  it("is refused for localhost as this machine resolves it", async () => {
    await using canary = await startCanary();
    await using client = testClient({ policy: PUBLIC_ONLY });
    for (const name of ["localhost", "localhost.", "LocalHost.", "shop.localhost", "shop.localhost."]) {
      const failure = await failureOf(client.fetch({ url: `http://${name}:${canary.port}/` }, discardBody));
      assert.equal(failure.reason, "private_address", name);
      assert.doesNotMatch(failure.message, /127|::1/);
    }
    assert.equal(canary.connections, 0);
  });

  it("is refused for a name of this machine with a dot at its end, which no name server knows", async () => {
    const lookup = async (name: string) => {
      if (name.endsWith(".")) throw new Error("ENOTFOUND");
      return [{ address: "127.0.1.1", family: 4 }];
    };
    await using client = testClient({ policy: PUBLIC_ONLY, lookup });
    assert.equal(
      await reasonOf(client.fetch({ url: "http://this-machine.:8081/" }, discardBody)),
      "forbidden_target/private_address",
    );
  });

  it("is refused when only one of several resolved addresses is private", async () => {
    await using canary = await startCanary();
    await using site = await startSite({ "/": answer(200, "hello") }, SITE);
    const lookup = async () => [
      { address: SITE, family: 4 },
      { address: "127.0.0.1", family: 4 },
    ];
    await using client = testClient({ policy: onlySite, lookup });
    assert.equal(
      await reasonOf(client.fetch({ url: `http://mixed.test:${site.port}/` }, discardBody)),
      "forbidden_target/private_address",
    );
    assert.equal(site.connections + canary.connections, 0);
  });

  it("finds nothing by answering DNS differently the second time", async () => {
    await using site = await startSite({ "/": answer(200, "hello", { connection: "close" }) }, SITE);
    await using canary = await startCanary();
    let asked = 0;
    let later = 0;
    const clock: Clock = { ...systemClock, monotonic: () => systemClock.monotonic() + later };
    const lookup = async () => [{ address: (asked += 1) === 1 ? SITE : "127.0.0.1", family: 4 }];
    await using client = testClient({ policy: onlySite, lookup, clock });
    const get = () => client.fetch({ url: `http://rebind.test:${site.port}/` }, discardBody);

    assert.equal((await get()).status, 200);
    assert.equal(asked, 1, "one answer is both checked and connected to");
    assert.equal((await get()).status, 200);
    assert.equal(asked, 1, "a checked answer is used again for a while");
    later = 60_000;
    assert.equal(await reasonOf(get()), "forbidden_target/private_address");
    assert.equal(asked, 2);
    assert.equal(canary.connections, 0);
  });

  it("says that a name does not resolve", async () => {
    await using client = testClient({
      lookup: async (name) => {
        if (name === "empty.test") return [];
        throw Object.assign(new Error("no such name"), { code: "ENOTFOUND" });
      },
    });
    assert.equal(await reasonOf(client.fetch({ url: "http://gone.test/" }, discardBody)), "network/dns_failed");
    assert.equal(await reasonOf(client.fetch({ url: "http://empty.test/" }, discardBody)), "network/dns_failed");
  });
});

describe("what a caller gives along with a request", () => {
  const given = {
    Authorization: "Bearer t0ken",
    Cookie: "session=1",
    "X-Api-Key": "k3y",
    "X-Anything": "1",
    Accept: "text/html",
    "Accept-Language": "de",
  };

  it("reaches the origin it was given for, and no other", async () => {
    await using first = await startSite({}, SITE);
    await using second = await startSite({ "/end": answer(200, "here") }, SITE);
    first.on("/start", redirect("/same"));
    first.on("/same", redirect(second.url("/back")));
    second.on("/back", redirect(first.url("/end")));
    first.on("/end", redirect(second.url("/end"), 307));
    await using client = testClient();

    const result = await client.fetch({ url: first.url("/start"), headers: given }, discardBody);
    assert.equal(result.status, 200);
    assert.equal(result.url, second.url("/end"));
    assert.deepEqual(
      result.redirects.map(({ from, to }) => [from, to].map((url) => new URL(url).pathname)),
      [
        ["/start", "/same"],
        ["/same", "/back"],
        ["/back", "/end"],
        ["/end", "/end"],
      ],
    );
    for (const request of first.log.slice(0, 2)) {
      assert.equal(request.headers["x-api-key"], "k3y");
      assert.equal(request.headers["authorization"], "Bearer t0ken");
      assert.equal(request.headers["cookie"], "session=1");
    }
    for (const request of [...second.log, first.log[2]!]) {
      for (const name of ["authorization", "cookie", "x-api-key", "x-anything"])
        assert.equal(request.headers[name], undefined, name);
      assert.equal(request.headers["accept"], "text/html");
      assert.equal(request.headers["accept-language"], "de");
      assert.equal(request.headers["user-agent"], "orb-test");
    }
  });

  it("turns a password in the URL into a header for that origin, and shows it nowhere", async () => {
    await using first = await startSite({}, SITE);
    await using second = await startSite({ "/": answer(200, "here") }, SITE);
    first.on("/", redirect(second.url("/").replace("//", "//evil:creds@")));
    await using client = testClient();
    const url = first.url("/").replace("//", "//us%40er:pa%3Ass@");
    const result = await client.fetch({ url }, discardBody);
    assert.equal(first.log[0]!.headers["authorization"], `Basic ${Buffer.from("us@er:pa:ss").toString("base64")}`);
    assert.equal(second.log[0]!.headers["authorization"], undefined);
    assert.doesNotMatch(JSON.stringify(result), /pa%3A|pa:ss|evil|creds/);
    assert.equal(takeCredentials(new URL("http://example.com/")), undefined);
  });

  it("goes on as GET without a body after a POST that was answered with 303 or 302", async () => {
    await using site = await startSite({ "/end": answer(200, "ok") });
    site.on("/303", redirect("/end", 303));
    site.on("/302", redirect("/end", 302));
    site.on("/307", redirect("/end", 307));
    await using client = testClient();
    const post = (path: string) =>
      client.fetch(
        {
          url: site.url(path),
          method: "post",
          body: "a=1",
          headers: { "content-type": "application/x-www-form-urlencoded" },
        },
        discardBody,
      );
    for (const [path, method, type] of [
      ["/303", "GET", undefined],
      ["/302", "GET", undefined],
      ["/307", "POST", "application/x-www-form-urlencoded"],
    ] as const) {
      await post(path);
      const last = site.log.findLast((request) => request.path === "/end")!;
      assert.equal(last.method, method);
      assert.equal(last.headers["content-type"], type);
    }
  });

  it("can decline a redirect", async () => {
    await using site = await startSite({});
    site.on("/", redirect("https://elsewhere.test/page#part"));
    await using client = testClient();
    const sink = new BufferSink();
    const result = await client.fetch(
      { url: site.url("/"), followRedirects: (from, to) => from.host === to.host },
      sink,
    );
    assert.equal(result.status, 302);
    assert.equal(result.notFollowed, "https://elsewhere.test/page");
  });
});
