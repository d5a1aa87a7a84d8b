// Ends with 0 when the service answers on loopback.
const { ok } = await fetch(`http://127.0.0.1:${process.env.PORT}/`);
process.exit(ok ? 0 : 1);
