/** Debian's mail server: Exim takes mails by SMTP with STARTTLS or TLS, from those who sign in, and delivers them into a folder. */
import { type ChildProcess, spawn } from "node:child_process";
import { chownSync, existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import { selfSigned } from "../support/certificate.ts";
import { gate, optionalGate } from "../support/gate.ts";
import { PATIENCE_MS } from "../support/patience.ts";
import { somePort } from "../support/services.ts";
import { root } from "../support/source.ts";
import { tempDir } from "../support/temp-dir.ts";
import { MAIL_USER } from "./kit.ts";

interface Script {
  findMailServer(): string | null;
}
const { findMailServer } = (await import(join(root, "scripts/mail-server.mjs"))) as Script;
const program = findMailServer();

/** The system's user whom Exim serves besides root. */
function eximUser(): { uid: number; gid: number } | null {
  const line = readFileSync("/etc/passwd", "utf8")
    .split("\n")
    .find((candidate) => candidate.startsWith("Debian-exim:"));
  const [, , uid, gid] = line?.split(":") ?? [];
  return uid === undefined ? null : { uid: Number(uid), gid: Number(gid) };
}

/** Only root may start it: others go without, also where nothing else may be skipped. */
const isRoot = process.getuid?.() === 0;
export const eximGate = isRoot
  ? gate("Exim", program !== null && eximUser() !== null, "exim4-daemon-light is not installed")
  : optionalGate("Exim", false, "the tests do not run as root, who alone may start it");

const MOST_PORTS = 3;
/** Exim itself would wait, and try again. */
const TAKEN = /address already in use/i;

const configuration = (folder: string, ports: { starttls: number; tls: number }) => `
exim_path = ${program}
primary_hostname = localhost
spool_directory = ${folder}/spool
log_file_path = ${folder}/log/%s
pid_file_path = ${folder}/exim.pid
local_interfaces = 127.0.0.1
daemon_smtp_ports = ${ports.starttls} : ${ports.tls}
tls_on_connect_ports = ${ports.tls}
tls_advertise_hosts = *
tls_certificate = ${folder}/cert.pem
tls_privatekey = ${folder}/key.pem
auth_advertise_hosts = \${if eq{$tls_in_cipher}{}{}{*}}
acl_smtp_rcpt = recipient
host_lookup =
deliver_drop_privilege
keep_environment =
begin acl
recipient:
  deny local_parts = nobody
       message = no such user here
  accept authenticated = *
  deny message = sign in first
begin routers
all:
  driver = accept
  transport = folder
begin transports
folder:
  driver = appendfile
  directory = ${folder}/mail
  maildir_format
begin authenticators
plain:
  driver = plaintext
  public_name = PLAIN
  server_prompts = :
  server_condition = \${if and {{eq{$auth2}{${MAIL_USER.user}}}{eq{$auth3}{${MAIL_USER.password}}}}}
  server_set_id = $auth2
`;

export class Exim implements AsyncDisposable {
  readonly ports: { starttls: number; tls: number };
  readonly ca: string;
  readonly #dir = tempDir();
  readonly #child: ChildProcess;
  readonly #exited: Promise<void>;
  #output = "";
  #over = false;

  private constructor(ports: { starttls: number; tls: number }) {
    this.ports = ports;
    const { path } = this.#dir;
    const { key, cert } = selfSigned("DNS:localhost");
    this.ca = cert.toString();
    writeFileSync(join(path, "exim.conf"), configuration(path, ports), { mode: 0o644 });
    writeFileSync(join(path, "cert.pem"), cert);
    writeFileSync(join(path, "key.pem"), key);
    for (const name of ["spool", "log", "mail"]) mkdirSync(join(path, name));
    const user = eximUser()!;
    for (const name of ["", "spool", "log", "mail", "cert.pem", "key.pem"])
      chownSync(join(path, name), user.uid, user.gid);
    this.#child = spawn(program!, ["-C", join(path, "exim.conf"), "-bdf"], {
      ...user,
      stdio: ["ignore", "pipe", "pipe"],
      // A group of its own, with the processes that serve its connections.
      detached: true,
    });
    for (const stream of [this.#child.stdout!, this.#child.stderr!])
      stream.setEncoding("utf8").on("data", (text: string) => (this.#output += text));
    this.#exited = new Promise((resolve) => {
      const end = () => {
        this.#over = true;
        resolve();
      };
      this.#child.once("close", end);
      this.#child.once("error", end);
    });
    process.on("exit", this.#endWithUs);
  }

  static async start(): Promise<Exim> {
    for (let attempt = 1; ; attempt += 1) {
      const exim = new Exim({ starttls: await somePort(), tls: await somePort() });
      try {
        await exim.#listening();
        return exim;
      } catch (error) {
        await exim[Symbol.asyncDispose]();
        // Between the look for a free port and its use, another test may have taken it.
        if (attempt === MOST_PORTS || !TAKEN.test(String(error))) throw error;
      }
    }
  }

  /** The mails so far, once there are `count`. */
  async mails(count: number): Promise<string[]> {
    const folder = join(this.#dir.path, "mail", "new");
    for (const deadline = performance.now() + PATIENCE_MS; ; await wait(20)) {
      const names = existsSync(folder) ? readdirSync(folder).sort() : [];
      if (names.length >= count) return names.map((name) => readFileSync(join(folder, name), "utf8"));
      if (performance.now() > deadline) throw new Error(`${names.length} of ${count} mails came: ${this.log}`);
    }
  }

  get log(): string {
    const path = join(this.#dir.path, "log", "main");
    return this.#output + (existsSync(path) ? readFileSync(path, "utf8") : "");
  }

  /** It says so in its log: something else might answer on its ports. */
  async #listening(): Promise<void> {
    for (const deadline = performance.now() + PATIENCE_MS; !this.log.includes("daemon started"); await wait(20))
      if (this.#over || TAKEN.test(this.log) || performance.now() > deadline)
        throw new Error(`Exim does not start: ${this.log}`);
  }

  readonly #endWithUs = () => {
    try {
      process.kill(-this.#child.pid!, "SIGKILL");
    } catch {
      // It has ended.
    }
  };

  async [Symbol.asyncDispose](): Promise<void> {
    process.off("exit", this.#endWithUs);
    this.#endWithUs();
    await this.#exited;
    this.#dir[Symbol.dispose]();
  }
}
