/** Names of the scripts. Each improves a page that also works without the script, as the script's file says. */
export const scriptNames = [
  'password',
  'token',
  'invitation',
  'copy',
  'address',
  'fresh',
  'fragment',
  'cookies',
  'name',
] as const;

/** Name of a script. */
export type ScriptName = (typeof scriptNames)[number];

/** Facts about the site that all pages share. */
export interface Site {
  /** Path of the area without a slash at its end, such as `/postern`. */
  readonly path: string;
  /** Path of the page that signs people in: `<path>/sign-in`, or `<path>/start` on named hosts. */
  readonly signIn: string;
  /** Name of the site for people, on top of every page and in its title. */
  readonly title: string;
  readonly tenant: string;
  /** Origins under which people should open the pages: that of `base_url` first. */
  readonly origins: readonly [string, ...string[]];
  /** Address of a link to the administrator, for forgotten passwords; null: there is none. */
  readonly contact: string | null;
  readonly logo: string | null;
  readonly icon: string;
  readonly style: string;
  /** Addresses by name. */
  readonly scripts: Readonly<Record<ScriptName, string>>;
  readonly console: {
    readonly script: string;
    /** Addresses of all modules that the script imports, at any depth. */
    readonly imports: readonly string[];
    readonly style: string;
  };
}
