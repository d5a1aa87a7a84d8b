import { z } from 'zod';
import { isEmailAddress } from '../../rules/email-address.ts';
import { isReturnTo } from '../../rules/return-to.ts';
import { originRule, webUrlRule } from '../values/addresses.ts';
import { areaPathRule } from '../values/area-path.ts';
import { filePath, type TextRule, text } from '../values/scalars.ts';

const homeRule: TextRule = (path) =>
  isReturnTo(path) ? undefined : 'must be a path of base_url, such as /app/';

const isWebUrl = webUrlRule({ query: true });

const contactRule: TextRule = (contact) =>
  isEmailAddress(contact) || isWebUrl(contact) === undefined
    ? undefined
    : 'must be an e-mail address, or an http:// or https:// URL';

const console = z
  .strictObject({
    base_url: text(originRule)
      .transform((value) => value.replace(/\/$/, ''))
      .optional()
      .describe(
        'Origin of the console alone, which no upstream shares; if omitted, the console is on base_url, where upstreams’ pages can act as its user.',
      ),
    require: text()
      .optional()
      .describe(
        'The only identity provider whose sign-ins lead to the console; if omitted, every sign-in does.',
      ),
  })
  .optional()
  .describe('The console, below path; if omitted, there is none.');

/** `web`: the pages for people; without the section there are none. */
export const web = z
  .strictObject({
    path: text(areaPathRule('/postern'))
      .prefault('/postern')
      .describe('Path of Postern’s own pages; no route can be in it.'),
    home: text(homeRule)
      .optional()
      .describe(
        'Destination of a sign-in without return_to; if omitted, / where a browser route has that path, else Postern’s own start page.',
      ),
    logo: filePath()
      .optional()
      .describe(
        'Logo of the pages, a PNG, SVG or WebP image of at most 64 KiB; if omitted, Postern’s own mark.',
      ),
    title: text().optional().describe('Title of the pages; if omitted, the tenant.'),
    contact: text(contactRule)
      .optional()
      .describe(
        'E-mail address, or URL of a page, that the sign-in page links for a forgotten password; if omitted, it says to ask the administrator.',
      ),
    password: z
      .boolean()
      .default(true)
      .describe('Offer sign-in with a password; false leaves only the identity providers.'),
    console,
    service_workers: z
      .enum(['refuse', 'allow'])
      .prefault('refuse')
      .describe(
        'Service workers of upstreams whose folder contains path, which could read entries on the sign-in page: refuse or allow.',
      ),
  })
  .optional()
  .describe('A sign-in page and other pages for people; if omitted, there are none.');
