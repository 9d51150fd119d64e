import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { isSignInPath, signInAhead, signInReached } from "../../src/domain/page/sign-in.ts";

const FORM = `<title>Welcome</title><form><input name=user><input type="password"></form>`;
const ARTICLE = `<title>Boots</title><p>${"Boots of leather, made to last for years. ".repeat(100)}</p>`;
const reached = (asked: string, final: string, html = ARTICLE) =>
  signInReached({
    askedUrl: `https://shop.example${asked}`,
    finalUrl: new URL(final, "https://shop.example").href,
    html,
  });

describe("a redirect that leads to a sign-in instead of the page", { concurrency: true }, () => {
  test("is known by the path, whatever the page shows", () => {
    for (const path of [
      ...["/login", "/signin", "/sign-in", "/users/sign_in", "/wp-login.php", "/account/login", "/de/anmelden"],
      ...["/sessions/new", "/login/oauth/authorize", "/ServiceLogin", "/user_login.aspx", "/auth/log-in/"],
    ]) {
      assert.ok(isSignInPath(path), path);
      assert.match(
        reached("/account/orders", path) ?? "",
        /^the site redirected to .+, which looks like a sign-in$/,
        path,
      );
    }
    assert.equal(
      reached("/account/orders", "/login?next=/x", FORM),
      "the site redirected to /login, which asks for a password",
    );
    assert.match(reached("/a", "https://id.example/login") ?? "", /redirected to id\.example\/login/);
  });

  test("is known by what the page asks for, where the path says nothing", () => {
    assert.ok(reached("/orders", "/welcome", FORM), "hardly anything but a password field");
    assert.ok(reached("/orders", "/auth/start", FORM + ARTICLE), "a path of sign-ins and a password field");
    assert.ok(reached("/orders", "/door?return=%2Forders", FORM + ARTICLE), "it leads back");
    assert.ok(reached("/orders", "/door", FORM.replace("Welcome", "Log in") + ARTICLE), "the title says so");
  });

  test("is not seen in pages that are none", () => {
    const header = ARTICLE.replace("<p>", `<form><input type=password></form><p>`);
    for (const [asked, final, html] of [
      ["/", "/en/", header],
      ["/boots", "/shoes/boots", header],
      ["/help", "/help/how-to-sign-in", ARTICLE],
      ["/docs/auth", "/docs/auth/", FORM],
      ["/a", "/plugin", ARTICLE],
      ["/design", "/design-in-berlin", ARTICLE],
      ["/orders", "/account", ARTICLE],
      ["/login", "/account/login", FORM],
      ["/Login", "/login/", FORM],
    ] as const)
      assert.equal(reached(asked, final, html), null, `${asked} to ${final}`);
    const plain = { askedUrl: "http://shop.example/in", finalUrl: "https://www.shop.example/in", html: FORM };
    assert.equal(signInReached(plain), null, "the same page, encrypted");
  });

  test("is known before it is followed", () => {
    assert.match(signInAhead("https://a.example/members", "https://a.example/login?next=/members") ?? "", /\/login/);
    assert.equal(signInAhead("https://a.example/login", "https://a.example/sign-in"), null);
    assert.equal(signInAhead("https://a.example/members", "https://a.example/news"), null);
  });
});
