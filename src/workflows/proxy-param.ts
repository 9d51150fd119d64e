import type { JsonValue } from "../domain/lane/queue-item.ts";

/** The proxy of a step's requests. Credentials of a proxy URL are sealed. */
export const PROXY_SCHEMA: JsonValue = {
  anyOf: [{ enum: ["pool", null] }, { type: "string", minLength: 1, maxLength: 2000, writeOnly: true }],
  description: "pool: use the proxy pool. Or the URL of one proxy, such as http://user:password@host:8080.",
};
