import t from 'tap';
import { isLong } from '../support/gateway-under-load.ts';
import { testRoleMatrix } from '../support/role-matrix.ts';

t.setTimeout(120_000);

t.test('who may do what is as test/corpora/roles.txt says', (t) => testRoleMatrix(t, {}, !isLong));
