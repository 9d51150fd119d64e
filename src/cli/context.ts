import type { CliClient, Wiring } from "./wiring.ts";
import { EXIT, type Terminal } from "./output.ts";

/** What one call of the command line carries along. */
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
}
