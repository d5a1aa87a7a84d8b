import { execFileSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { nodeAddress } from './addresses.ts';

/** Gives the namespace of this process an address, and file systems for what programs write at fixed paths. */
export function prepareNamespace(state: string): void {
  const run = (command: string) =>
    execFileSync('sh', ['-ec', command], { stdio: ['ignore', 'ignore', 'inherit'] });
  run('mount -t tmpfs tmpfs /run && mkdir -p /run/lock');
  for (const folder of ['/var/lib', '/var/log']) {
    const over = join(state, `over${folder.replaceAll('/', '-')}`);
    mkdirSync(join(over, 'upper'), { recursive: true });
    mkdirSync(join(over, 'work'));
    run(
      `mount -t overlay overlay -o lowerdir=${folder},upperdir=${over}/upper,workdir=${over}/work ${folder}`,
    );
  }
  // The kubelet's mounts have to reach the containers.
  run('mount --make-rshared /');
  run(`
    ip link set lo up
    ip link add node0 type veth peer name node0-peer
    ip link set node0-peer up
    ip address add ${nodeAddress}/24 dev node0
    ip link set node0 up
    ip route add default dev node0
    echo 1 > /proc/sys/net/ipv4/ip_forward
    echo 1 > /proc/sys/net/ipv4/conf/all/route_localnet
  `);
  // Where bridges don't call iptables at all, NetworkPolicies between pods have no effect.
  run('modprobe br_netfilter 2>/dev/null || true; echo 1 > /proc/sys/net/bridge/bridge-nf-call-iptables');
  const hosts = join(state, 'hosts');
  writeFileSync(hosts, `127.0.0.1 localhost\n${nodeAddress} acme.example.com\n`);
  run(`mount --bind ${hosts} /etc/hosts`);
  writeFileSync(join(state, 'resolv.conf'), `nameserver ${nodeAddress}\n`);
}
