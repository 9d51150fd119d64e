/**
 * The parts of undici that connect and send: half of the package is for what we do not use (fetch, mocks, caches), and
 * loading it takes a tenth of a second of every command that fetches a page.
 */
import { createRequire } from "node:module";
import type { Agent as UndiciAgent, buildConnector as undiciConnector } from "undici";

const require = createRequire(import.meta.url);

/** These files are not part of undici's documented interface: in another version they may be elsewhere. */
function load<Part>(path: string, name: "Agent" | "buildConnector"): Part {
  try {
    return require(`undici/lib/${path}`) as Part;
  } catch {
    return (require("undici") as Record<string, Part>)[name]!;
  }
}

export const Agent = load<typeof UndiciAgent>("dispatcher/agent.js", "Agent");
export type Agent = UndiciAgent;
export const buildConnector = load<typeof undiciConnector>("core/connect.js", "buildConnector");
