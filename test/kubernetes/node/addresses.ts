/** Of the node; Services of the tests that have no pods lead there, too. */
export const nodeAddress = '10.99.0.1';
export const nodeName = 'node1';
export const podRange = '10.244.0.0/16';
export const serviceRange = '10.96.0.0/16';
export const apiServer = `https://${nodeAddress}:6443`;
