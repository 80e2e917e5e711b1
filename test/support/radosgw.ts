// A Ceph cluster with radosgw, an S3 store, on loopback: one monitor, one storage daemon, one gateway. Debian
// has the packages radosgw, ceph-mon and ceph-osd.
import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import { randomUUID } from "node:crypto";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import { temporaryFolder } from "./folder.ts";
import { freePort } from "./free-port.ts";

export interface Radosgw {
  readonly endpoint: string;
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
  /** Ends the processes; the folder is removed with that of the test. */
  stop(): Promise<void>;
}

const startMsMax = 120_000;

export async function startRadosgw(): Promise<Radosgw> {
  const folder = temporaryFolder();
  const [monitorPort, gatewayPort] = [await freePort(), await freePort()];
  const cluster = new Cluster(folder, { monitorPort, gatewayPort });
  try {
    return await cluster.start();
  } catch (problem) {
    await cluster.stop();
    throw problem;
  }
}

class Cluster {
  readonly #folder: string;
  readonly #config: string;
  readonly #keyring: string;
  readonly #id = randomUUID();
  readonly #monitor: string;
  readonly #endpoint: string;
  readonly #running: ChildProcess[] = [];

  constructor(folder: string, ports: { readonly monitorPort: number; readonly gatewayPort: number }) {
    this.#folder = folder;
    this.#config = join(folder, "ceph.conf");
    this.#keyring = join(folder, "keyring");
    this.#monitor = `[v2:127.0.0.1:${ports.monitorPort}]`;
    this.#endpoint = `127.0.0.1:${ports.gatewayPort}`;
  }

  async start(): Promise<Radosgw> {
    for (const name of ["mon", "osd", "rgw", "run", "log"]) mkdirSync(join(this.#folder, name));
    writeFileSync(this.#config, configOf(this.#folder, this.#id, this.#monitor, this.#endpoint));
    await this.#startStorage();
    this.#daemon("radosgw", "-n", "client.rgw");
    await this.#until(async () => (await fetch(`http://${this.#endpoint}/`)).ok);
    const [accessKeyId, secretAccessKey] = [randomUUID(), randomUUID()];
    const user = ["--uid=millrace", "--display-name=millrace"];
    const keys = [`--access-key=${accessKeyId}`, `--secret=${secretAccessKey}`];
    this.#run("radosgw-admin", "-n", "client.rgw", "user", "create", ...user, ...keys);
    const stop = () => this.stop();
    return { endpoint: `http://${this.#endpoint}`, accessKeyId, secretAccessKey, stop };
  }

  async stop(): Promise<void> {
    for (const child of this.#running.splice(0).reverse()) {
      const ended = new Promise((resolve) => child.once("exit", resolve));
      if (child.exitCode === null && child.kill("SIGKILL")) await ended;
    }
  }

  async #startStorage(): Promise<void> {
    const all = ["mon", "osd"].flatMap((name) => ["--cap", name, "allow *"]);
    this.#tool(
      "ceph-authtool",
      "--create-keyring",
      this.#keyring,
      "--gen-key",
      "-n",
      "mon.",
      ...all.slice(0, 3),
    );
    for (const name of ["client.admin", "osd.0", "client.rgw"])
      this.#tool("ceph-authtool", this.#keyring, "--gen-key", "-n", name, ...all);
    const map = join(this.#folder, "monmap");
    this.#tool("monmaptool", "--create", "--addv", "a", this.#monitor, "--fsid", this.#id, map);
    this.#run("ceph-mon", "--mkfs", "-i", "a", "--monmap", map, "--keyring", this.#keyring);
    this.#daemon("ceph-mon", "-i", "a");
    const storage = randomUUID();
    this.#run("ceph", "osd", "new", storage, "0");
    this.#run("ceph-osd", "-i", "0", "--mkfs", "--osd-uuid", storage);
    this.#daemon("ceph-osd", "-i", "0");
    const place = ["osd.0", "1.0", "root=default", "host=local"];
    await this.#until(async () => {
      this.#run("ceph", "osd", "crush", "set", ...place); // Fails until the daemon has reported itself.
      return true;
    });
  }

  async #until(holds: () => Promise<boolean>): Promise<void> {
    for (const endMs = performance.now() + startMsMax; ; await wait(200)) {
      if (await holds().catch(() => false)) return;
      if (performance.now() > endMs)
        throw new Error(`radosgw does not respond; its log is in ${this.#folder}`);
    }
  }

  #daemon(command: string, ...words: readonly string[]): void {
    this.#running.push(spawn(command, ["-c", this.#config, "-f", ...words], { stdio: "ignore" }));
  }

  #run(command: string, ...words: readonly string[]): void {
    this.#tool(command, "-c", this.#config, ...words);
  }

  #tool(command: string, ...words: readonly string[]): void {
    const { status, stderr } = spawnSync(command, words, { timeout: startMsMax, encoding: "utf8" });
    if (status !== 0) throw new Error(`${command} ${words.join(" ")}: ${stderr}`);
  }
}

const configOf = (folder: string, id: string, monitor: string, endpoint: string) => `[global]
fsid = ${id}
run dir = ${folder}/run
admin socket = ${folder}/run/$name.asok
log file = ${folder}/log/$name.log
keyring = ${folder}/keyring
mon host = ${monitor}
mon initial members = a
mon data = ${folder}/mon
mon data avail crit = 1
public addr = 127.0.0.1
cluster addr = 127.0.0.1
ms bind msgr1 = false
auth cluster required = cephx
auth service required = cephx
auth client required = cephx
osd data = ${folder}/osd
osd objectstore = bluestore
bluestore block create = true
bluestore block size = 10737418240
osd crush chooseleaf type = 0
osd pool default size = 1
osd pool default min size = 1
osd pool default pg num = 1
osd pool default pgp num = 1
osd pool default pg autoscale mode = off
mon allow pool size one = true
rgw frontends = beast endpoint=${endpoint}
rgw data = ${folder}/rgw
`;
