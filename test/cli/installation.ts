import { Orb } from "../chaos/orb.ts";
import { makeDatabase } from "../support/prepared-database.ts";
import { runHere, type Said, type Typing } from "./here.ts";

/** An installation in a folder of its own whose commands run in this process, but for those that are started. */
export class Installation extends Orb {
  constructor(env: Record<string, string> = {}) {
    // What never answers is not to be given up before it has been looked at, which takes long on a busy machine.
    super({ APP_HTTP_TIMEOUT_SECONDS: "600", ...env });
  }

  /** One whose database is there: making it takes longer than most commands. */
  static prepared(env: Record<string, string> = {}): Installation {
    const installation = new Installation(env);
    makeDatabase(installation.database);
    return installation;
  }

  override run(
    args: readonly string[],
    { env = {}, ...typing }: Typing & { env?: Record<string, string> } = {},
  ): Promise<Said> {
    return runHere({ dir: this.dir, env: { ...this.env, ...env } }, args, typing);
  }
}
