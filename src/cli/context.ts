import type { Log } from "../base/log.ts";
import type { Config } from "../config/options.ts";
import { createClient, type OrbweaverClient } from "../api-client/client.ts";
import { commandLog } from "./command-log.ts";
import { EXIT, type Terminal } from "./print/output.ts";
import type { CliApi, CliClient, Wiring } from "./wiring.ts";

/** The API that a command calls. */
export type OpenApi = OrbweaverClient & {
  /** What only the in-process API can do; null: it is a remote server. */
  readonly here: Pick<CliApi, "engineRuns" | "work"> | null;
  readonly config: Config;
  readonly log: Log;
};

/** Base URL of the in-process API; never connected to. */
const LOCAL = "http://localhost";
/** Names the program that changes a job, for its versions. */
const CLIENT = { "orb-client": "cli" };

/** State of one invocation of the command line. */
export class CliContext {
  readonly wiring: Wiring;
  json = false;
  exitCode: number = EXIT.done;

  constructor(wiring: Wiring) {
    this.wiring = wiring;
  }

  get terminal(): Terminal {
    return this.wiring.terminal;
  }

  async withClient(work: (client: CliClient) => Promise<unknown>): Promise<void> {
    const { config, warnings } = this.wiring.loadConfig();
    for (const warning of warnings) this.terminal.err(`${warning}\n`);
    const client = await this.wiring.openClient(config);
    try {
      await work(client);
    } finally {
      await client.close();
    }
  }

  /** On the configured database, or with a URL on that server: the calls are the same. */
  async withApi(
    { url, log: wrap = (log: Log) => log }: { url?: string; log?: (log: Log) => Log },
    work: (api: OpenApi) => Promise<unknown>,
  ): Promise<void> {
    const { config, warnings } = this.wiring.loadConfig();
    for (const warning of warnings) this.terminal.err(`${warning}\n`);
    const log = wrap(commandLog(this.terminal, config.logLevel));
    const here = url === undefined ? await this.wiring.openApi(config, log) : null;
    const opened =
      here === null
        ? // Only this way goes over the network, and only then what does is loaded.
          (await import("./api/remote.ts")).openRemote(url ?? "", config.apiToken)
        : {
            client: createClient({ url: LOCAL, fetch: here.fetch, retries: 0, headers: CLIENT }),
            close: () => here.close(),
          };
    try {
      await work({ ...opened.client, here, config, log });
    } finally {
      await opened.close();
    }
  }
}
