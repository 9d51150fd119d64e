/** Extractors of the user's module, for page handlers. Part of the composition root. */
import type { Clock } from "../base/clock.ts";
import { OrbError } from "../base/errors.ts";
import type { Log } from "../base/log.ts";
import type { Config } from "../config/options.ts";
import type { HandlerServices } from "../lanes/handlers/user/services.ts";
import type { UserCode } from "../lanes/handlers/user/user-code.ts";
import type { PageExtractors } from "../pages/extract-further.ts";

interface UserExtractors {
  extract: PageExtractors["user"];
  close(): Promise<void>;
}

/** Loads the module with the first page that needs it: most processes never get one. */
export function openUserExtractors(config: Config, log: Log, clock: Clock): UserExtractors {
  const { handlers: module } = config;
  if (module === null) return { extract: null, close: async () => {} };
  let loaded: Promise<UserCode> | null = null;
  const load = async () => {
    const { UserCode } = await import("../lanes/handlers/user/user-code.ts");
    return UserCode.load(module, { clock, services: NO_SERVICES });
  };
  return {
    extract: async (name, page, signal) => {
      loaded ??= load().catch((error: unknown) => {
        loaded = null;
        throw error;
      });
      return (await loaded).extract(name, page, { signal, log });
    },
    close: async () => {
      const code = await loaded?.catch(() => null);
      await code?.stop();
    },
  };
}

/** An extractor gets only the page. */
const nothing = async (): Promise<never> => {
  throw new OrbError("handler_failed", "extractors cannot use context.fetch, context.download or context.save");
};
const NO_SERVICES: HandlerServices = { fetch: nothing, download: nothing, save: nothing };
