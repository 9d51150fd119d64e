import { benchPeers } from "./peers.ts";
import { benchDepth, benchStatements } from "./statements.ts";

export async function run(rounds: number): Promise<boolean> {
  const results = [await benchStatements(rounds), await benchDepth(), await benchPeers(rounds)];
  return results.every(Boolean);
}
