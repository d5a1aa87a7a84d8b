import t from 'tap';
import { bootstrapToken, startTestGateway } from '../support/gateway/gateway.ts';

t.test('a name beyond visible ASCII is percent-encoded UTF-8 in its header', async (t) => {
  const rows: Record<string, string> = {
    'Zoë Ångström': 'Zo%C3%AB%20%C3%85ngstr%C3%B6m',
    李小龍: '%E6%9D%8E%E5%B0%8F%E9%BE%8D',
    'a%2Fb': 'a%252Fb',
    '😀, "x"': '%F0%9F%98%80,%20"x"',
  };
  for (const [username, header] of Object.entries(rows))
    await t.test(username, async (t) => {
      const { api, upstream } = await startTestGateway(t);
      const password = 'correct horse battery staple';
      await api.activate(username, password, bootstrapToken);
      const { accessToken } = await api.signIn(username, password);
      await api.send({ path: '/api/x', bearer: accessToken });
      t.same(upstream.seen[0]!.values('x-auth-username'), [header]);
    });
});
