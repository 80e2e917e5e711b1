// TLS by HAProxy with the configuration of deploy/ and a certificate of its own, as docs/operations.md shows.
import assert from "node:assert/strict";
import { type ChildProcess, execFile, execFileSync, spawn } from "node:child_process";
import { createHash, randomBytes } from "node:crypto";
import { once } from "node:events";
import { readFileSync, writeFileSync } from "node:fs";
import { connect } from "node:http2";
import { type RequestOptions, request } from "node:https";
import { join } from "node:path";
import { buffer } from "node:stream/consumers";
import { after, before, describe, test } from "node:test";
import { setTimeout as pause } from "node:timers/promises";
import { promisify } from "node:util";
import { skipWithout } from "../scripts/system-packages.ts";
import { temporaryFolder } from "./support/folder.ts";
import { freePort } from "./support/free-port.ts";
import { endLeftProcesses, serveMillrace, withFront } from "./support/process.ts";

const skip = skipWithout("haproxy") || skipWithout("openssl");
const key = "a-key-of-this-test-with-enough-letters";
const fileBytes = 8 * 2 ** 20;
/** A client whose address is not that of the proxy. */
const client = "127.0.0.2";

describe("HAProxy with TLS before a server", { skip }, () => {
  const folder = temporaryFolder();
  const certificate = join(folder, "certificate.pem");
  let address: URL;
  let plainPort: number;
  let proxy: ChildProcess | undefined;

  before(async () => {
    const [tlsPort, serverPort] = [await freePort(), await freePort()];
    plainPort = await freePort();
    address = new URL(`https://localhost:${tlsPort}`);
    makeCertificate(folder, certificate);
    await serveMillrace(
      {
        ...{ ...withFront, MILLRACE_PORT: String(serverPort), MILLRACE_ADMIN_KEY: key },
        ...{ MILLRACE_BASE_URL: address.origin, MILLRACE_TRUSTED_PROXIES: "127.0.0.1" },
      },
      folder,
    );
    const settings = readFileSync(new URL("../deploy/haproxy-tls.cfg", import.meta.url), "utf8")
      .replace("bind :80\n", `bind 127.0.0.1:${plainPort}\n`)
      .replace("bind :443 ", `bind 127.0.0.1:${tlsPort} `)
      .replace("/etc/haproxy/millrace.pem", join(folder, "millrace.pem"))
      .replace("127.0.0.1:8787", `127.0.0.1:${serverPort}`);
    writeFileSync(join(folder, "haproxy.cfg"), settings);
    proxy = spawn("haproxy", ["-db", "-f", join(folder, "haproxy.cfg")], { stdio: "ignore" });
    while ((await ask("GET", "/health/live").catch(() => undefined))?.status !== 200) {
      assert.equal(proxy.exitCode, null, "HAProxy ended");
      await pause(50);
    }
  });
  after(() => {
    proxy?.kill();
    endLeftProcesses();
  });

  async function ask(method: string, path: string, more: RequestOptions & { body?: string | Buffer } = {}) {
    const { body, headers, ...options } = more;
    const sent = request(new URL(path, address), {
      ...{ method, ca: readFileSync(certificate), localAddress: client, family: 4, ...options },
      headers: { "api-key": key, "content-type": "application/json", ...headers },
    });
    sent.end(body);
    const [response] = await once(sent, "response");
    const bytes = await buffer(response);
    return {
      status: response.statusCode as number,
      headers: response.headers,
      bytes,
      text: bytes.toString(),
    };
  }
  const api = "/api/0.6/projects/default";

  test("HTTP is redirected to HTTPS, which clients are told to keep", async () => {
    const plain = await fetch(`http://127.0.0.1:${plainPort}/health`, {
      ...{ redirect: "manual", headers: { host: address.host } },
    });
    assert.equal(plain.status, 301);
    assert.match(plain.headers.get("location")!, /^https:\/\//);
    const { headers } = await ask("GET", "/health/live");
    assert.equal(headers["strict-transport-security"], "max-age=31536000");
  });

  test("HTTP/2 is served", async () => {
    const session = connect(address, { ca: readFileSync(certificate) });
    const stream = session.request({ ":path": `${api}/assets`, "api-key": key });
    const [headers] = await once(stream, "response");
    assert.equal(headers[":status"], 200);
    stream.resume();
    await once(stream, "end");
    session.close();
  });

  test("the session of the console has a secure cookie, and ends with it", async () => {
    const headers = { origin: address.origin, "api-key": [] };
    const signedIn = await ask("POST", "/session", { headers, body: JSON.stringify({ apiKey: key }) });
    const [cookie] = signedIn.headers["set-cookie"] as string[];
    assert.match(cookie!, /^__Host-[^;]+;.*Secure/);
    const withCookie = { ...headers, cookie: cookie!.split(";")[0] };
    assert.equal((await ask("GET", "/session", { headers: withCookie })).status, 200);
    assert.equal((await ask("DELETE", "/session", { headers: withCookie })).status, 204);
    assert.equal((await ask("GET", "/session", { headers: withCookie })).status, 401);
  });

  test("a file goes up and down by links with the public address", async () => {
    const begun = await ask("POST", `${api}/files/initupload`, { body: JSON.stringify({ fileName: "a" }) });
    const { fileId, uploadURL } = JSON.parse(begun.text).data;
    assert.ok(uploadURL.startsWith(`${address.origin}/`), uploadURL);
    const bytes = randomBytes(fileBytes);
    assert.equal((await ask("PUT", uploadURL, { body: bytes })).status, 200);
    const link = JSON.parse((await ask("GET", `${api}/files/${fileId}/downloadlink`)).text).data;
    assert.ok(link.startsWith(`${address.origin}/`), link);
    assert.equal(sha256((await ask("GET", link)).bytes), sha256(bytes));
  });

  test("OData names the public address", async () => {
    const { text } = await ask("GET", "/odata/v1/projects/default/Timeseries?$top=1");
    assert.ok(JSON.parse(text)["@odata.context"].startsWith(`${address.origin}/odata/`), text);
  });

  test("the audit log has the address of the client, whatever it claims", async () => {
    const headers = { "api-key": "guessed", "x-forwarded-for": "203.0.113.7" };
    assert.equal((await ask("GET", `${api}/assets`, { headers })).status, 401);
    const { text } = await ask("GET", `${api}/audit?kind=sign-in&result=refused&limit=1`);
    assert.equal(JSON.parse(text).data.items[0].address, client);
  });

  test("a program gets a token with Python alone", { skip: skipWithout("python") }, async () => {
    const words = ["-c", program, address.origin, key];
    const { stdout } = await promisify(execFile)("python3", words, {
      env: { ...process.env, SSL_CERT_FILE: certificate },
    });
    assert.deepEqual(JSON.parse(stdout), { data: { items: [] } });
  });
});

/** Of docs/access.md#a-token-for-a-program. */
const program = `
import json, sys, urllib.parse, urllib.request
base, key = sys.argv[1:]
form = {"grant_type": "client_credentials", "client_id": "administrator", "client_secret": key}
with urllib.request.urlopen(base + "/oauth2/token", urllib.parse.urlencode(form).encode()) as response:
    token = json.load(response)["access_token"]
request = urllib.request.Request(base + "/api/0.6/projects/default/timeseries")
request.add_header("Authorization", "Bearer " + token)
print(urllib.request.urlopen(request).read().decode())
`;

/** As docs/operations.md#tls shows. */
function makeCertificate(folder: string, certificate: string): void {
  const secret = join(folder, "key.pem");
  execFileSync(
    "openssl",
    [
      ...["req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-subj", "/CN=localhost"],
      ...["-addext", "subjectAltName=DNS:localhost", "-keyout", secret, "-out", certificate],
    ],
    { stdio: "ignore" },
  );
  writeFileSync(join(folder, "millrace.pem"), [certificate, secret].map((one) => readFileSync(one)).join(""));
}

const sha256 = (bytes: Buffer): string => createHash("sha256").update(bytes).digest("hex");
