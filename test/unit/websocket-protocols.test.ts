import t from 'tap';
import { offeredTokens, offersOwnProtocol, withoutOwnProtocols } from '../../src/http/websocket-protocols.ts';

/** An offer; the tokens in it, what is left of it for the upstream, and whether `postern` is in it. */
const offers: Record<string, [tokens: string[], left: string, offersOwn: boolean]> = {
  '': [[], '', false],
  chat: [[], 'chat', false],
  'chat, superchat': [[], 'chat, superchat', false],
  postern: [[], '', true],
  'postern, postern.bearer.abc': [['abc'], '', true],
  'postern.bearer.abc,chat': [['abc'], 'chat', false],
  'chat ,\tpostern.bearer.a.b-c_d , postern': [['a.b-c_d'], 'chat', true],
  'postern.bearer.': [[''], '', false],
  'postern.bearer.a, postern.bearer.b': [['a', 'b'], '', false],
  'postern.bearer.a, postern.bearer.a': [['a', 'a'], '', false],
  'posternal, my-postern': [[], 'posternal, my-postern', false],
  'postern.other': [[], 'postern.other', false],
  'x.postern.bearer.abc': [[], 'x.postern.bearer.abc', false],
  // RFC 6455 §4.1: subprotocols are compared byte for byte. What may be a token in it goes to nobody all the same.
  'Postern, POSTERN.BEARER.abc': [[], 'Postern', false],
  'chat, Postern.Bearer.abc': [[], 'chat', false],
};

for (const [offer, [tokens, left, offersOwn]] of Object.entries(offers))
  t.test(`the offer "${offer}"`, (t) => {
    t.same(offeredTokens(offer), tokens);
    t.equal(withoutOwnProtocols(offer), left);
    t.equal(offersOwnProtocol(offer), offersOwn);
    t.end();
  });
