/** The words of the store about who the engine is. */
export interface EngineCandidate {
  id: string;
  /** Identity of the machine's boot; a lock of another boot is dead. */
  boot: string;
  pid: number;
  /** Tells a process from a later one with the same pid. */
  pidStart: string;
  /** Where the engine listens for pokes. */
  address: string;
}

export interface EngineHolder extends EngineCandidate {
  epoch: number;
  /** Milliseconds until the lease ends; negative when it has. */
  remainingMs: number;
}
