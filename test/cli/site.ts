import type { Answer, Script } from "../chaos/target.ts";
import { Target } from "../chaos/target.ts";

const page = (title: string, body: string): Answer => ({
  headers: { "content-type": "text/html; charset=utf-8" },
  body: `<!doctype html><html lang="en"><head><title>${title}</title></head><body>${body}</body></html>`,
});

const json = (value: unknown): Answer => ({
  headers: { "content-type": "application/json" },
  body: JSON.stringify(value),
});

const THINGS = Array.from({ length: 25 }, (_, n) => ({ id: n + 1, name: `Thing ${n + 1}`, price: 10 + n }));

/** A small shop: an article, a list, a page for members, one that is missing, one that never answers. */
const shop: Script = (path, _nth, request) => {
  const { pathname, searchParams } = new URL(path, "http://shop.test");
  if (pathname === "/")
    return page(
      "All about webs",
      `<article><h1>All about webs</h1><p>${"Spiders build them in the morning, and eat them at night. ".repeat(4)}</p></article>`,
    );
  if (pathname === "/list")
    return page(
      "Things",
      THINGS.slice(0, 3)
        .map(({ id, name, price }) => `<li class="t"><a href="/t/${id}">${name}</a> <b>€ ${price}.50</b></li>`)
        .join(""),
    );
  if (pathname === "/escapes") return page("\u001b[31mred\u001b[0m", "<p>plain</p>");
  if (pathname === "/account") return { status: 302, headers: { location: "/login" }, body: "" };
  if (pathname === "/login") return page("Sign in", '<form><input name="who"><input type="password"></form>');
  if (pathname === "/fault") return { status: 500, body: "oh" };
  if (pathname === "/members")
    return request.headers.cookie?.includes("sid=4711") === true ||
      request.headers.authorization === `Basic ${Buffer.from("ann:hunter2").toString("base64")}`
      ? page("Members", "<p>welcome</p>")
      : { status: 401, body: "no" };
  if (pathname === "/api/things") {
    const at = Number(searchParams.get("page") ?? 1);
    return json({ data: THINGS.slice((at - 1) * 10, at * 10) });
  }
  return { status: 404, body: "nothing here" };
};

/** `never` is a path that is asked for and never answered. */
export async function openShop(never = "/never"): Promise<Target> {
  const target = await Target.start(1);
  target.script = (path, nth, request) => (path === never ? new Promise<Answer>(() => {}) : shop(path, nth, request));
  return target;
}
