import { rename, stat, unlink } from "node:fs/promises";
import { systemCode } from "../base/errors.ts";
import { artifactPath, ASIDE_PREFIX, type Folder } from "./layout.ts";

/** Longer than anybody needs from finding a file there to writing the row that names it. */
const YOUNG_MS = 60 * 60 * 1000;

/**
 * Removes a file that no row names, and says whether it is gone. Somebody may store the same content at this moment: who
 * found the file has made it young, and who comes after it was put aside writes it anew. What a process has put aside
 * that died then, or is slow, is put back by the next one that starts.
 */
export async function removeLoose(folder: Folder, hash: string, isLoose: () => Promise<boolean>): Promise<boolean> {
  const path = `${folder.dir}/${artifactPath(hash)}`;
  const aside = `${folder.tmp}/${ASIDE_PREFIX}${hash}`;
  const isYoung = async (file: string) => (await stat(file)).mtimeMs > folder.clock.now() - YOUNG_MS;
  try {
    if (await isYoung(path)) return false;
    await rename(path, aside);
  } catch (error) {
    if (systemCode(error) === "ENOENT") return true;
    throw error;
  }
  try {
    const goes = !(await isYoung(aside)) && (await isLoose());
    await (goes ? unlink(aside) : rename(aside, path));
    return goes;
  } catch (error) {
    // It was put back meanwhile: it has its turn again.
    if (systemCode(error) === "ENOENT") return false;
    throw error;
  }
}
