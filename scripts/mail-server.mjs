// Finds the mail server Exim for the tests of e-mail, or installs it. Plain JavaScript, for Node 20 and without packages.
import { canInstall, findCommand, installPackages, isExecutable, updateLists, withLock } from "./apt.mjs";

/** Outside of the paths of ordinary users. */
const USUAL = "/usr/sbin/exim4";

/** The path of its program, or null. */
export function findMailServer(env = process.env) {
  return findCommand("exim4", env) ?? (isExecutable(USUAL) ? USUAL : null);
}

/** Whether it is available; as root with apt it installs it. Idempotent, also concurrently. */
export async function ensureMailServer(env = process.env) {
  if (findMailServer(env) !== null) return true;
  if (!canInstall(env)) return false;
  return withLock("mail-server", async () => {
    const names = ["exim4-daemon-light"];
    if (findMailServer(env) === null) {
      process.stdout.write(`Installing ${names[0]} for the tests of e-mail …\n`);
      if (!(await installPackages(names, env)) && (await updateLists(env))) await installPackages(names, env);
    }
    return findMailServer(env) !== null;
  });
}
