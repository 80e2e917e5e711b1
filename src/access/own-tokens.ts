// Makes and checks the tokens that Millrace issues: after a login in a browser, and for API keys.
//
// Tokens of the provider cannot replace those of a login: published clients read the claims `project_name`
// and `expire_time` (docs/reference/projects-and-login.md#tokens), which no provider sets, and an access
// token of a provider is often opaque or valid for the provider alone. Ours are signed with Ed25519, by a key
// derived from the secret of the data folder. Each kind has its own `typ` and `aud`, so that none is accepted
// as another (RFC 8725, 3.11 and 3.12).
import { createPrivateKey, createPublicKey, type KeyObject } from "node:crypto";
import { decodeJwt, jwtVerify, SignJWT } from "jose";
import type { System } from "../lib/system.ts";
import { limits } from "../limits.ts";

/** `iss` of our own tokens: no address, so that no provider has it. */
export const ownIssuer = "urn:millrace";

export type TokenKind = "access" | "id" | "session";

const kinds: Readonly<Record<TokenKind, { readonly typ: string; readonly aud: string }>> = {
  access: { typ: "at+jwt", aud: "millrace" },
  id: { typ: "id+jwt", aud: "millrace-id" },
  session: { typ: "session+jwt", aud: "millrace-session" },
};

const programToken = { typ: "at+jwt", aud: "millrace-program" } as const;

/** One login of one user: the claims that its three tokens share. */
export interface Login {
  /** Ending it voids all of its tokens. */
  readonly sessionId: string;
  readonly projectId: number;
  readonly project: string;
  readonly user: string;
  /** The provider, and its name for the user. */
  readonly issuer: string;
  readonly subject: string;
  /** The project's groups that the provider's claim has named. */
  readonly groupIds: readonly number[];
  /** When its tokens expire. */
  readonly untilMs: number;
}

export class OwnTokens {
  readonly #privateKey: KeyObject;
  readonly #publicKey: KeyObject;
  readonly #system: System;

  /** `secret`: 32 bytes. */
  constructor(secret: Uint8Array, system: System) {
    this.#privateKey = createPrivateKey({
      key: Buffer.concat([pkcs8Head, secret]),
      format: "der",
      type: "pkcs8",
    });
    this.#publicKey = createPublicKey(this.#privateKey);
    this.#system = system;
  }

  make(kind: TokenKind, login: Login): Promise<string> {
    const { typ, aud } = kinds[kind];
    const { sessionId, projectId, project, user, issuer, subject, groupIds, untilMs } = login;
    const expires = Math.floor(untilMs / 1000);
    return new SignJWT({
      sid: sessionId,
      project_id: projectId,
      project_name: project,
      user,
      provider: issuer,
      group_ids: groupIds,
      expire_time: expires,
    })
      .setProtectedHeader({ alg: "Ed25519", typ })
      .setIssuer(ownIssuer)
      .setAudience(aud)
      .setSubject(subject)
      .setIssuedAt(Math.floor(this.#system.nowMs() / 1000))
      .setExpirationTime(expires)
      .sign(this.#privateKey);
  }

  /** The login that a token of this kind is of; rejects with a JOSEError when it is not good. */
  async read(kind: TokenKind, token: string): Promise<Login> {
    const { payload } = await jwtVerify(token, this.#publicKey, {
      algorithms: ["Ed25519"],
      issuer: ownIssuer,
      audience: kinds[kind].aud,
      typ: kinds[kind].typ,
      currentDate: new Date(this.#system.nowMs()),
      requiredClaims: ["exp", "sub", "sid"],
    });
    return {
      sessionId: payload["sid"] as string,
      projectId: payload["project_id"] as number,
      project: payload["project_name"] as string,
      user: payload["user"] as string,
      issuer: payload["provider"] as string,
      subject: payload.sub!,
      groupIds: payload["group_ids"] as number[],
      untilMs: payload.exp! * 1000,
    };
  }

  /** The access token of a program, which names the key that it is issued for. */
  makeForKey(keyId: number, user: string, untilMs: number): Promise<string> {
    return new SignJWT({ key_id: keyId })
      .setProtectedHeader({ alg: "Ed25519", typ: programToken.typ })
      .setIssuer(ownIssuer)
      .setAudience(programToken.aud)
      .setSubject(user)
      .setIssuedAt(Math.floor(this.#system.nowMs() / 1000))
      .setExpirationTime(Math.floor(untilMs / 1000))
      .sign(this.#privateKey);
  }

  /** The key that an access token of a program names; rejects with a JOSEError when it is not good. */
  async readForKey(token: string): Promise<{ readonly keyId: number; readonly untilMs: number }> {
    const { payload } = await jwtVerify(token, this.#publicKey, {
      algorithms: ["Ed25519"],
      issuer: ownIssuer,
      audience: programToken.aud,
      typ: programToken.typ,
      currentDate: new Date(this.#system.nowMs()),
      requiredClaims: ["exp", "sub", "key_id"],
    });
    return { keyId: payload["key_id"] as number, untilMs: payload.exp! * 1000 };
  }

  /** When a login that begins now ends. */
  untilMs(): number {
    return this.#system.nowMs() + limits.loginMsMax;
  }
}

/** The bytes before the 32 bytes of an Ed25519 key in PKCS #8 (RFC 8410, section 7). */
const pkcs8Head = Buffer.from("302e020100300506032b657004220420", "hex");

/** Whether the token says that it is one of a program. Nothing of it is verified. */
export function saysProgram(token: string): boolean {
  try {
    return token.length <= limits.tokenLengthMax && decodeJwt(token).aud === programToken.aud;
  } catch {
    return false;
  }
}
