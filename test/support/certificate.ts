import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { tempDir } from "./temp-dir.ts";

export interface Certificate {
  key: Buffer;
  cert: Buffer;
}

/** One that vouches for itself, for names (`DNS:…`) and addresses (`IP:…`). */
export function selfSigned(...names: string[]): Certificate {
  using dir = tempDir();
  const [key, cert] = [join(dir.path, "key.pem"), join(dir.path, "cert.pem")];
  const words = ["req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", "2"];
  const whom = names.length === 0 ? [] : ["-addext", `subjectAltName=${names.join(",")}`];
  execFileSync("openssl", [...words, ...whom, "-subj", "/CN=test", "-keyout", key, "-out", cert], { stdio: "ignore" });
  return { key: readFileSync(key), cert: readFileSync(cert) };
}
