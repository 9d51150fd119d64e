import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { PATIENCE_MS } from "../support/patience.ts";
import { browserGate, html, plain, type TestSite } from "../support/browser-kit.ts";
import { TestServer, told } from "./kit.ts";
import { LiveViewer, PASS, SQUARES, walledSite } from "./live-viewer.ts";

interface View {
  id: string;
  run_id: string | null;
  url: string;
  controller: string | null;
  viewers: number;
  actions: object[];
  notes: string[];
}

interface Problem {
  code: string;
  detail: string;
}

interface Entry {
  action: string;
  object: { id: string };
  changes: object[];
}

const TOKEN = "a-token-of-good-length-4711";
const admin = { authorization: `Bearer ${TOKEN}` };
const SECRET = "hunter2-must-not-leak";

const FORM = `<!doctype html><title>Sign in</title><style>body { margin: 0 } input, button { position: absolute; left: 100px; width: 200px; height: 40px }</style>
  <form action="/in"><input id="name" name="name" style="top:100px"><input type="password" id="password" name="password" style="top:200px">
  <button id="go" style="top:300px">Sign in</button></form>
  <script>document.querySelector("form").onsubmit = (event) => {
    event.preventDefault();
    const [name, password] = ["name", "password"].map((id) => document.getElementById(id).value);
    localStorage.setItem("who", name);
    fetch("/in?" + name + "&" + password.length).then(() => location.assign("/members"));
  }</script>`;

