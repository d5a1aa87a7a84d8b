import type { EchoPage } from '../proxy/echo.ts';
import { areaFields, type WebArea } from './area.ts';
import { echoPage } from './pages/echo.ts';

/** What the echo shows people: a page under the same policy as Postern's own. */
export function createEchoPage({ site, console }: Pick<WebArea, 'site' | 'console'>): EchoPage {
  const headers: Record<string, string> = { 'Cache-Control': 'no-store' };
  for (let i = 0; i < areaFields.length; i += 2) headers[areaFields[i]!] = areaFields[i + 1]!;
  return { headers, render: (request) => echoPage(site, request, console?.url) };
}
