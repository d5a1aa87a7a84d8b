<?php
// Records what reached which handler. With UPSTREAM_ROUTER=symfony the path and method are what Symfony's request
// makes of REQUEST_URI, else PATH_INFO and REQUEST_METHOD as the server gives them.
$method = $_SERVER['REQUEST_METHOD'];
$path = $_SERVER['PATH_INFO'] ?? '';
$root = '';
$user = $_SERVER['REMOTE_USER'] ?? '';
if (($_SERVER['UPSTREAM_ROUTER'] ?? '') === 'symfony') {
    require 'Symfony/Component/HttpFoundation/autoload.php';
    Symfony\Component\HttpFoundation\Request::enableHttpMethodParameterOverride();
    $request = Symfony\Component\HttpFoundation\Request::createFromGlobals();
    $method = $request->getMethod();
    // Symfony's router matches the decoded path.
    $path = rawurldecode($request->getPathInfo());
    $root = $request->getBaseUrl();
    $user = $request->getUser() ?? '';
}
$handlers = json_decode(base64_decode($_SERVER['UPSTREAM_HANDLERS']), true);
usort($handlers, fn ($a, $b) => strlen($b) - strlen($a));
$handler = '';
foreach ($handlers as $candidate) {
    $exact = rtrim($candidate, '$');
    if ($path === $exact || $path === "$exact/" || ($exact === $candidate && str_starts_with($path, "$exact/"))) {
        $handler = $exact;
        break;
    }
}
$headers = [];
foreach ($_SERVER as $name => $value) {
    if (str_starts_with($name, 'HTTP_')) $headers[] = [strtr(substr($name, 5), '_', '-'), $value];
}
$line = json_encode([
    'handler' => $handler,
    'method' => $method,
    'path' => $path,
    'headers' => $headers,
    'root' => $root,
    'user' => $user,
    'address' => $_SERVER['REMOTE_ADDR'] ?? '',
    'scheme' => isset($_SERVER['HTTPS']) ? 'https' : 'http',
    'body' => str_ends_with($path, '/unread') ? '' : mb_convert_encoding(substr(file_get_contents('php://input'), 0, 200), 'UTF-8', 'ISO-8859-1'),
], JSON_INVALID_UTF8_SUBSTITUTE);
file_put_contents($_SERVER['UPSTREAM_RECORD'], $line . "\n", FILE_APPEND);
header('Content-Type: text/plain');
echo "ok\n";
