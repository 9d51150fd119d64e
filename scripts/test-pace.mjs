// How many test processes run at a time. They often wait for timers and for each other's programs, so a few more than there
// are cores keep these busy; how many more shows in how busy they are. On a machine that others use, too, it stays at a few.
import { availableParallelism, cpus, freemem } from "node:os";

const cores = availableParallelism();
/** At any time, and at most. */
const FEW = Math.min(7, cores + 3);
const MANY = Math.min(9, cores + 6);
const LOOK_MS = 800;
/** Of all the time of all cores, since the last look. */
const IDLE_ENOUGH = 0.12;
/** A process may have a browser and several servers. */
const FREE_BYTES = 3 * 2 ** 30;

/** Runs `work` for each, several at a time, until all are done or none is to be begun any more. */
export async function eachAtGoodPace(list, work, { signal, look = spareTime(), lookMs = LOOK_MS } = {}) {
  const next = list.values();
  const running = new Set();
  /** false: there is none left. */
  const begin = () => {
    const { done, value } = signal?.aborted === true ? { done: true } : next.next();
    if (done === true) return false;
    const one = work(value).finally(() => running.delete(one));
    running.add(one);
    return true;
  };
  const fill = () => {
    for (let more = true; more && running.size < FEW;) more = begin();
  };
  const looking = setInterval(() => {
    const hasRoom = look();
    if (hasRoom && running.size >= FEW && running.size < MANY) begin();
  }, lookMs);
  try {
    for (fill(); running.size > 0; fill()) await Promise.race(running);
  } finally {
    clearInterval(looking);
  }
}

/** Says whether the cores had time to spare since it was asked last, and there is memory. */
function spareTime() {
  let last = timesOf();
  return () => {
    const now = timesOf();
    const idle = (now.idle - last.idle) / Math.max(1, now.all - last.all);
    last = now;
    // A container may have less than the machine; older Nodes cannot tell.
    return idle > IDLE_ENOUGH && (process.availableMemory?.() ?? freemem()) > FREE_BYTES;
  };
}

function timesOf() {
  const all = cpus().map(({ times }) => times);
  const sum = (list) => list.reduce((total, ms) => total + ms, 0);
  return { idle: sum(all.map(({ idle }) => idle)), all: sum(all.map((times) => sum(Object.values(times)))) };
}
