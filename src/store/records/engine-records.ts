/** Records of the engine lock. */
export interface EngineCandidate {
  id: string;
  /** Identity of the machine's boot; a lock of another boot is dead. */
  boot: string;
  pid: number;
  /** Distinguishes a process from a later one with the same pid. */
  pidStart: string;
  /** Where the engine listens for pokes. */
  address: string;
}

export interface EngineHolder extends EngineCandidate {
  epoch: number;
  /** Milliseconds until the lease ends; negative when it has. */
  remainingMs: number;
}
