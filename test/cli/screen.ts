import { spawn, spawnSync } from "node:child_process";
import { join } from "node:path";
import type { Orb } from "../chaos/orb.ts";
import { root } from "../support/source.ts";

export const hasScript = process.platform === "linux" && spawnSync("script", ["--version"]).status === 0;

export interface Screen {
  readonly text: string;
  type(text: string): void;
  /** Somebody closes the window. */
  close(): void;
  ended: Promise<number | null>;
}

/** `orb` on a terminal of its own, which util-linux's `script` makes. */
export function onTerminal(orb: Orb, args: readonly string[], columns = 80): Screen {
  const words = [process.execPath, join(root, "bin", "orb"), ...args].map((word) => `'${word}'`).join(" ");
  const child = spawn("script", ["-qefc", `stty cols ${columns} rows 24; exec ${words}`, "/dev/null"], {
    cwd: orb.dir,
    env: { ...orb.env, TERM: "xterm", NO_COLOR: "1", SHELL: "/bin/sh" },
    stdio: ["pipe", "pipe", "inherit"],
  });
  let text = "";
  child.stdout.setEncoding("utf8").on("data", (more: string) => (text += more));
  return {
    get text() {
      return text;
    },
    type: (keys) => void child.stdin.write(keys),
    close: () => void child.kill("SIGKILL"),
    ended: new Promise((resolve) => child.once("close", (code) => resolve(code))),
  };
}
