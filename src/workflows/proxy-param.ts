import type { JsonValue } from "../domain/lane/queue-item.ts";

/** Through which proxy a step fetches. What lets somebody into a proxy of their own is sealed with its address. */
export const PROXY_SCHEMA: JsonValue = {
  anyOf: [{ enum: ["pool", null] }, { type: "string", minLength: 1, maxLength: 2000, writeOnly: true }],
  description: "pool: use the proxy pool. Or the URL of one proxy, such as http://user:password@host:8080.",
};
