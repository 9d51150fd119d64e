/** Debian packages in a cache: downloaded and unpacked without installing, so root is not needed. */
import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, readdirSync, renameSync, rmSync } from "node:fs";
import { homedir } from "node:os";
import { join } from "node:path";

export const CACHE = join(process.env["XDG_CACHE_HOME"] ?? join(homedir(), ".cache"), "orbweaver-bench");

/** The folder of an unpacked package; null: unavailable. */
export function unpackedPackage(name: string): string | null {
  const folder = join(CACHE, name);
  if (existsSync(folder)) return folder;
  mkdirSync(CACHE, { recursive: true });
  const work = mkdtempSync(join(CACHE, "fetching-"));
  try {
    execFileSync("apt-get", ["download", "-q", name], { cwd: work, stdio: "ignore" });
    const [file] = readdirSync(work);
    execFileSync("dpkg-deb", ["-x", join(work, file!), join(work, "files")], { stdio: "ignore" });
    renameSync(join(work, "files"), folder);
    return folder;
  } catch {
    return existsSync(folder) ? folder : null; // Another process may have been faster.
  } finally {
    rmSync(work, { recursive: true, force: true });
  }
}

export interface FoundProgram {
  file: string;
  env: Record<string, string>;
}

function runs({ file, env }: FoundProgram, question: string): boolean {
  try {
    execFileSync(file, [question], { stdio: "ignore", env: { ...process.env, ...env } });
    return true;
  } catch {
    return false;
  }
}

/**
 * An installed program, or one from its package with the libraries of other packages; `question` is an argument with
 * which it exits at once. Null: unavailable.
 */
export function findProgram(path: string, packages: readonly string[], question: string): FoundProgram | null {
  const installed = { file: join("/", path), env: {} };
  if (runs(installed, question)) return installed;
  const folders = packages.map(unpackedPackage).filter((folder) => folder !== null);
  const triplets = process.arch === "arm64" ? "aarch64-linux-gnu" : "x86_64-linux-gnu";
  const libraries = folders.flatMap((folder) => [join(folder, "usr/lib"), join(folder, "usr/lib", triplets)]);
  const unpacked = { file: join(folders[0] ?? "/", path), env: { LD_LIBRARY_PATH: libraries.join(":") } };
  return runs(unpacked, question) ? unpacked : null;
}

export const findWget2 = () =>
  findProgram("usr/bin/wget2", ["wget2", "libwget0", "libgpgme11", "libassuan0"], "--version");

export const findNginx = () => findProgram("usr/sbin/nginx", ["nginx"], "-v");
