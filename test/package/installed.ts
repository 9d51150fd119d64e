import { execFile, execFileSync } from "node:child_process";
import { mkdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { dirname, join, relative } from "node:path";
import { promisify } from "node:util";
import { root } from "../support/source.ts";
import { tempDir } from "../support/temp-dir.ts";
import { FULL } from "../support/gate.ts";

/** Whether npm installs it as it would for a user, from the network. */
export const REAL_INSTALL = FULL || process.env["CI"] === "true";

export interface Packed {
  filename: string;
  size: number;
  unpackedSize: number;
  files: { path: string }[];
}

/** A user's project, empty until the package is installed into it. */
export interface Project extends Disposable {
  dir: string;
  orb: string;
  /** Packs this project as it is now. */
  pack(): Promise<Packed>;
  /** How many packages that brings. */
  install(packed: Packed): Promise<number>;
}

interface LockEntry {
  dev?: boolean;
  devOptional?: boolean;
  optional?: boolean;
}

export function makeProject(): Project {
  const temp = tempDir();
  const dir = join(temp.path, "project");
  mkdirSync(join(dir, "node_modules"), { recursive: true });
  writeFileSync(join(dir, "package.json"), '{ "name": "user", "private": true, "type": "module" }\n');
  return {
    dir,
    orb: join(dir, "node_modules", ".bin", "orb"),
    pack: async () => {
      const said = await npm(["pack", "--json", "--pack-destination", temp.path], root);
      // What the build says comes before.
      const [packed] = JSON.parse(said.slice(said.indexOf("[\n"))) as [Packed];
      return packed;
    },
    install: async ({ filename }) => {
      const tarball = join(temp.path, filename);
      if (!REAL_INSTALL) return unpack(tarball, dir);
      await npm(["install", "--prefer-offline", "--no-audit", "--no-fund", "--loglevel=error", tarball], dir);
      return lockedPackages(join(dir, "node_modules", ".package-lock.json")).length;
    },
    [Symbol.dispose]: () => temp[Symbol.dispose](),
  };
}

async function npm(words: string[], cwd: string): Promise<string> {
  // The project may be tested by npm, which tells its children where it is.
  const env = Object.fromEntries(
    Object.entries(process.env).filter(([name]) => !/^npm_|^NODE_TEST_CONTEXT$/.test(name)),
  );
  return (await promisify(execFile)("npm", words, { cwd, env, maxBuffer: 16 << 20 })).stdout;
}

/** Without the network: the package from the tarball, what it depends on from the clone. */
function unpack(tarball: string, dir: string): number {
  const modules = join(dir, "node_modules");
  const own = join(modules, "orbweaver");
  mkdirSync(own);
  execFileSync("tar", ["-xzf", tarball, "-C", own, "--strip-components=1"]);
  mkdirSync(join(modules, ".bin"));
  symlinkSync(relative(join(modules, ".bin"), join(own, "bin", "orb")), join(modules, ".bin", "orb"));
  const paths = lockedPackages(join(root, "node_modules", ".package-lock.json"));
  for (const path of paths) {
    // Packages inside of packages come with the link to the outer one.
    if (path.indexOf("node_modules/", 1) >= 0) continue;
    mkdirSync(dirname(join(dir, path)), { recursive: true });
    symlinkSync(join(root, path), join(dir, path));
  }
  return paths.length + 1;
}

/** Those that a user gets, the package itself among them. */
function lockedPackages(path: string): string[] {
  const { packages } = JSON.parse(readFileSync(path, "utf8")) as { packages: Record<string, LockEntry> };
  return Object.keys(packages).filter((name) => packages[name]?.dev !== true && packages[name]?.devOptional !== true);
}