describe("live views", browserGate, () => {
  let server: TestServer;
  let site: TestSite;
  before(async () => {
    site = await walledSite();
    server = await TestServer.open({ APP_LIVE_VIEWS: "2", APP_BROWSER_MAX_PAGES: "4" });
  });
  after(async () => {
    await server[Symbol.asyncDispose]();
    await site[Symbol.asyncDispose]();
  });

  const open = async (body: object): Promise<View> => {
    const answer = await server.api.post("/live-views", body);
    assert.ok([200, 201].includes(answer.status), answer.text);
    return answer.json<View>();
  };
  const close = (view: View) => server.api.call("DELETE", `/live-views/${view.id}`);
  const show = async ({ id }: View) => (await server.api.get(`/live-views/${id}`)).json<View>();

  async function waiting(): Promise<string> {
    const { id } = await server.begin({ target_url: site.url("/"), strategy: "browser" });
    await server.said(id, /^Waiting for a person/);
    return id;
  }

  test("a person clears the wall of a waiting run with three clicks, the run goes on, and others reuse the session", async () => {
    const id = await waiting();
    const view = await open({ run_id: id });
    assert.equal(view.run_id, id);
    assert.equal((await open({ run_id: id })).id, view.id, "there is one for each run");
    await using viewer = await LiveViewer.connect(server.api.url, view.id);
    await viewer.until(() => viewer.frames.length > 0 && viewer.shows("Verify you are human"), "the first picture");
    assert.deepEqual(viewer.size, { width: 1280, height: 720 });
    for (const { name, x, y } of SQUARES) {
      viewer.click(x, y);
      await site.hit(`/clicked/${name}`);
    }
    await site.hit("/seen");
    const answer = await server.api.post(`/live-views/${view.id}/save`, { name: "solved by hand" });
    assert.equal(answer.status, 201, answer.text);
    const saved = answer.json<{ session: { id: string; holds: string[] }; run: { id: string }; actions: object[] }>();
    assert.deepEqual([saved.session.holds, saved.run.id, saved.actions], [["cookies"], id, []]);
    await viewer.untilClosed();
    assert.equal(viewer.end, "saved");
    const run = await server.ended(id);
    assert.deepEqual([run.status, run.stats["title"]], ["completed", "Behind the wall"]);
    const story = told(await server.events(id));
    assert.deepEqual(story.slice(story.indexOf("Waiting for a person")), [
      "Waiting for a person",
      "Run resumed",
      "Run completed",
    ]);
    const again = await server.run({ target_url: site.url("/"), strategy: "http", session_id: "solved by hand" });
    assert.deepEqual([again.status, again.stats["title"]], ["completed", "Behind the wall"]);
    const log = (await server.api.get("/audit-log?limit=50")).json<Entry[]>();
    const mine = log.filter(({ object, action }) => object.id === id && action.startsWith("live_view."));
    assert.deepEqual(mine.map(({ action }) => action).toSorted(), [
      "live_view.controlled",
      "live_view.opened",
      "live_view.saved",
    ]);
    const opened = mine.find(({ action }) => action === "live_view.opened");
    assert.deepEqual(opened?.changes, [{ path: "url", before: null, after: site.url("/") }]);
    assert.ok(!server.api.answered.some((text) => text.includes(PASS)), "the cookie is not shown");
  });

  test("keys, pasted text and the keyboard's keys sign in; actions are recorded, and the password never is [slow]", async () => {
    site.on("/login", FORM);
    site.on("/in", (_request, response) => void response.writeHead(204, { "set-cookie": "sid=1; Path=/" }).end());
    site.on("/members", `<title>Members</title><p>Welcome</p><img src="/welcome" alt="">`);
    const view = await open({ url: site.url("/login"), record: true, name: "by keys" });
    await using viewer = await LiveViewer.connect(server.api.url, view.id);
    await viewer.until(() => viewer.frames.length > 0 && viewer.shows("Sign in"), "the first picture");
    viewer.click(150, 120);
    viewer.type("ada");
    viewer.press("Backspace", 8);
    viewer.send({ type: "text", text: "ä Lovelace" });
    viewer.press("Tab", 9);
    viewer.type(SECRET);
    viewer.press("Enter", 13);
    await site.hit("/welcome");
    const { path } = site.log.find(({ path: at }) => at.startsWith("/in?"))!;
    assert.equal(decodeURIComponent(path), `/in?adä Lovelace&${SECRET.length}`);
    await viewer.until(() => viewer.state?.url === site.url("/members"), "the address of the next page");
    const { actions, notes } = await show(view);
    assert.deepEqual(actions, [
      { type: "click", selector: "#name" },
      { type: "write", text: "adä Lovelace" },
      { type: "click", selector: "#password" },
      { type: "press", key: "Enter" },
    ]);
    assert.match(notes.join(), /after action 3, add the secret text of #password/);
    const answer = await server.api.post(`/live-views/${view.id}/save`, {});
    const saved = answer.json<{ session: { name: string; holds: string[] }; actions: object[] }>();
    assert.deepEqual([saved.session.name, saved.session.holds], ["by keys", ["cookies", "local_storage"]]);
    assert.equal(saved.actions.length, 4);
    assert.ok(!server.api.answered.some((text) => text.includes(SECRET)));
    assert.ok(!server.log.some((line) => line.includes(SECRET)));
    assert.deepEqual(
      server.stored().filter(({ bytes }) => bytes.includes(SECRET)),
      [],
    );
  });

  test("one controls and others watch; control can be taken, and what a watcher does has no effect [slow]", async () => {
    site.on("/two", `<title>Two</title><body style="height:100vh;margin:0" onclick="fetch('/did?' + event.clientX)">`);
    const view = await open({ url: site.url("/two") });
    await using first = await LiveViewer.connect(server.api.url, view.id);
    await first.until(() => first.state?.controls === true && first.shows("Two"), "control of the first");
    await using second = await LiveViewer.connect(server.api.url, view.id);
    await second.until(() => second.state?.controls === false && second.frames.length > 0, "a picture for the second");
    await first.until(() => first.state?.viewers === 2, "two viewers");
    second.click(11, 50);
    second.send({ type: "navigate", url: site.url("/members") });
    first.click(22, 50);
    await site.hit("/did?22");
    second.send({ type: "control", take: true });
    await first.until(() => first.state?.controls === false, "the first has lost control");
    second.click(33, 50);
    await site.hit("/did?33");
    assert.ok(!site.log.some(({ path }) => path === "/did?11"), "the watcher's click had no effect");
    assert.equal(second.state?.url, site.url("/two"));
    await second[Symbol.asyncDispose]();
    await first.until(() => first.state?.controller === null && first.state.viewers === 1, "nobody controls it");
    assert.equal((await close(view)).status, 204);
    await first.untilClosed();
    assert.equal(first.end, "closed");
  });

  test("dialogs are answered, windows of a sign-in are shown and close, files are refused with a notice [slow]", async () => {
    site.on(
      "/dialogs",
      `<title>Dialogs</title><body style="height:100vh;margin:0" onclick="const said = prompt('Your name?', 'x'); fetch('/said?' + said)">`,
    );
    site.on("/opener", `<title>Opener</title><body style="height:100vh;margin:0" onclick="window.open('/popup')">`);
    site.on(
      "/popup",
      `<title>Popup</title><body style="height:100vh;margin:0" onclick="window.close()"><img src="/popped" alt="">`,
    );
    site.on("/file", plain("application/zip", "PK", { "content-disposition": "attachment; filename=list.zip" }));
    site.on(
      "/upload",
      `<title>Upload</title><input type="file" style="position:absolute;left:0;top:0;width:300px;height:100px">`,
    );
    const view = await open({ url: site.url("/dialogs") });
    await using viewer = await LiveViewer.connect(server.api.url, view.id);
    const at = async (path: string) => {
      viewer.send({ type: "navigate", url: site.url(path) });
      await viewer.until(() => viewer.state?.url === site.url(path) && viewer.state.tabs[0]?.title !== "", path);
    };
    await viewer.until(() => viewer.state?.tabs[0]?.title === "Dialogs", "the page");
    viewer.click(50, 50);
    await viewer.until(() => viewer.state?.dialog?.kind === "prompt", "the prompt");
    assert.deepEqual([viewer.state?.dialog?.message, viewer.state?.dialog?.value], ["Your name?", "x"]);
    viewer.send({ type: "dialog", id: viewer.state?.dialog?.id, accept: true, text: "Ada" });
    await site.hit("/said?Ada");
    await viewer.until(() => viewer.state?.dialog === null, "no dialog");
    await at("/opener");
    viewer.click(50, 50);
    await site.hit("/popped");
    await viewer.until(() => viewer.state?.tabs.find(({ isShown }) => isShown)?.title === "Popup", "the window");
    assert.equal(viewer.state?.tabs.length, 2);
    viewer.click(50, 50);
    await viewer.until(() => viewer.state?.tabs.length === 1, "the window has closed");
    assert.equal(viewer.state?.url, site.url("/opener"));
    viewer.send({ type: "navigate", url: site.url("/file") });
    await viewer.until(() => viewer.notices.some((text) => text.includes("list.zip")), "the notice about the file");
    await at("/upload");
    viewer.click(20, 20);
    await viewer.until(
      () => viewer.notices.some((text) => text.includes("asks for a file")),
      "the notice of the chooser",
    );
    viewer.send({ type: "navigate", url: "http://169.254.169.254/latest" });
    await viewer.until(() => viewer.notices.some((text) => text.includes("not on the public internet")), "the guard");
    viewer.send({ type: "navigate", url: "file:///etc/passwd" });
    await viewer.until(() => viewer.notices.some((text) => text.includes("only http and https")), "the scheme");
    await close(view);
  });

  test("a phone's page takes touches [slow]", async () => {
    site.on(
      "/touch",
      `<meta name="viewport" content="width=device-width"><title>Touch</title><body style="height:3000px"
      ontouchstart="fetch('/touched?' + Math.round(event.touches[0].clientX))">`,
    );
    const view = await open({ url: site.url("/touch"), mobile: true });
    await using viewer = await LiveViewer.connect(server.api.url, view.id);
    await viewer.until(() => viewer.frames.length > 0 && viewer.state?.tabs[0]?.title === "Touch", "the picture");
    assert.deepEqual(viewer.size, { width: 412, height: 915 });
    viewer.send({ type: "touch", event: "start", points: [{ x: 120, y: 300, id: 0 }] });
    viewer.send({ type: "touch", event: "end", points: [{ x: 120, y: 300, id: 0 }] });
    await site.hit("/touched?120");
    await close(view);
  });

  test("a viewer that draws nothing gets one picture, however much the page moves, and the others all [slow]", async () => {
    site.on(
      "/moves",
      `<title>0</title><body><script>let n = 0; setInterval(() => { document.body.style.background = "hsl(" + (n += 40) + " 90% 50%)"; document.title = n; }, 50)</script>`,
    );
    const view = await open({ url: site.url("/moves") });
    await using slow = await LiveViewer.connect(server.api.url, view.id, { draws: false });
    await using fast = await LiveViewer.connect(server.api.url, view.id);
    await fast.until(() => fast.frames.length >= 15, "fifteen pictures");
    assert.equal(slow.frames.length, 1);
    slow.send({ type: "ack", seq: slow.frames[0] });
    await slow.until(() => slow.frames.length === 2, "the next picture");
    assert.ok((slow.frames[1] ?? 0) - (slow.frames[0] ?? 0) > 5, "it is the newest one");
    await close(view);
  });

  test("a run that ends, or is answered otherwise, closes its view; a run that does not wait has none [slow]", async () => {
    const id = await waiting();
    const view = await open({ run_id: id });
    await using viewer = await LiveViewer.connect(server.api.url, view.id);
    assert.equal((await server.api.post(`/jobs/runs/${id}/cancel`)).status, 200);
    await viewer.untilClosed();
    assert.equal(viewer.end, "run_over");
    const gone = await server.api.get(`/live-views/${view.id}`);
    assert.deepEqual([gone.status, gone.json<Problem>().code], [404, "not_found"]);
    const refused = await server.api.post("/live-views", { run_id: id });
    assert.deepEqual([refused.status, refused.json<Problem>().code], [409, "illegal_transition"]);
  });

  test("no more are open than allowed, nothing is saved of a page that stored nothing, and bad input is refused [slow]", async () => {
    site.on("/plain", "<title>Plain</title><p>Nothing is stored here</p>");
    const [one, two] = [
      await open({ url: `${site.url("/plain")}?ticket=${SECRET}#${SECRET}` }),
      await open({ url: site.url("/plain") }),
    ];
    const entry = (await server.api.get("/audit-log?action=live_view.opened&limit=2")).json<Entry[]>()[1];
    assert.deepEqual(
      [entry?.object.id, entry?.changes],
      [one.id, [{ path: "url", before: null, after: site.url("/plain") }]],
    );
    const third = await server.api.post("/live-views", { url: site.url("/plain") });
    assert.deepEqual([third.status, third.json<Problem>().code], [409, "live_view_unavailable"]);
    await close(two);
    const empty = await server.api.post(`/live-views/${one.id}/save`, {});
    assert.equal(empty.status, 422, empty.text);
    assert.match(empty.json<Problem>().detail, /contains nothing for/);
    assert.equal((await show(one)).id, one.id, "it is still open");
    await close(one);
    for (const [body, what] of [
      [{}, /url: is required/],
      [{ url: "ftp://x" }, /only http and https/],
      [{ url: "http://10.0.0.1/" }, /not on the public internet/],
      [{ run_id: "x", url: site.url("/") }, /cannot be combined with run_id/],
      [{ url: site.url("/"), session_id: "no such" }, /no session with this id or name/],
    ] as const) {
      const answer = await server.api.post("/live-views", body);
      assert.equal(answer.status, 422, answer.text);
      assert.match(answer.json<Problem>().detail, what);
    }
    const plainly = await fetch(`${server.api.url}/live-views/${one.id}/socket`);
    assert.equal(plainly.status, 404);
  });
});

describe("live views of a server with keys", { ...browserGate, concurrency: 1 }, () => {
  let server: TestServer;
  let site: TestSite;
  before(async () => {
    site = await walledSite({ "/plain": html("<title>Plain</title>") });
    server = await TestServer.open({
      APP_API_TOKEN: TOKEN,
      APP_LIVE_VIEW_IDLE_SECONDS: "600",
      APP_BROWSER_MAX_PAGES: "4",
    });
  });
  after(async () => {
    await server[Symbol.asyncDispose]();
    await site[Symbol.asyncDispose]();
  });

  const call = async (method: string, path: string, body: object | undefined, headers: Record<string, string>) => {
    const response = await fetch(`${server.api.url}${path}`, {
      method,
      headers: { ...headers, ...(body === undefined ? {} : { "content-type": "application/json" }) },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      signal: AbortSignal.timeout(PATIENCE_MS),
    });
    return { status: response.status, text: await response.text() };
  };
  const keyOf = async (role: string) => {
    const { text } = await call("POST", "/keys", { name: role, role }, admin);
    return JSON.parse(text) as { id: string; key: string };
  };
  const bearer = ({ key }: { key: string }) => ({ authorization: `Bearer ${key}` });
  const open = async () => {
    const { status, text } = await call("POST", "/live-views", { url: site.url("/plain") }, admin);
    assert.equal(status, 201, text);
    return JSON.parse(text) as View;
  };

  test("only admins sign in at an address, from this server's pages, and a revoked key is disconnected at once [slow]", async () => {
    const view = await open();
    const { url } = server.api;
    const [viewer, operator, second] = [await keyOf("viewer"), await keyOf("operator"), await keyOf("admin")];
    const refused = await call("POST", "/live-views", { url: site.url("/plain") }, bearer(operator));
    assert.equal(refused.status, 403, refused.text);
    assert.match(refused.text, /a live view without run_id needs the role admin/);
    for (const [method, path] of [
      ["GET", `/live-views/${view.id}`],
      ["POST", `/live-views/${view.id}/save`],
      ["DELETE", `/live-views/${view.id}`],
    ] as const) {
      const { status, text } = await call(method, path, method === "POST" ? {} : undefined, bearer(operator));
      assert.equal(status, 403, `${method} ${text}`);
    }
    assert.equal((await call("GET", "/live-views", undefined, bearer(operator))).text, "[]");
    await assert.rejects(LiveViewer.connect(url, view.id, { headers: bearer(operator) }), /refused with 403/);
    await assert.rejects(LiveViewer.connect(url, view.id), /refused with 401/);
    await assert.rejects(LiveViewer.connect(url, view.id, { headers: bearer(viewer) }), /refused with 403/);
    const foreign = { ...bearer(second), origin: "https://evil.example" };
    await assert.rejects(LiveViewer.connect(url, view.id, { headers: foreign }), /refused with 403/);
    const nowhere = "00000000-0000-4000-8000-000000000000";
    await assert.rejects(LiveViewer.connect(url, nowhere, { headers: admin }), /refused with 404/);
    const own = { ...bearer(second), origin: url };
    await using connected = await LiveViewer.connect(url, view.id, { headers: own });
    await using other = await LiveViewer.connect(url, view.id, { headers: admin });
    await connected.until(() => connected.state?.controller === "admin" && connected.frames.length > 0, "control");
    assert.equal((await call("DELETE", `/keys/${second.id}`, undefined, admin)).status, 200);
    await connected.untilClosed();
    assert.equal(connected.closed, 4401);
    await other.until(() => other.state?.controller === null && other.state.viewers === 1, "the other goes on");
    await call("DELETE", `/live-views/${view.id}`, undefined, admin);
  });

  test("the server's stop closes the view, its page and its browser [slow]", async () => {
    const view = await open();
    await using viewer = await LiveViewer.connect(server.api.url, view.id, { headers: admin });
    await viewer.until(() => viewer.frames.length > 0, "a picture");
    await server.stop();
    await viewer.untilClosed();
    assert.equal(viewer.end, "stopping");
    await server.start();
    assert.equal((await call("GET", `/live-views/${view.id}`, undefined, admin)).status, 404);
  });
});
