import { type ChannelKind, hostOf, jsonHeaders, memberOf, textIn } from "../channel-kind.ts";
import { textOf } from "../message.ts";
import { forAny } from "../text.ts";

const TYPES = { info: "info", warning: "warning", error: "failure" } as const;

/** More than a hundred other services, through a server of Apprise API. */
export const appriseKind: ChannelKind = {
  kind: "apprise",
  label: "Apprise",
  about: "over 100 other services, through your Apprise API server",
  fields: {
    server: {
      type: "url",
      label: "Apprise API server",
      about: "its base URL",
      destination: true,
      required: true,
      example: "http://apprise.example.com:8000",
    },
    key: {
      type: "text",
      label: "Configuration key",
      about: "of services that are stored there",
      maxLength: 128,
      pattern: /^[\w-]+$/,
      expected: "letters, digits, - and _",
    },
    urls: {
      type: "text",
      label: "Apprise URLs",
      about: "services to notify without stored configuration, separated by commas",
      secret: true,
      maxLength: 4000,
    },
    service_tag: { type: "text", label: "Tag", about: "only services with this tag", maxLength: 200 },
  },
  check: (settings) =>
    (textIn(settings, "key") === null) === (textIn(settings, "urls") === null)
      ? { path: "key", message: "expected either a configuration key or urls" }
      : null,
  target(settings) {
    const key = textIn(settings, "key");
    return `${hostOf(textIn(settings, "server"))}${key === null ? "" : `/${key}`}`;
  },
  render(settings, message) {
    const [key, urls, tag] = ["key", "urls", "service_tag"].map((name) => textIn(settings, name));
    const base = textIn(settings, "server")!.replace(/\/+$/, "");
    const body = {
      title: forAny(message.title),
      body: textOf(message, forAny),
      type: TYPES[message.severity],
      // Apprise escapes it for services that want HTML; others get it as it is.
      format: "text",
      ...(urls === null ? {} : { urls }),
      ...(tag === null ? {} : { tag }),
    };
    return {
      via: "http",
      url: key === null ? `${base}/notify` : `${base}/notify/${key}`,
      headers: jsonHeaders,
      body: JSON.stringify(body),
    };
  },
  reason: (body) => memberOf(body, "error"),
};
