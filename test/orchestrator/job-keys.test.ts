import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { isOrbError } from "../../src/base/errors.ts";
import type { Credentials } from "../../src/domain/text/credentials.ts";
import type { Recipe } from "../../src/domain/run/recipe.ts";
import type { JobInput } from "../../src/orchestrator/jobs/input.ts";
import { changeJob, createJob } from "../../src/orchestrator/jobs/manage.ts";
import { SEALED_FOR_JOB } from "../../src/pages/access.ts";
import { openJobs, PAGE } from "./jobs-kit.ts";

describe("changing a job whose credentials were stored under another key", () => {
  const headers = { "x-api-key": "sesame" };
  const cookies = { sid: "crumb" };

  test("what does not touch them carries them over, and they open again with their key", async (t) => {
    const place = await openJobs(t);
    const job = await place.make({ target_url: "https://ann:pw@a.example/", headers, cookies });
    const before = await place.secrets(job.id);
    for (const change of [{ tags: ["a"] }, { name: "b", strategy: job.strategy }, { target_url: `${PAGE}other` }]) {
      const view = await changeJob(place.otherKey, job.id, change);
      assert.deepEqual([view.header_names, view.cookie_names], [["x-api-key"], ["sid"]], JSON.stringify(change));
      assert.deepEqual(await place.secrets(job.id), before);
    }
    assert.deepEqual(before?.basic, { username: "ann", password: "pw" });
  });

  test("what would have to look into them is refused, and changes nothing", async (t) => {
    const place = await openJobs(t);
    const job = await place.make({ headers, cookies });
    const before = await place.store.job(job.id);
    const replay = { request: { url: "https://a.example/api" } };
    const changes: JobInput[] = [
      { headers: { "x-api-key": "new" } },
      { headers: null },
      { cookies: {} },
      { target_url: "https://b.example/" },
      { target_url: "https://ann:pw@a.example/" },
      { strategy: "browser" },
      { replay },
    ];
    for (const change of changes) {
      await assert.rejects(changeJob(place.otherKey, job.id, change), (error) => {
        assert.ok(isOrbError(error, "secret_key_wrong"), String(error));
        assert.deepEqual(
          error.fields.map(({ path }) => path),
          Object.keys(change),
        );
        assert.match(error.hint ?? "", /APP_SECRET_KEY.*headers, cookies and target_url/);
        return true;
      });
      assert.deepEqual(await place.store.job(job.id), before);
    }
  });

  test("giving all of them anew replaces them", async (t) => {
    const place = await openJobs(t);
    const job = await place.make({ headers, cookies });
    const anew = { headers: { "x-api-key": "new" }, cookies: null, target_url: PAGE };
    const view = await changeJob(place.otherKey, job.id, anew);
    assert.deepEqual([view.header_names, view.cookie_names], [["x-api-key"], []]);
    const { sealed } = (await place.store.job(job.id))!.recipe as Recipe;
    const opened = place.otherKey.seal.open(Buffer.from(sealed ?? "", "base64"), SEALED_FOR_JOB) as Credentials;
    assert.deepEqual(opened.headers, { "x-api-key": "new" });
  });
});

test("the stored credentials of an http page go through no other proxy, unless they are sent again with it", async (t) => {
  const place = await openJobs(t);
  const proxy = "http://8.8.8.8:3128";
  const headers = { "x-api-key": "sesame" };
  const job = await place.make({ target_url: "http://a.example/", headers });
  const before = await place.store.job(job.id);
  const refused = (change: JobInput) =>
    assert.rejects(changeJob(place.deps, job.id, change), (error) => {
      assert.ok(isOrbError(error, "input_invalid"), String(error));
      assert.equal(error.fields[0]?.path, "proxy");
      return true;
    });
  await refused({ proxy });
  await refused({ proxy, cookies: { sid: "crumb" } });
  assert.deepEqual(await place.store.job(job.id), before);
  for (const change of [{ proxy: "pool" }, { proxy, headers }, { name: "renamed" }])
    assert.equal((await changeJob(place.deps, job.id, change)).id, job.id, JSON.stringify(change));
  const other = await place.make({ target_url: "https://a.example/", headers });
  const { proxy: used } = await changeJob(place.deps, other.id, { proxy });
  assert.match(String(used), /8\.8\.8\.8/, "a proxy does not read what is encrypted");
  // A password in the address is kept by other changes, too.
  const signed = await place.make({ target_url: "http://ann:pw@a.example/" });
  await assert.rejects(changeJob(place.deps, signed.id, { proxy, headers: {} }), /send them again/);
  await assert.rejects(changeJob(place.deps, signed.id, { proxy, strategy: "browser" }), /send them again/);
  const crawl = await createJob(place.deps, { kind: "crawl", crawl: { urls: ["http://a.example/"], headers } });
  await assert.rejects(changeJob(place.deps, crawl.id, { crawl: { proxy } }), /send them again/);
});
