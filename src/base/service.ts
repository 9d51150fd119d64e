/**
 * The one contract for everything that is started and stopped. `start` may be called once; `stop` may be called at
 * any time, any number of times, and resolves when nothing of the service is left running. A service stops only
 * what it started itself.
 */
export interface Service extends AsyncDisposable {
  start(): Promise<void>;
  stop(): Promise<void>;
}

/** Stops services in reverse order, even when one of the stops fails. */
export class ServiceStack implements AsyncDisposable {
  readonly #started: { name: string; stop: () => Promise<void> }[] = [];

  async start(name: string, service: Service): Promise<void> {
    this.#started.push({ name, stop: () => service.stop() });
    await service.start();
  }

  defer(name: string, stop: () => Promise<void>): void {
    this.#started.push({ name, stop });
  }

  async stop(): Promise<void> {
    const failures: unknown[] = [];
    for (let entry = this.#started.pop(); entry !== undefined; entry = this.#started.pop()) {
      try {
        await entry.stop();
      } catch (error) {
        failures.push(error);
      }
    }
    if (failures.length === 1) throw failures[0];
    if (failures.length > 1) throw new AggregateError(failures, "several services failed to stop");
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.stop();
  }
}
