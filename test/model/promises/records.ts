import { Endings } from './endings.ts';
import { type Instant, Register } from './register.ts';
import type { Rotation } from './rotation.ts';

/** When something was asked for and when that was acknowledged. */
export interface Made {
  readonly from: Instant;
  readonly to: Instant;
}

/** A scope set, as far as the model knows it. */
export class ModelledSet {
  readonly scopes: Register<readonly string[]>;
  readonly id: string;
  readonly name: string;

  constructor(id: string, name: string, scopes: readonly string[], { from, to }: Made) {
    this.id = id;
    this.name = name;
    this.scopes = new Register(scopes, from, to);
  }
}

/** A user, as far as the model knows it. */
export class ModelledUser {
  readonly id: string;
  readonly name: string;
  readonly made: Made;
  readonly password: Register<string>;
  readonly scopes: Register<readonly string[]>;
  /** Ids of scope sets. */
  readonly sets: Register<readonly string[]>;
  readonly disabled: Register<boolean>;
  /** What ended every session there was. */
  readonly sessionEndings = new Endings();
  readonly removal = new Endings();
  /** Passwords that were asked to be replaced, oldest first. */
  readonly earlierPasswords: string[] = [];

  constructor(
    fields: {
      readonly id: string;
      readonly name: string;
      readonly password: string;
      readonly scopes: readonly string[];
      readonly sets: readonly string[];
    },
    made: Made,
  ) {
    const { from, to } = made;
    this.id = fields.id;
    this.name = fields.name;
    this.made = made;
    this.password = new Register(fields.password, from, to);
    this.scopes = new Register(fields.scopes, from, to);
    this.sets = new Register(fields.sets, from, to);
    this.disabled = new Register(false, from, to);
  }
}

/** An access token that some response held. */
export interface ModelledToken {
  readonly text: string;
  readonly scopes: readonly string[];
  readonly issued: Made;
}

/** A session, as far as the model knows it. */
export class ModelledSession {
  readonly id: string;
  readonly user: ModelledUser;
  readonly made: Made;
  /** The scopes that the sign-in asked for; null: no restriction. */
  readonly requested: readonly string[] | null;
  readonly rotation: Rotation;
  readonly endings = new Endings();
  token: ModelledToken;

  constructor(
    id: string,
    user: ModelledUser,
    requested: readonly string[] | null,
    token: ModelledToken,
    rotation: Rotation,
  ) {
    this.id = id;
    this.user = user;
    this.made = token.issued;
    this.requested = requested;
    this.token = token;
    this.rotation = rotation;
  }
}

/** An API key, as far as the model knows it. */
export class ModelledKey {
  readonly id: string;
  readonly key: string;
  readonly made: Made;
  readonly scopes: readonly string[];
  /** Ids of scope sets. */
  readonly sets: readonly string[];
  readonly owner: Register<ModelledUser>;
  readonly endings = new Endings();

  constructor(
    fields: {
      readonly id: string;
      readonly key: string;
      readonly scopes: readonly string[];
      readonly sets: readonly string[];
      readonly owner: ModelledUser;
    },
    made: Made,
  ) {
    this.id = fields.id;
    this.key = fields.key;
    this.scopes = fields.scopes;
    this.sets = fields.sets;
    this.made = made;
    this.owner = new Register(fields.owner, made.from, made.to);
  }
}

/** Everything that the clients of a run have made. */
export class Records {
  readonly users = new Map<string, ModelledUser>();
  readonly sets = new Map<string, ModelledSet>();
  readonly sessions = new Map<string, ModelledSession>();
  readonly keys = new Map<string, ModelledKey>();
  /** What ended everyone's sessions. */
  readonly everySessionEnding = new Endings();
}
