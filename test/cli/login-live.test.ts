import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { LiveViewer } from "../jobs/live-viewer.ts";
import { TestServer } from "../jobs/kit.ts";
import { browserGate, html, webSite } from "../support/browser-kit.ts";
import { Installation } from "./installation.ts";

describe("orb login --live", browserGate, () => {
  test("prints the address of the view, and the session when somebody has stored it in the dashboard [slow]", async () => {
    await using site = await webSite({ "/login": html("<title>Sign in</title>", 200, { "set-cookie": "sid=1" }) });
    await using server = await TestServer.open();
    await using orb = new Installation();
    const login = orb.start(["login", site.url("/login"), "--live", "--url", server.api.url, "--name", "by hand"]);
    await login.said("/live-views/");
    const [address = "", id = ""] = /http\S+\/live-views\/(\S+)/.exec(login.stderr) ?? [];
    assert.equal(address, `${server.api.url}/live-views/${id}`);
    await using viewer = await LiveViewer.connect(server.api.url, id);
    await viewer.until(() => viewer.state?.tabs[0]?.title === "Sign in", "the page");
    assert.equal((await server.api.post(`/live-views/${id}/save`, {})).status, 201);
    const { code, stdout, stderr } = await login.end();
    assert.equal(code, 0, stderr);
    assert.match(stdout, /^name +by hand$/m);
    assert.match(stderr, /use it with --session by hand/);
  });

  test("says that nothing was stored if the view was closed, and what to start where no server answers [slow]", async () => {
    await using site = await webSite({ "/login": "<title>Sign in</title>" });
    await using server = await TestServer.open();
    await using orb = new Installation();
    const login = orb.start(["login", site.url("/login"), "--live", "--url", server.api.url]);
    await login.said("/live-views/");
    const [, id = ""] = /\/live-views\/(\S+)/.exec(login.stderr) ?? [];
    assert.equal((await server.api.call("DELETE", `/live-views/${id}`)).status, 204);
    const { code, stderr } = await login.end();
    assert.notEqual(code, 0);
    assert.match(stderr, /no session was stored/);
    const nobody = await orb.run(["login", site.url("/login"), "--live", "--url", "http://127.0.0.1:9"]);
    assert.notEqual(nobody.code, 0);
    assert.match(nobody.stderr, /orb serve/);
  });
});
