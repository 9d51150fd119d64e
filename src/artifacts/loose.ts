import { rename, stat, unlink } from "node:fs/promises";
import { systemCode } from "../base/errors.ts";
import { artifactPath, type Folder } from "./layout.ts";

/** Longer than anybody needs from finding a file there to writing the row that names it. */
const YOUNG_MS = 60 * 60 * 1000;

/**
 * Removes a file that no row names, and says whether it is gone. Somebody may store the same content at this moment: who
 * found the file has made it young, and who comes after it was put aside writes it anew.
 */
export async function removeLoose(folder: Folder, hash: string, isLoose: () => Promise<boolean>): Promise<boolean> {
  const path = `${folder.dir}/${artifactPath(hash)}`;
  const isYoung = async (file: string) => (await stat(file)).mtimeMs > folder.clock.now() - YOUNG_MS;
  try {
    if (await isYoung(path)) return false;
    const aside = folder.temporary();
    await rename(path, aside);
    if ((await isYoung(aside)) || !(await isLoose())) {
      await rename(aside, path);
      return false;
    }
    await unlink(aside);
    return true;
  } catch (error) {
    if (systemCode(error) === "ENOENT") return true;
    throw error;
  }
}
